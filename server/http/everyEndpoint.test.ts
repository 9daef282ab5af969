/**
 * Rules that hold for every endpoint that API keys can call, tested for every row of the table. New rows are tested automatically.
 * `company/sessions.test.ts` and `company/invitations.test.ts` test the others.
 */
import { randomUUID } from "node:crypto";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../certificates/testing/openssl.ts";
import { insertInvitation } from "../store/company/invitations.ts";
import { insertUser } from "../store/company/users.ts";
import type { Database } from "../store/database.ts";
import { putIntoZone } from "../store/domains/zones.ts";
import { insertLabel } from "../store/sites/labels.ts";
import { addMail, addOwnDomain } from "../store/testing/rows.ts";
import { putPackages } from "../testing/packages.ts";
import { type Reply, siteFields, useTestServer, wordpressFields } from "./testing/server.ts";

const test = useTestServer();
const rows = Object.entries<Endpoint>(endpoints)
  .map(([name, row]) => ({ name, ...row }))
  .filter(({ resource }) => resource.kind !== "session" && resource.kind !== "anyone");

const message401 = "No or invalid API key provided to the request";
const message404 = "Could not find data or the user does not have permissions to retrieve it";

/** Ids of the company's resources, and of another company's. */
let ids: Record<string, string>;
let foreignIds: Record<string, string>;

/** Creates a site with environments, a backup, domains and so on, and deleted ones. Returns their ids. */
async function siteAndEnvironments(key: string): Promise<Record<string, string>> {
  const { addBackup, addEnvironment, addSite, database, deleteEnvironment, deleteSite } = test.current;
  const siteId = await addSite({}, key);
  const { id: deletedEnvironmentId } = await addEnvironment(siteId, key);
  await deleteEnvironment(deletedEnvironmentId, key);
  const deletedSiteId = await addSite({}, key);
  await deleteSite(deletedSiteId, key);
  const { id, liveId } = await addEnvironment(siteId, key);
  const backupId = String(await addBackup(id));
  const domains = await addDomains(database, id);
  await putPackages(database, id, [{ name: "shop" }, { name: "leaf", kind: "theme" }]);
  await database.updateTable("packages").set({ update_version: "9.0" }).where("environment_id", "=", id).execute();
  await database.updateTable("environments").set({ wordpress_version: "7.1.1" }).where("id", "=", id).execute();
  const rollout = { type: "plugin", name: "shop", environments: [id] };
  const company = key === test.current.company.api_key ? test.current.company : test.current.otherCompany;
  const created = await test.current.call("POST", `/v2/company/${company.company_id}/rollouts`, { body: rollout, key });
  return {
    rollout_id: created.body.rollout.id,
    site_id: siteId,
    env_id: id,
    target_env_id: id,
    live_id: liveId,
    backup_id: backupId,
    mail_id: await addMail(database, id),
    deleted_site_id: deletedSiteId,
    deleted_env_id: deletedEnvironmentId,
    ...domains,
  };
}

/** Adds two custom domains to the environment, one with a zone. */
async function addDomains(database: Database, environmentId: string) {
  const site_domain_id = await addOwnDomain(database, environmentId);
  const domain_name = await addToZone(database, site_domain_id);
  const zone = database.selectFrom("zones").innerJoin("zone_versions", "zone_id", "id").select("zone_versions.serial");
  const { serial } = await zone.where("zones.name", "=", domain_name).executeTakeFirstOrThrow();
  const other_domain_id = await addOwnDomain(database, environmentId);
  return { site_domain_id, domain_id: site_domain_id, domain_name, serial: String(serial), other_domain_id };
}

/** Adds a record set to the domain's zone. Returns the domain's name. */
async function addToZone(database: Database, id: string): Promise<string> {
  const query = database.selectFrom("domains").select(["name", "company_id as companyId"]).where("id", "=", id);
  const { name, companyId } = await query.executeTakeFirstOrThrow();
  const records = [{ name, type: "TXT", ttl: 300, values: ["x"] }];
  await database.transaction().execute((transaction) => putIntoZone(transaction, { id, companyId }, name, records));
  return name;
}

