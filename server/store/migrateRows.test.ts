/** Migrations of an installation with data keep the data. */
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../testing/database.ts";
import { listActivity } from "./company/activityPages.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { databaseOn } from "./open.ts";

const company = "00000000-0000-4000-8000-000000000001";
const user = "00000000-0000-4000-8000-000000000002";
const site = "00000000-0000-4000-8000-000000000003";
const live = "00000000-0000-4000-8000-000000000004";
const staging = "00000000-0000-4000-8000-000000000005";

const packageOf = (environment: string, kind: string, name: string) =>
  `('${environment}', '${company}', '${site}', '${kind}', '${name}', '${name}/${name}.php', '${name}', '', '1.0', '', false, true, false)`;

/** Rows written by the version whose last migration is the key. */
const writtenAfter: Readonly<Record<string, string>> = {
  "0001-first": `
    insert into companies (id, name) values ('${company}', 'Harbour');
    insert into users values ('${user}', '${company}', 'ada@example.com', 'Ada Lovelace', 'Ada', 'owner', '');
    insert into api_keys (id, company_id, user_id, name, secret_hash) values (gen_random_uuid(), '${company}', '${user}', 'Key', '\\x00');
    insert into sites values ('${site}', '${company}', 'harbour', 'Harbour', 'europe-west3', 'live');
    insert into environments (id, site_id, company_id, name, display_name, php_version, wordpress_version, state, container_id) values
      ('${live}', '${site}', '${company}', 'live', 'Live', '8.3', '7.1.1', 'serving', gen_random_uuid()),
      ('${staging}', '${site}', '${company}', 'staging', 'Staging', '8.3', '7.1.1', 'serving', gen_random_uuid());
    insert into domains (id, environment_id, site_id, company_id, name, is_primary) values
      (gen_random_uuid(), '${live}', '${site}', '${company}', 'harbour.localhost', true),
      (gen_random_uuid(), '${staging}', '${site}', '${company}', 'staging-harbour.localhost', true);
    insert into activity (company_id, site_id, category, type, is_done) values ('${company}', '${site}', 'siteActions', 'addSite', true);
    insert into operations (id, kind, company_id, site_id, environment_id, activity_id, state, steps_total, input, reference_id, finished_at)
      select 'sites:add-' || gen_random_uuid(), 'createSite', '${company}', '${site}', '${live}', id, 'succeeded', 4, '{}', gen_random_uuid(), now() from activity;`,
  "0022-packages": `
    insert into packages (environment_id, company_id, site_id, kind, name, file, title, description, version, version_key,
      is_elsewhere, is_active, is_auto_updated) values
      ${packageOf(live, "plugin", "akismet")}, ${packageOf(live, "plugin", "hello-dolly")}, ${packageOf(live, "theme", "akismet")},
      ${packageOf(staging, "plugin", "akismet")}, ${packageOf(staging, "theme", "twentytwentyfive")};`,
};

const counted = [
  "companies",
  "users",
  "api_keys",
  "sites",
  "environments",
  "domains",
  "activity",
  "operations",
  "packages",
];

test("rows survive all later migrations", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  for (const [at, { name }] of migrations.entries()) {
    expect(await migrate(pool, migrations.slice(0, at + 1))).toEqual([name]);
    const rows = writtenAfter[name];
    if (rows !== undefined) await pool.query(rows);
  }
  const counts = await Promise.all(
    counted.map((table) => pool.query<{ count: number }>(`select count(*)::int from ${table}`)),
  );
  expect(counts.map(({ rows }) => rows[0]?.count)).toEqual([1, 1, 1, 1, 2, 2, 1, 1, 5]);
  const { rows: stamps } = await pool.query("select environment_id from package_versions order by environment_id");
  expect(stamps).toEqual([{ environment_id: live }, { environment_id: staging }]);
});

test("an operation that the upgrade interrupted keeps its outcomes from the old journal", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ name }) => name === "0031-operation-journal");
  await migrate(pool, migrations.slice(0, at));
  await pool.query(`
    insert into companies (id, name) values ('${company}', 'Harbour');
    insert into activity (company_id, category, type) values ('${company}', 'siteActions', 'addSite');
    insert into operations (id, kind, company_id, activity_id, state, steps_total, input, reference_id)
      select name, 'addSite', '${company}', activity.id, state, 2, '{}', gen_random_uuid()
      from activity, (values ('forward', 'running'), ('back', 'running'), ('ended', 'succeeded')) as o(name, state);
    create schema dbos;
    create table dbos.operation_outputs (workflow_uuid text, function_id int4, function_name text, output text,
      started_at_epoch_ms bigint, completed_at_epoch_ms bigint, primary key (workflow_uuid, function_id));
    insert into dbos.operation_outputs values
      ('forward', 0, 'run provision', '{"json":"done","__dbos_serializer":"superjson"}', 1000, 1250),
      ('forward', 1, 'run publish', '{"json":"ended","__dbos_serializer":"superjson"}', 1000, 1250),
      ('forward', 2, 'run probe', null, 1000, null),
      ('back', 0, 'run provision', '{"json":{"failed":"No room.","kind":null},"__dbos_serializer":"superjson"}', null, null),
      ('ended', 0, 'run provision', '{"json":"done","__dbos_serializer":"superjson"}', 1000, 1250);`);
  await migrate(pool);
  const { rows } = await pool.query("select * from operation_outcomes order by operation_id");
  expect(rows).toEqual([
    { operation_id: "back", part: "run provision", outcome: { failed: "No room.", kind: null }, milliseconds: 0 },
    { operation_id: "forward", part: "run provision", outcome: "done", milliseconds: 250 },
  ]);
  expect((await pool.query("select to_regnamespace('dbos') as schema")).rows).toEqual([{ schema: null }]);
});

