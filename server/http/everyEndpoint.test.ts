/** What holds for every endpoint, asked of every row of the table: a new row is tested by being there. */
import { randomUUID } from "node:crypto";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../certificates/testing/openssl.ts";
import type { Database } from "../store/database.ts";
import { putIntoZone } from "../store/domains/zones.ts";
import { addMail, addOwnDomain } from "../store/testing/rows.ts";
import { putPackages } from "../testing/packages.ts";
import { type Reply, siteFields, useTestServer, wordpressFields } from "./testing/server.ts";

const test = useTestServer();
const rows = Object.entries<Endpoint>(endpoints).map(([name, row]) => ({ name, ...row }));

const message401 = "No or invalid API key provided to the request";
const message404 = "Could not find data or the user does not have permissions to retrieve it";

/** Ids that belong to the company, and right bodies where one is needed. */
let ids: Record<string, string>;
let foreignIds: Record<string, string>;

/** A site, its live environment, another one, a backup of that, and a site and an environment that were deleted. */
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
  const made = await test.current.call("POST", `/v2/company/${company.company_id}/rollouts`, { body: rollout, key });
  return {
    rollout_id: made.body.rollout.id,
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

/** Domains of the environment's own that are served. */
async function addDomains(database: Database, environmentId: string) {
  const site_domain_id = await addOwnDomain(database, environmentId);
  const { cert, key } = await makeCertificate({ names: [`d-${site_domain_id}.example`] });
  const domain_name = await inZone(database, site_domain_id);
  const zone = database.selectFrom("zones").innerJoin("zone_versions", "zone_id", "id").select("zone_versions.serial");
  const { serial } = await zone.where("zones.name", "=", domain_name).executeTakeFirstOrThrow();
  const other_domain_id = await addOwnDomain(database, environmentId);
  return { site_domain_id, domain_id: site_domain_id, domain_name, serial: String(serial), other_domain_id, cert, key };
}

/** Its zone has a record set of the domain's own. Returns the domain's name. */
async function inZone(database: Database, id: string): Promise<string> {
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
  ids = {
    id: company.company_id,
    ...(await siteAndEnvironments(company.api_key)),
    operation_id: await operationOf(company.api_key, company.company_id),
    key_id: (await addKey({})).id,
  };
  foreignIds = {
    id: otherCompany.company_id,
    ...(await siteAndEnvironments(otherCompany.api_key)),
    operation_id: await operationOf(otherCompany.api_key, otherCompany.company_id),
    key_id: ids.key_id ?? "",
  };
});

function pathOf(row: Endpoint, values: Readonly<Record<string, string>> = ids): string {
  const path = row.path
    .replace("deleted-sites/{site_id}", "deleted-sites/{deleted_site_id}")
    .replace("deleted-environments/{env_id}", "deleted-environments/{deleted_env_id}")
    .replace("wpa-user-exists", "wpa-user-exists?email=admin@example.com");
  const query = row.resource.kind === "environment" && row.resource.from === "query.environment_id";
  return `/v2${path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "")}${query ? `?environment_id=${values.env_id}` : ""}`;
}

/** A right body for each row that wants one, with names of its own each time. */
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
    "POST /company/{id}/api-keys": () => ({ name: "Made by a test" }),
    "POST /sites/{site_id}/environments": () => ({ ...environmentWish(), ...wordpressFields }),
    "POST /sites/{site_id}/environments/plain": environmentWish,
    "POST /sites/{site_id}/environments/clone": (_, { env_id }) => ({ ...environmentWish(), source_env_id: env_id }),
    "PUT /sites/{site_id}/environments": (_, { env_id, live_id }) => ({
      source_env_id: live_id,
      target_env_id: env_id,
    }),
    // A GET's query may stand in its body.
    "POST /sites/environments/{env_id}/wpa-create-user": () => ({
      email: "grace@example.com",
      first_name: "Grace",
      last_name: "Hopper",
    }),
    "POST /sites/environments/{env_id}/wpa-login-url": () => ({ email: "admin@example.com" }),
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

function environmentWish(): Record<string, unknown> {
  return { display_name: `E ${randomUUID()}`, is_premium: false };
}

function bodyOf(row: Endpoint, companyId = ids.id ?? "", values = ids): Record<string, unknown> | undefined {
  const body = bodies[`${row.method} ${row.path}`]?.(companyId, values);
  if (row.body && !body) throw new Error(`This test has no body for ${row.method} ${row.path}`);
  return body;
}

/** Whatever is deleted, or restored, is there for that; and what is refused while something else is done, idle. */
async function valuesFor(row: Endpoint): Promise<Record<string, string>> {
  const isWhole = !row.path.endsWith("/domains");
  const isDeleted =
    row.method === "DELETE" && isWhole && ["site", "environment", "backup", "domain"].includes(row.resource.kind);
  const isBroughtBack = row.operation?.startsWith("restoreDeleted") ?? false;
  const wantsIdle = row.path.endsWith("/wpa-create-user");
  if (!isDeleted && !isBroughtBack && !wantsIdle) return ids;
  return { ...ids, ...(await siteAndEnvironments(test.current.company.api_key)) };
}