beforeAll(async () => {
  const { addKey, call, company, otherCompany } = test.current;
  const operationOf = async (key: string, companyId: string) =>
    (await call("POST", "/v2/sites", { body: siteFields(companyId), key })).body.operation_id;
  const own = await siteAndEnvironments(company.api_key);
  ids = {
    id: company.company_id,
    ...own,
    ...(await makeCertificate({ names: [`d-${own.site_domain_id}.example`] })),
    operation_id: await operationOf(company.api_key, company.company_id),
    key_id: (await addKey({})).id,
    user_id: await addUser(company.company_id),
    invitation_id: await addInvitation(company.company_id),
    label_id: await addLabel(company.company_id),
  };
  foreignIds = {
    id: otherCompany.company_id,
    ...(await siteAndEnvironments(otherCompany.api_key)),
    operation_id: await operationOf(otherCompany.api_key, otherCompany.company_id),
    key_id: ids.key_id ?? "",
    user_id: await addUser(otherCompany.company_id),
    invitation_id: await addInvitation(otherCompany.company_id),
    label_id: await addLabel(otherCompany.company_id),
  };
  keys = await addKeys();
});

const verbs = ["read", "write", "delete", "push", "keys", "users"] as const;

/** Tokens of keys that no test changes. */
let keys: Awaited<ReturnType<typeof addKeys>>;

async function addKeys() {
  const { addKey, addSite, call, company, database } = test.current;
  const revoked = await addKey({});
  await call("DELETE", `/v2/company/${company.company_id}/api-keys/${revoked.id}`);
  const expired = await addKey({});
  await database
    .updateTable("api_keys")
    .set({ expires_at: new Date(0) })
    .where("id", "=", expired.id)
    .execute();
  const tokens = async (scopesFor: (verb: string) => string[]) => {
    const added = verbs.map(async (verb) => [verb, (await addKey({ scopes: scopesFor(verb) })).token] as const);
    return new Map<string, string>(await Promise.all(added));
  };
  return {
    invalid: [revoked.token, expired.token],
    withVerb: await tokens((verb) => [verb]),
    withoutVerb: await tokens((verb) => verbs.filter((other) => other !== verb)),
    ofAnotherSite: (await addKey({ scopes: [`site:${await addSite()}`] })).token,
    ofBillingUser: await addKeyOfBillingUser(),
  };
}

async function addKeyOfBillingUser(): Promise<string> {
  const { addKey, company, database } = test.current;
  const { id, token } = await addKey({});
  const user = {
    id: randomUUID(),
    company_id: company.company_id,
    email: "bill@example.com",
    full_name: "Bill",
    first_name: "Bill",
    role: "billing",
    password_hash: "",
  } as const;
  await database.insertInto("users").values(user).execute();
  await database.updateTable("api_keys").set({ user_id: user.id }).where("id", "=", id).execute();
  return token;
}

function pathOf(row: Endpoint, values: Readonly<Record<string, string>> = ids): string {
  const path = row.path
    .replace("deleted-sites/{site_id}", "deleted-sites/{deleted_site_id}")
    .replace("deleted-environments/{env_id}", "deleted-environments/{deleted_env_id}")
    .replace(/\/analytics\/\w+$/, "$&?company_id={id}&time_zone=00:00")
    .replace("/comparison", "/comparison?with={backup_id}")
    .replace(/\/events$/, "/events?follow=false")
    .replace("wpa-user-exists", "wpa-user-exists?email=admin@example.com");
  const query = row.resource.kind === "environment" && row.resource.from === "query.environment_id";
  return `/v2${path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "")}${query ? `?environment_id=${values.env_id}` : ""}`;
}