test("a site that was being created during the upgrade continues with the input of today's steps", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ name }) => name === "0032-new-site-input");
  await migrate(pool, migrations.slice(0, at));
  const environment = { id: live, number: 1 };
  const wordpress = {
    title: "Harbour",
    adminUser: "ada",
    adminEmail: "ada@example.com",
    locale: "en_US",
    multisite: null,
  };
  const before = {
    siteId: site,
    environment,
    phpVersion: "8.3",
    wordpress: { ...wordpress, address: "http://harbour" },
  };
  await pool.query(
    `with company as (insert into companies (id, name) values ('${company}', 'Harbour')),
      entry as (
        insert into activity (company_id, category, type) values ('${company}', 'siteActions', 'addSite') returning id)
    insert into operations (id, kind, company_id, activity_id, state, steps_total, input, reference_id)
      select state, 'addSite', '${company}', entry.id, state, 4, $1, gen_random_uuid()
      from entry, unnest(array['running', 'succeeded']) as state`,
    [before],
  );
  await migrate(pool);
  const { rows } = await pool.query("select id, input from operations order by id");
  const content = { kind: "wordpress", ...wordpress, plugins: [] };
  const after = { siteId: site, isNewSite: true, environment, phpVersion: "8.3", address: "http://harbour", content };
  expect(rows).toEqual([
    { id: "running", input: after },
    { id: "succeeded", input: before },
  ]);
});

test("names of deleted sites and removed domains are held for their companies", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ name }) => name.endsWith("-held-names"));
  await migrate(pool, migrations.slice(0, at));
  await pool.query(`
    ${writtenAfter["0001-first"]}
    insert into deleted_environments (id, site_id, company_id, went_with_site, name, display_name, is_premium, php_version,
      is_opt_out_from_automatic_php_update, container_id, created_at, domain_id, host, is_wildcard, restorable_until, domains)
    values (gen_random_uuid(), '${site}', '${company}', true, 'live', 'Live', false, '8.3', false, gen_random_uuid(), now(),
      gen_random_uuid(), 'gone.localhost', false, now() + interval '90 days', '[{"name": "gone.example", "is_wildcard": true}]');
    insert into activity (company_id, category, type, parameters, is_done, has_failed, created_at) values
      ('${company}', 'siteActions', 'addDomain', '{"domainName": "harbour.localhost"}', true, false, now()),
      ('${company}', 'siteActions', 'addDomain', '{"domainName": "failed.example"}', true, true, now()),
      ('${company}', 'siteActions', 'deleteDomain', '{"domainName": "a.example, b.example"}', true, false, now());`);
  await migrate(pool);
  const { rows } = await pool.query(
    "select name, is_wildcard, round(extract(epoch from held_until - now()) / 86400)::int as days from held_names order by 1",
  );
  expect(rows).toEqual([
    { name: "a.example", is_wildcard: false, days: 30 },
    { name: "b.example", is_wildcard: false, days: 30 },
    { name: "gone.example", is_wildcard: true, days: 90 },
  ]);
});

test("environments whose number has no user get another one, and the next numbers follow the used ones", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ name }) => name.endsWith("-environment-numbers"));
  await migrate(pool, migrations.slice(0, at));
  await pool.query(`
    ${writtenAfter["0001-first"]}
    update environments set number = default where id = '${staging}';
    select setval('environments_number_seq', 100010);
    update environments set number = default where id = '${live}'`);
  await migrate(pool);
  const { rows } = await pool.query("select number from environments order by number");
  const numbers: number[] = rows.map(({ number }) => number);
  expect(numbers[0]).toBe(3);
  // The sequence had 100,011, and begins again after 99,900.
  expect(numbers[1]).toBe(112);
});

test("entries of the activity log are counted, and those written later are added", async () => {
  const { pool, drop } = await createTestDatabase({ template: "template0" });
  onTestFinished(drop);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ name }) => name.endsWith("-activity-counts"));
  await migrate(pool, migrations.slice(0, at));
  const insert = (first: number) => `
    insert into activity (id, company_id, category, type, site_id, user_id) overriding system value
    select ${first} + 50 * n, '${company}', case when n % 2 = 0 then 'billing' else 'siteActions' end, 'addSite',
      case when n % 3 = 0 then '${site}'::uuid end, '${user}'::uuid
    from generate_series(1, 3000) n;
    insert into activity (category, type) values ('operator', 'addCompany');`;
  await pool.query(`insert into companies (id, name) values ('${company}', 'Harbour'); ${insert(0)}`);
  await migrate(pool);
  const database = databaseOn(pool);
  const filter = { companyId: company, category: null, siteId: null, userId: null, apiKeyId: null, siteIds: null };
  const page = { limit: 1, offset: 2_999, before: null };
  const read = async () => {
    const filters = [filter, { ...filter, category: "billing" }, { ...filter, category: "billing", siteId: site }];
    const lists = await Promise.all(filters.map((each) => listActivity(database, each, page)));
    return lists.map(({ items, total }) => [total, items[0]?.id]);
  };
  expect(await read()).toEqual([
    [3_000, 50],
    [1_500, undefined],
    [500, undefined],
  ]);
  await pool.query(insert(200_000));
  expect(await read()).toEqual([
    [6_000, 200_050],
    [3_000, 100],
    [1_000, undefined],
  ]);
});