async function rightCall(row: Endpoint, options: { key?: string; suffix?: string } = {}): Promise<Reply> {
  const values = await valuesFor(row);
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

function expectCommonHeaders({ headers }: Reply): void {
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect(String(headers[name])).toMatch(/^\d+$/);
  }
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
}

/** `/sites/plain` is also a path of the shape `/sites/{site_id}`. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
}

describe.each(rows)("$method $path", (row) => {
  it("answers a right request with what the contract says, and the common headers", async () => {
    const answer = await rightCall(row);
    expect(Object.keys(row.responses)).toContain(String(answer.status));
    expect(answer.status).toBeLessThan(300);
    expectCommonHeaders(answer);
  });

  it("answers a path with a slash at its end", async () => {
    expect((await rightCall(row, { suffix: "/" })).status).toBeLessThan(300);
  });

  it("ignores query parameters that it does not know", async () => {
    expect((await rightCall(row, { suffix: "?utm_source=x&__proto__=y&a[b]=c" })).status).toBeLessThan(300);
  });

  it("gives one and the same 401 for a key that is missing, malformed, unknown, expired or revoked", async () => {
    const { addKey, call, company, database } = test.current;
    const revoked = await addKey({});
    await call("DELETE", `/v2/company/${company.company_id}/api-keys/${revoked.id}`);
    const expired = await addKey({});
    await database
      .updateTable("api_keys")
      .set({ expires_at: new Date(0) })
      .where("id", "=", expired.id)
      .execute();
    const wrongSecret = `${company.api_key.slice(0, -4)}AAAA`;
    const keys = [null, "", "x", "sk_", `sk_${randomUUID()}`, "\u00e9", "a b", "x".repeat(5_000), wrongSecret];
    const answers = [];
    for (const key of [...keys, revoked.token, expired.token]) {
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

  it("answers 405 with Allow to other methods", async () => {
    const { call } = test.current;
    const known = rows.filter(({ path }) => patternOf(path).test(row.path)).map(({ method }) => method);
    const others = (["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] as const).filter(
      (method) => !known.some((one) => one === method),
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

describe("whose things are", () => {
  it.each(withIds)("another company's ids and unknown ones are not to be told apart: $method $path", async (row) => {
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
    };
    for (const values of [foreignIds, unknown]) {
      expectError(await call(row.method, pathOf(row, values), { body: bodyOf(row) }), 404, message404);
    }
  });

  it.each(withIds)("malformed ids are not found: $method $path", async (row) => {
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
      // Backups have numbers.
      const values = {
        id,
        site_id: id,
        env_id: id,
        target_env_id: id,
        operation_id: id,
        key_id: id,
        backup_id: `${id}.0`,
        mail_id: id,
        deleted_site_id: id,
        deleted_env_id: id,
        site_domain_id: id,
      };
      expectError(await call(row.method, pathOf(row, values), { body: bodyOf(row) }), 404, message404);
    }
  });

  it.each(withIds)("nonsense sent to another company's is not found either: $method $path", async (row) => {
    const { call } = test.current;
    const path = `${pathOf(row, foreignIds)}?limit=x&wait=x&offset=x`;
    expectError(await call(row.method, path, { body: { name: 1 } }), 404, message404);
  });

  it.each(byCompany)("a company named in the body or query must be the key's: $method $path", async (row) => {
    const { call, otherCompany } = test.current;
    if (row.resource.kind !== "company" || row.resource.from.startsWith("params.")) return;
    const query = row.resource.from.startsWith("query.") ? `?company=${otherCompany.company_id}` : "";
    const answer = await call(row.method, pathOf(row) + query, { body: bodyOf(row, otherCompany.company_id) });
    expectError(answer, 404, message404);
  });
});

describe("what a body or a query names", () => {
  it.each(notByPath)("is not found where it is another company's, or nobody's: $method $path", async (row) => {
    for (const values of [foreignIds, { env_id: randomUUID() }]) {
      const answer = await test.current.call(row.method, pathOf(row, values), { body: bodyOf(row, ids.id, values) });
      expectError(answer, 404, message404);
    }
  });
});

describe("scopes", () => {
  const verbs = ["read", "write", "delete", "push"] as const;

  it.each(rows)("a key with only another verb is told which it needs: $method $path", async (row) => {
    const { addKey, call } = test.current;
    const { token } = await addKey({ scopes: verbs.filter((verb) => verb !== row.verb) });
    const answer = await call(row.method, pathOf(row), { body: bodyOf(row), key: token });
    expectError(answer, 403, "This API key is not allowed to do that");
    expect(answer.body.data).toEqual({ code: "scope_missing", needs: row.verb });
  });

  it.each(rows)("a key with the verb may go on: $method $path", async (row) => {
    const { token } = await test.current.addKey({ scopes: [row.verb] });
    expect((await rightCall(row, { key: token })).status).toBeLessThan(300);
  });

  it.each(rows)("404 comes before 403 for what is another company's: $method $path", async (row) => {
    const { addKey, call } = test.current;
    if (row.resource.kind === "key" || !row.params) return;
    const { token } = await addKey({ scopes: verbs.filter((verb) => verb !== row.verb) });
    const answer = await call(row.method, pathOf(row, foreignIds), { body: bodyOf(row), key: token });
    expect(answer.status).toBe(404);
  });

  it.each(rows)("a key of another site reaches nothing of this one: $method $path", async (row) => {
    const { addKey, addSite, call } = test.current;
    const { token } = await addKey({ scopes: [`site:${await addSite()}`] });
    const answer = await call(row.method, pathOf(row), { body: bodyOf(row), key: token });
    const isOpen =
      row.resource.kind === "key" || (row.resource.kind === "company" && row.resource.underSiteScope !== "closed");
    expect(answer.status).toBe(isOpen ? 200 : 403);
    if (!isOpen) expect(answer.body.data.needs).toMatch(/^site:/);
  });

  it.each(rows)("a billing user only reads: $method $path", async (row) => {
    const { addKey, call, database } = test.current;
    const { id, token } = await addKey({});
    const userId = randomUUID();
    await database
      .insertInto("users")
      .values({
        id: userId,
        company_id: ids.id ?? "",
        email: `${userId}@example.com`,
        full_name: "Bill",
        first_name: "Bill",
        role: "billing",
        password_hash: "",
      })
      .execute();
    await database.updateTable("api_keys").set({ user_id: userId }).where("id", "=", id).execute();
    const answer = await call(row.method, pathOf(row), { body: bodyOf(row), key: token });
    if (row.verb === "read") return expect(answer.status).toBeLessThan(300);
    expect(answer.status).toBe(403);
    expect(answer.body.data).toEqual({ code: "scope_missing", needs: `role:${row.role ?? "developer"}` });
  });
});

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

  it.each(withBody)("must be JSON, and an object: $method $path", async (row) => {
    const { call } = test.current;
    for (const text of ["{", "nonsense", "{'a':1}", '{"a":1}}', "[", `${"[".repeat(50_000)}`]) {
      const answer = await call(row.method, pathOf(row), { body: text });
      expectError(answer, 400, "Bad request format");
      expect(answer.body.data.errors).toEqual([{ path: "", message: "is not valid JSON" }]);
    }
    for (const text of ["[]", "null", '"text"', "1", "true", `${"[".repeat(50_000)}${"]".repeat(50_000)}`]) {
      const answer = await call(row.method, pathOf(row), { body: text });
      expect(answer.body.data?.errors).toEqual([{ path: "", message: "must be an object" }]);
    }
  });

  it.each(withBody)("may be 1 MiB and no more: $method $path", async (row) => {
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

  it.each(withBody)("ignore fields that nobody knows, however they are made: $method $path", async (row) => {
    const { call } = test.current;
    const known = JSON.stringify(bodyOf(row)).slice(1);
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    const body = `{"unknown":[1,{"x":null}],"nul":"\\u0000","__proto__":{"isAdmin":true},"constructor":{"prototype":{}},"deep":${deep},${known}`;
    expect((await call(row.method, pathOf(row, await valuesFor(row)), { body })).status).toBeLessThan(300);
  });

  it.each(rows)("an empty body is none, whatever it is declared as: $method $path", async (row) => {
    if (row.body) return;
    for (const type of ["application/json", "text/plain", "nonsense", ""]) {
      const values = await valuesFor(row);
      const { status } = await test.current.call(row.method, pathOf(row, values), {
        headers: { "content-type": type },
      });
      expect(status).toBeLessThan(300);
    }
  });

  it("DELETE may carry one", async () => {
    const { addKey, call } = test.current;
    const { id } = await addKey({});
    const answer = await call("DELETE", `/v2/company/${ids.id}/api-keys/${id}`, { body: { anything: true } });
    expect(answer.status).toBe(200);
  });
});

describe("paths", () => {
  it.each([
    "/v2",
    "/v2/",
    "/v2/nothing",
    "/v2/sites/x/y/z",
    "/nothing",
    "/v1/sites",
    "/v2/%",
    "/v2//sites",
    "/v2/Sites",
  ])("that do not exist are 404 in the shape of errors: %s", async (path) => {
    expectError(await test.current.call("GET", path), 404, message404);
  });

  const bodies = [
    ["text", "text/plain", "hello"],
    ["broken JSON", "application/json", "{"],
    ["more than 1 MiB", "application/json", JSON.stringify("x".repeat(1_048_576))],
  ] as const;

  it.each(bodies)("and methods that do not exist are told so whatever was sent: %s", async (_, type, body) => {
    const { call } = test.current;
    const headers = { "content-type": type };
    expectError(await call("POST", "/v2/nothing", { body, headers }), 404, message404);
    const answer = await call("PUT", "/v2/sites", { body, headers });
    expectError(answer, 405, "This path does not support that method");
    expect(answer.headers.allow).toBe("GET, HEAD, POST");
  });
});