/** A valid body for each row that has one, with new names on each call. */
const bodies: Record<string, (companyId: string, values: Readonly<Record<string, string>>) => Record<string, unknown>> =
  {
    "POST /sites": (companyId) => siteFields(companyId),
    "POST /sites/plain": (company) => ({ company, display_name: randomUUID(), region: "europe-west3" }),
    "POST /sites/clone": (company, { env_id }) => ({ company, display_name: randomUUID(), source_env_id: env_id }),
    "DELETE /sites/{site_id}": () => ({ without_backup: true }),
    "DELETE /sites/environments/{env_id}": () => ({ without_backup: false }),
    "POST /company/{id}/deleted-sites/{site_id}/restore": () => ({ display_name: randomUUID() }),
    "POST /sites/{site_id}/deleted-environments/{env_id}/restore": () => ({ display_name: randomUUID() }),
    "POST /sites/{site_id}/reset-site": () => ({ admin_password: "another battery staple" }),
    "POST /company/{id}/invitations": () => ({ email: `${randomUUID()}@example.com`, role: "viewer" }),
    "PUT /company/{id}/users/{user_id}": () => ({ role: "developer", site_ids: null }),
    "PUT /company/{id}/sign-in-rules": () => ({ requires_second_factor: false }),
    "POST /company/{id}/labels": () => ({ name: randomUUID() }),
    "PUT /company/{id}/labels/{label_id}": () => ({ name: randomUUID() }),
    "PUT /company/{id}/labels/{label_id}/sites": (_, { site_id }) => ({ add: [site_id] }),
    "POST /company/{id}/api-keys": () => ({ name: "Made by a test" }),
    "POST /company/{id}/api-keys/{key_id}/rotate": () => ({ overlap_hours: 1 }),
    "PUT /company/{id}/api-keys/{key_id}/allowed-addresses": () => ({ allowed_addresses: null }),
    "POST /sites/{site_id}/environments": () => ({ ...environmentFields(), ...wordpressFields }),
    "POST /sites/{site_id}/environments/plain": environmentFields,
    "POST /sites/{site_id}/environments/clone": (_, { env_id }) => ({ ...environmentFields(), source_env_id: env_id }),
    "PUT /sites/{site_id}/environments": (_, { env_id, live_id }) => ({
      source_env_id: live_id,
      target_env_id: env_id,
    }),
    "POST /sites/environments/{env_id}/wpa-create-user": () => ({
      email: "grace@example.com",
      first_name: "Grace",
      last_name: "Hopper",
    }),
    "POST /sites/environments/{env_id}/wpa-login-url": () => ({ email: "admin@example.com" }),
    "PUT /sites/environments/{env_id}/runtime": () => ({ runtime: "playground" }),
    "PUT /sites/tools/modify-php-version": (_, { env_id }) => ({ environment_id: env_id, php_version: "8.4" }),
    "POST /sites/tools/clear-cache": (_, { env_id }) => ({ environment_id: env_id }),
    "POST /sites/edge-caching/clear": (_, { env_id }) => ({ environment_id: env_id, url: "/news/" }),
    "PUT /sites/edge-caching/status": (_, { env_id }) => ({ environment_id: env_id, enabled: true }),
    "POST /sites/tools/restart-php": (_, { env_id }) => ({ environment_id: env_id }),
    "POST /sites/tools/search-and-replace": (_, { env_id }) => ({ environment_id: env_id, search: "a", replace: "b" }),
    "POST /sites/environments/{env_id}/run-wp-cli-command": () => ({ wp_command: "wp plugin list" }),
    "POST /sites/environments/{env_id}/change-environment-php-allocation": () => ({
      thread_count: 3,
      thread_memory: 128,
    }),
    "POST /sites/{site_id}/change-site-php-allocation": () => ({ thread_count: 3, thread_memory: 128 }),
    "PUT /sites/environments/{env_id}/limits": () => ({ request_seconds: 30 }),
    "PUT /sites/tools/denied-ips": (_, { env_id }) => ({ environment_id: env_id, ip_list: ["203.0.113.0/24"] }),
    "PUT /sites/tools/xml-rpc": (_, { env_id }) => ({ environment_id: env_id, is_enabled: true }),
    "POST /sites/environments/{env_id}/redirect-rules": () => ({
      action_type: "NEW",
      new_value: { from: `/${randomUUID()}`, to: "/", type: "permanent", domain: null },
    }),
    "POST /sites/environments/{env_id}/redirect-rules/test": () => ({ url: "/old" }),
    "POST /sites/environments/{env_id}/redirect-rules/csv": () => ({ csv: `from,to\n/${randomUUID()},/\n` }),
    "POST /sites/environments/{env_id}/manual-backups": () => ({ tag: "Before the sale" }),
    "POST /sites/environments/{env_id}/downloadable-backups": (_, { backup_id }) => ({ backup_id: Number(backup_id) }),
    "POST /sites/environments/{env_id}/domains": () => ({ domain_name: `${randomUUID()}.example` }),
    "DELETE /sites/environments/{env_id}/domains": (_, { other_domain_id }) => ({ domain_ids: [other_domain_id] }),
    "PUT /sites/environments/{env_id}/change-primary-domain": (_, { site_domain_id }) => ({
      domain_id: site_domain_id,
      confirm: true,
    }),
    "PUT /sites/environments/domains/{site_domain_id}/certificate": (_, { cert, key }) => ({
      custom_ssl_key: key,
      custom_ssl_cert: cert,
    }),
    "POST /sites/environments/{env_id}/force-https-status": () => ({ type: "DISABLED" }),
    "POST /domains/{domain_id}/dns-records": (_, { domain_name }) => ({
      type: "A",
      name: `r-${randomUUID()}.${domain_name}`,
      ttl: 300,
      resource_records: [{ value: "203.0.113.7" }],
    }),
    "PUT /domains/{domain_id}/dns-records": () => ({ type: "TXT", name: "@", ttl: 600 }),
    "DELETE /domains/{domain_id}/dns-records": () => ({ type: "TXT", name: "@" }),
    "POST /domains/{domain_id}/zone-versions/{serial}/restore": () => ({ confirm: true }),
    "POST /domains/{domain_id}/zone-file": () => ({ zone_file: `r-${randomUUID()} 300 IN TXT "x"` }),
    "PUT /sites/environments/{env_id}/update-checks": () => ({ update_checks: ["/checkout/"] }),
    "PUT /sites/environments/{env_id}/automatic-updates": () => ({
      plugins: true,
      themes: false,
      vulnerable_within_hours: 24,
      except: [],
      window: { days: ["monday"], start: "02:00", hours: 2, time_zone: "Europe/Berlin" },
    }),
    "PUT /sites/environments/{env_id}/wordpress": () => ({ update_version: "99.0" }),
    "PUT /sites/environments/{env_id}/plugins": () => ({ name: "shop", update_version: "9.0" }),
    "PUT /sites/environments/{env_id}/plugins/bulk-update": () => ({ plugins: [{ name: "shop" }] }),
    "PUT /sites/environments/{env_id}/themes": () => ({ name: "leaf", update_version: "9.0" }),
    "PUT /sites/environments/{env_id}/themes/bulk-update": () => ({ themes: [{ name: "leaf" }] }),
    "POST /company/{id}/rollouts": (_, { env_id }) => ({ type: "plugin", name: "shop", environments: [env_id] }),
    "PUT /sites/environments/{env_id}/mail": () => ({ delivery: "keep" }),
    "POST /sites/environments/{target_env_id}/backups/restore": (_, { backup_id }) => ({
      backup_id: Number(backup_id),
    }),
  };

function environmentFields(): Record<string, unknown> {
  return { display_name: `E ${randomUUID()}`, is_premium: false };
}

function bodyOf(row: Endpoint, companyId = ids.id ?? "", values = ids): Record<string, unknown> | undefined {
  const body = bodies[`${row.method} ${row.path}`]?.(companyId, values);
  if (row.body && !body) throw new Error(`This test has no body for ${row.method} ${row.path}`);
  return body;
}

/** Ids for a valid call of the row: new resources if the call deletes, restores or needs an idle one. */
async function valuesFor(row: Endpoint, key = test.current.company.api_key): Promise<Record<string, string>> {
  if (row.path.endsWith("{user_id}")) return { ...ids, user_id: await addUser(ids.id ?? "") };
  if (row.path.endsWith("{label_id}")) return { ...ids, label_id: await addLabel(ids.id ?? "") };
  if (row.path.endsWith("{invitation_id}")) return { ...ids, invitation_id: await addInvitation(ids.id ?? "") };
  if (row.path.endsWith("/rotate")) return { ...ids, key_id: await keyBelow(key) };
  const isResourceItself = !row.path.endsWith("/domains");
  const isDeleted =
    row.method === "DELETE" &&
    isResourceItself &&
    ["site", "environment", "backup", "domain"].includes(row.resource.kind);
  const isRestored = row.operation?.startsWith("restoreDeleted") ?? false;
  const needsIdle = row.path.endsWith("/wpa-create-user");
  if (!isDeleted && !isRestored && !needsIdle) return ids;
  return { ...ids, ...(await siteAndEnvironments(test.current.company.api_key)) };
}

/** Adds a user to the company. Returns the id. */
async function addUser(companyId: string): Promise<string> {
  const id = randomUUID();
  const user = { id, companyId, email: `${id}@example.com`, fullName: "Grace", firstName: "Grace" } as const;
  await test.current.database
    .transaction()
    .execute((transaction) => insertUser(transaction, { ...user, role: "viewer", passwordHash: "" }));
  return id;
}

/** Adds a label to the company. Returns its id. */
async function addLabel(companyId: string): Promise<string> {
  const label = { id: randomUUID(), name: randomUUID() };
  await test.current.database.transaction().execute((transaction) => insertLabel(transaction, companyId, label));
  return label.id;
}

/** Adds an invitation to the company. Returns its id. */
async function addInvitation(companyId: string): Promise<string> {
  const id = randomUUID();
  const invitedBy = await addUser(companyId);
  const invitation = {
    id,
    companyId,
    invitedBy,
    email: `${id}@example.com`,
    role: "viewer",
    siteIds: null,
    labelIds: null,
  } as const;
  const rest = { secretHash: Buffer.alloc(32), expiresAt: new Date(Date.now() + 60_000) };
  await test.current.database
    .transaction()
    .execute((transaction) => insertInvitation(transaction, { ...invitation, ...rest }));
  return id;
}

/** Creates a key with another one. Returns its id. */
async function keyBelow(key: string): Promise<string> {
  const { call, company } = test.current;
  const options = { body: { name: "To be rotated" }, key };
  const { body } = await call("POST", `/v2/company/${company.company_id}/api-keys`, options);
  return body.api_key.id;
}

async function validCall(row: Endpoint, options: { key?: string; suffix?: string } = {}): Promise<Reply> {
  const values = await valuesFor(row, options.key);
  const { suffix = "", ...rest } = options;
  const [path = "", query] = pathOf(row, values).split("?");
  const more = query === undefined ? "" : `${suffix.includes("?") ? "&" : "?"}${query}`;
  return test.current.call(row.method, path + suffix + more, { body: bodyOf(row), ...rest });
}

function expectError(answer: Reply, status: number, message: string): void {
  expect(answer.status).toBe(status);
  expect(Object.keys(answer.body)).toEqual(["message", "status", "data"]);
  expect(answer.body).toMatchObject({ message, status });
  expectCommonHeaders(answer);
}

function expectCommonHeaders({ headers }: Reply, mediaType = "application/json"): void {
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect(String(headers[name])).toMatch(/^\d+$/);
  }
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["content-type"]).toBe(`${mediaType}; charset=utf-8`);
}

/** Matches all paths of that shape: `/sites/plain` also matches `/sites/{site_id}`. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
}

describe.each(rows)("$method $path", (row) => {
  it("answers a valid request with a status of the contract and the common headers", async () => {
    const answer = await validCall(row);
    expect(Object.keys(row.responses)).toContain(String(answer.status));
    expect(answer.status).toBeLessThan(300);
    expectCommonHeaders(answer, Object.keys(row.responses[200]?.mediaTypes ?? {})[0]);
  });

  it("accepts a trailing slash", async () => {
    expect((await validCall(row, { suffix: "/" })).status).toBeLessThan(300);
  });

  it("ignores unknown query parameters", async () => {
    expect((await validCall(row, { suffix: "?utm_source=x&__proto__=y&a[b]=c" })).status).toBeLessThan(300);
  });

  it("gives the same 401 for missing, malformed, unknown, expired and revoked keys", async () => {
    const { call, company } = test.current;
    const wrongSecret = `${company.api_key.slice(0, -4)}AAAA`;
    const malformed = [null, "", "x", "sk_", `sk_${randomUUID()}`, "\u00e9", "a b", "x".repeat(5_000), wrongSecret];
    const answers = [];
    for (const key of [...malformed, ...keys.invalid]) {
      answers.push(await call(row.method, pathOf(row), { body: bodyOf(row), key }));
    }
    answers.push(await call(row.method, pathOf(row), { key: null, headers: { authorization: company.api_key } }));
    answers.push(
      await call(row.method, pathOf(row), { key: null, headers: { authorization: `Basic ${company.api_key}` } }),
    );
    for (const answer of answers) {
      expectError(answer, 401, message401);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
      expect(answer.text).toBe(answers[0]?.text);
    }
  });

  it("answers other methods with 405 and Allow", async () => {
    const { call } = test.current;
    const supported = rows.filter(({ path }) => patternOf(path).test(row.path)).map(({ method }) => method);
    const others = (["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] as const).filter(
      (method) => !supported.some((one) => one === method),
    );
    for (const method of others) {
      const answer = await call(method, pathOf(row));
      expectError(answer, 405, "This path does not support that method");
      expect(String(answer.headers.allow).split(", ")).toContain(row.method);
    }
  });
});

const withIds = rows.filter(({ resource, params }) => resource.kind !== "key" && params);
const byCompany = rows.filter(({ resource }) => resource.kind === "company");
const notByPath = rows.filter(
  ({ resource }) => resource.kind === "environment" && !resource.from.startsWith("params."),
);

describe("ownership", () => {
  it.each(withIds)("another company's ids and unknown ids get the same 404: $method $path", async (row) => {
    const { call } = test.current;
    const unknown = {
      id: randomUUID(),
      site_id: randomUUID(),
      env_id: randomUUID(),
      target_env_id: randomUUID(),
      live_id: randomUUID(),
      backup_id: "2147483648",
      mail_id: randomUUID(),
      deleted_site_id: randomUUID(),
      deleted_env_id: randomUUID(),
      site_domain_id: randomUUID(),
      operation_id: `sites:add-${randomUUID()}`,
      key_id: randomUUID(),
      user_id: randomUUID(),
      invitation_id: randomUUID(),
      label_id: randomUUID(),
    };
    for (const values of [foreignIds, unknown]) {
      expectError(await call(row.method, pathOf(row, values), { body: bodyOf(row) }), 404, message404);
    }
  });

  it.each(withIds)("malformed ids get a 404: $method $path", async (row) => {
    const { call } = test.current;
    const hostile = [
      "1",
      "%00",
      "not-a-uuid",
      "'%3B%20DROP%20TABLE%20sites%3B--",
      "..%2f..%2fetc",
      "%F0%9F%92%A9",
      "x".repeat(2_000),
      `urn:uuid:${randomUUID()}`,
      `${randomUUID()}%0A`,
      "%zz",
      "{site_id}",
    ];
    for (const id of hostile) {
      // Ids of backups are numbers.
      const values = {
        id,
        site_id: id,
        env_id: id,
        target_env_id: id,
        operation_id: id,
        key_id: id,
        user_id: id,
        invitation_id: id,
        label_id: id,
        backup_id: `${id}.0`,
        mail_id: id,
        deleted_site_id: id,
        deleted_env_id: id,
        site_domain_id: id,
      };
      expectError(await call(row.method, pathOf(row, values), { body: bodyOf(row) }), 404, message404);
    }
  });

  it.each(withIds)("malformed requests to another company's resource get a 404: $method $path", async (row) => {
    const { call } = test.current;
    const path = `${pathOf(row, foreignIds)}?limit=x&wait=x&offset=x`;
    expectError(await call(row.method, path, { body: { name: 1 } }), 404, message404);
  });

  it.each(byCompany)("a company in the body or query must be the key's company: $method $path", async (row) => {
    const { call, otherCompany } = test.current;
    if (row.resource.kind !== "company" || row.resource.from.startsWith("params.")) return;
    const query = row.resource.from.startsWith("query.") ? `?company=${otherCompany.company_id}` : "";
    const answer = await call(row.method, pathOf(row) + query, { body: bodyOf(row, otherCompany.company_id) });
    expectError(answer, 404, message404);
  });
});

describe("an environment in a body or query", () => {
  it.each(notByPath)("gets a 404 if it is another company's or unknown: $method $path", async (row) => {
    for (const values of [foreignIds, { env_id: randomUUID() }]) {
      const answer = await test.current.call(row.method, pathOf(row, values), { body: bodyOf(row, ids.id, values) });
      expectError(answer, 404, message404);
    }
  });
});

describe("scopes", () => {
  it.each(rows)("a key without the verb gets a 403 that names it: $method $path", async (row) => {
    const key = keys.withoutVerb.get(row.verb) ?? "";
    const answer = await test.current.call(row.method, pathOf(row), { body: bodyOf(row), key });
    expectError(answer, 403, "This API key is not allowed to do that");
    expect(answer.body.data).toEqual({ code: "scope_missing", needs: row.verb });
  });

  it.each(rows)("a key with the verb is allowed: $method $path", async (row) => {
    expect((await validCall(row, { key: keys.withVerb.get(row.verb) ?? "" })).status).toBeLessThan(300);
  });

  it.each(rows)("another company's resource gets a 404, not a 403: $method $path", async (row) => {
    if (row.resource.kind === "key" || !row.params) return;
    const key = keys.withoutVerb.get(row.verb) ?? "";
    const answer = await test.current.call(row.method, pathOf(row, foreignIds), { body: bodyOf(row), key });
    expect(answer.status).toBe(404);
  });

  it.each(rows)("a key for another site has no access: $method $path", async (row) => {
    const options = { body: bodyOf(row), key: keys.ofAnotherSite };
    const answer = await test.current.call(row.method, pathOf(row), options);
    const isOpen =
      row.resource.kind === "key" || (row.resource.kind === "company" && row.resource.underSiteScope !== "closed");
    expect(answer.status).toBe(isOpen ? 200 : 403);
    if (!isOpen) expect(answer.body.data.needs).toMatch(/^site:/);
  });

  it.each(rows)("a billing user can only read: $method $path", async (row) => {
    const options = { body: bodyOf(row), key: keys.ofBillingUser };
    const answer = await test.current.call(row.method, pathOf(row), options);
    if (row.verb === "read" && row.role === undefined) return expect(answer.status).toBeLessThan(300);
    expect(answer.status).toBe(403);
    expect(answer.body.data).toEqual({ code: "scope_missing", needs: `role:${row.role ?? "developer"}` });
  });
});

/** More levels than recursive functions can visit. */
const tooDeep = 20_000;
const withBody = rows.filter(({ body }) => body);

describe("bodies", () => {
  it.each(withBody)("must be declared as JSON: $method $path", async (row) => {
    const { call } = test.current;
    const text = JSON.stringify(bodyOf(row));
    const path = pathOf(row, await valuesFor(row));
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "nonsense",
    ]) {
      const answer = await call(row.method, path, { body: text, headers: { "content-type": type } });
      expectError(answer, 415, "The request body must be sent as application/json");
    }
    const accepted = { "content-type": "application/json; charset=utf-8" };
    expect((await call(row.method, path, { body: text, headers: accepted })).status).toBeLessThan(300);
  });

  it.each(rows)("must be JSON objects: $method $path", async (row) => {
    const { call } = test.current;
    for (const text of ["{", "nonsense", "{'a':1}", '{"a":1}}', "[", "[".repeat(tooDeep)]) {
      const answer = await call(row.method, pathOf(row), { body: text });
      expectError(answer, 400, "Bad request format");
      expect(answer.body.data.errors).toEqual([{ path: "", message: "is not valid JSON" }]);
    }
    // Some languages write an object without fields like this, so it counts as no body where none is expected.
    const empty = row.body ? ["[]", "null"] : [];
    for (const text of [...empty, "[1]", '"text"', "1", "true", `${"[".repeat(tooDeep)}${"]".repeat(tooDeep)}`]) {
      const answer = await call(row.method, pathOf(row), { body: text });
      expectError(answer, 400, "Bad request format");
      expect(answer.body.data.errors).toEqual([{ path: "", message: "must be an object" }]);
    }
  });

  it.each(withBody)("may have at most 1 MiB: $method $path", async (row) => {
    const { call } = test.current;
    const fill = (size: number) => JSON.stringify({ ...bodyOf(row), filler: "x".repeat(size) });
    expectError(
      await call(row.method, pathOf(row), { body: fill(1_048_576) }),
      413,
      "The request body is larger than 1 MiB",
    );
    const path = pathOf(row, await valuesFor(row));
    expect((await call(row.method, path, { body: fill(1_000_000) })).status).toBeLessThan(300);
  });

  it.each(withBody)("may have unknown fields of any kind: $method $path", async (row) => {
    const { call } = test.current;
    const known = JSON.stringify(bodyOf(row)).slice(1);
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    const body = `{"unknown":[1,{"x":null}],"nul":"\\u0000","__proto__":{"isAdmin":true},"constructor":{"prototype":{}},"deep":${deep},${known}`;
    expect((await call(row.method, pathOf(row, await valuesFor(row)), { body })).status).toBeLessThan(300);
  });

  it.each(rows)("may be empty with any declared type if the row has none: $method $path", async (row) => {
    if (row.body) return;
    for (const type of ["application/json", "text/plain", "nonsense", ""]) {
      const values = await valuesFor(row);
      const { status } = await test.current.call(row.method, pathOf(row, values), {
        headers: { "content-type": type },
      });
      expect(status).toBeLessThan(300);
    }
  });

  it("are ignored in a DELETE without fields", async () => {
    const { addKey, call } = test.current;
    const { id } = await addKey({});
    const answer = await call("DELETE", `/v2/company/${ids.id}/api-keys/${id}`, { body: { anything: true } });
    expect(answer.status).toBe(200);
  });
});

describe("paths", () => {
  const noSuchPath = (method: string, path: string) =>
    `There is no ${method} ${path}. All endpoints: http://localhost:80/docs`;

  it.each(["/v2", "/v2/", "/v2/nothing", "/v2/sites/x/y/z", "/nothing", "/v1/sites", "/v2//sites", "/v2/Sites"])(
    "that do not exist get a 404 in the API's format: %s",
    async (path) => {
      expectError(await test.current.call("GET", path), 404, noSuchPath("GET", path));
    },
  );

  it("with invalid percent-encoding get the same 404 as a malformed id", async () => {
    expectError(await test.current.call("GET", "/v2/%"), 404, message404);
  });

  it("that do not exist are named without the query, and truncated", async () => {
    const { body } = await test.current.call("GET", `/v2/${"a".repeat(1_000)}?token=secret`);
    expect(body.message).toBe(noSuchPath("GET", `/v2/${"a".repeat(196)}`));
  });

  const bodies = [
    ["text", "text/plain", "hello"],
    ["broken JSON", "application/json", "{"],
    ["more than 1 MiB", "application/json", JSON.stringify("x".repeat(1_048_576))],
  ] as const;

  it.each(bodies)("and methods that do not exist are refused before the body is checked: %s", async (_, type, body) => {
    const { call } = test.current;
    const headers = { "content-type": type };
    expectError(await call("POST", "/v2/nothing", { body, headers }), 404, noSuchPath("POST", "/v2/nothing"));
    const answer = await call("PUT", "/v2/sites", { body, headers });
    expectError(answer, 405, "This path does not support that method");
    expect(answer.headers.allow).toBe("GET, HEAD, POST");
  });
});
