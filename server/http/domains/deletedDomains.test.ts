/** Domains of sites that are deleted, restored or cloned. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { removeEmptyZones } from "../../store/domains/zones.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

/** Adds a site whose live environment has a custom primary domain and another custom domain. */
async function siteWithDomains() {
  const { addSite, call, database } = test.current;
  const id = await addSite();
  const { site } = (await call("GET", `/v2/sites/${id}`)).body;
  const [{ id: environmentId, primaryDomain: temporary }] = site.environments;
  const [primary, other] = [`p-${randomUUID()}.example`, `o-${randomUUID()}.example`];
  const primaryId = await addOwnDomain(database, environmentId, { name: primary });
  const otherId = await addOwnDomain(database, environmentId, { name: other, isWildcard: false });
  await database.updateTable("domains").set({ is_primary: false }).where("id", "=", temporary.id).execute();
  const first = { is_primary: true, is_https: true };
  await database.updateTable("domains").set(first).where("id", "=", primaryId).execute();
  return { id, environmentId, temporary, primary, primaryId, other, otherId };
}

const restore = (id: string, body = {}) =>
  test.current.call("POST", `/v2/company/${test.current.company.company_id}/deleted-sites/${id}/restore`, { body });

async function inputOf(operationId: string): Promise<{ environments: { address: string; leftOut: string[] }[] }> {
  const row = await test.current.database
    .selectFrom("operations")
    .select("input")
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
  return JSON.parse(JSON.stringify(row.input));
}

const listed = async (environmentId: string) =>
  (await test.current.call("GET", `/v2/sites/environments/${environmentId}/domains`)).body.environment.site_domains;

describe("a restored site", () => {
  it("has its domains with the same ids and the same primary domain", async () => {
    const { deleteSite, succeed } = test.current;
    const { id, environmentId, primary, primaryId } = await siteWithDomains();
    const before = await listed(environmentId);
    await deleteSite(id);
    const { body } = await restore(id);
    const { environments } = await inputOf(body.operation_id);
    expect(environments).toMatchObject([{ address: `https://${primary}:8443`, leftOut: [] }]);
    await succeed(body.operation_id);
    const after = await listed(environmentId);
    expect(after[0]).toMatchObject({ id: primaryId, is_primary: true });
    const byName = (one: { name: string }, two: { name: string }) => (one.name < two.name ? -1 : 1);
    expect(after.toSorted(byName)).toEqual(before.toSorted(byName));
  });

  it("loses domains that another site has by now, and names them", async () => {
    const { addSite, call, database, deleteSite, otherCompany, succeed } = test.current;
    const { id, environmentId, primary, other, temporary } = await siteWithDomains();
    await deleteSite(id);
    const theirs = await addSite({}, otherCompany.api_key);
    const { site } = (await call("GET", `/v2/sites/${theirs}`, { key: otherCompany.api_key })).body;
    await addOwnDomain(database, site.environments[0].id, { name: primary });
    const { body } = await restore(id);
    const { environments } = await inputOf(body.operation_id);
    expect(environments).toMatchObject([{ address: `http://${temporary.name}:8081`, leftOut: [primary] }]);
    await succeed(body.operation_id);
    expect(await listed(environmentId)).toMatchObject([{ name: temporary.name, is_primary: true }, { name: other }]);
  });

  it("with another name has its domains too", async () => {
    const { deleteSite } = test.current;
    const { id, primary } = await siteWithDomains();
    await deleteSite(id);
    const { body } = await restore(id, { display_name: `Restored ${randomUUID()}` });
    expect((await inputOf(body.operation_id)).environments[0]?.address).toBe(`https://${primary}:8443`);
  });
});

describe("the DNS records of a domain", () => {
  const recordsOf = async (domainId: string) =>
    (await test.current.call("GET", `/v2/domains/${domainId}/dns-records`)).body.domain.dns_records;

  /** Adds a domain with mail records and another name to the environment. Returns its id. */
  async function addDomainWithRecords(environmentId: string): Promise<string> {
    const { call, database, succeed } = test.current;
    const name = `${randomUUID()}.example`;
    const path = `/v2/sites/environments/${environmentId}/domains`;
    await succeed((await call("POST", path, { body: { domain_name: name } })).body.operation_id);
    const row = database.selectFrom("domains").select("id").where("name", "=", name);
    const { id } = await row.executeTakeFirstOrThrow();
    for (const [type, label, value] of [
      ["MX", "@", "10 mail.example.net."],
      ["TXT", "@", "v=spf1 -all"],
      ["A", `old.${name}`, "198.51.100.7"],
    ]) {
      const body = { type, name: label, ttl: 600, resource_records: [{ value }] };
      const answer = await call("POST", `/v2/domains/${id}/dns-records`, { body });
      expect(answer.status).toBe(202);
      await succeed(answer.body.operation_id);
    }
    const address = { type: "AAAA", name: `*.${name}`, confirm: true };
    const removal = await call("DELETE", `/v2/domains/${id}/dns-records`, { body: address });
    await succeed(removal.body.operation_id);
    return id;
  }

  it("are restored with its site", async () => {
    const { database, deleteSite, succeed } = test.current;
    const { id, environmentId } = await siteWithDomains();
    const domainId = await addDomainWithRecords(environmentId);
    const before = await recordsOf(domainId);
    await deleteSite(id);
    expect(await removeEmptyZones(database)).toBeGreaterThan(0);
    await succeed((await restore(id)).body.operation_id);
    expect(await recordsOf(domainId)).toEqual(before);
    expect(JSON.stringify(before)).toContain("10 mail.example.net.");
  });

  it("are restored with its environment", async () => {
    const { addEnvironment, addSite, call, database, deleteEnvironment, succeed } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    const domainId = await addDomainWithRecords(id);
    const before = await recordsOf(domainId);
    await deleteEnvironment(id);
    expect(await removeEmptyZones(database)).toBeGreaterThan(0);
    const path = `/v2/sites/${siteId}/deleted-environments/${id}/restore`;
    await succeed((await call("POST", path, { body: {} })).body.operation_id);
    expect(await recordsOf(domainId)).toEqual(before);
  });

  it("are the newer ones for names that have been set up again in the meantime", async () => {
    const { deleteSite, succeed } = test.current;
    const { id, environmentId } = await siteWithDomains();
    const domainId = await addDomainWithRecords(environmentId);
    const [{ name }] = (await recordsOf(domainId)).filter(({ type }: { type: string }) => type === "MX");
    await deleteSite(id);
    await removeEmptyZones(test.current.database);
    const { site } = (await test.current.call("GET", `/v2/sites/${await test.current.addSite()}`)).body;
    const path = `/v2/sites/environments/${site.environments[0].id}/domains`;
    const body = { domain_name: `old.${name}`, is_wildcardless: true };
    await succeed((await test.current.call("POST", path, { body })).body.operation_id);
    await succeed((await restore(id)).body.operation_id);
    const restored: { name: string; type: string; resource_records: unknown }[] = await recordsOf(domainId);
    const old = restored.filter((record) => record.name === `old.${name}`);
    expect(old.map(({ resource_records }) => resource_records)).toEqual([
      [{ value: "203.0.113.7" }],
      [{ value: "2001:db8::7" }],
    ]);
    expect(restored.map(({ type }) => type)).toContain("MX");
  });
});

it("a domain name is free again when its site is deleted", async () => {
  const { addSite, call, deleteSite } = test.current;
  const { id, primary } = await siteWithDomains();
  await deleteSite(id);
  const { site } = (await call("GET", `/v2/sites/${await addSite()}`)).body;
  const path = `/v2/sites/environments/${site.environments[0].id}/domains`;
  expect((await call("POST", path, { body: { domain_name: primary } })).status).toBe(202);
});

describe("a clone", () => {
  it("has only its temporary domain, and replaces the source's primary address", async () => {
    const { call, database } = test.current;
    const { id, environmentId, primary } = await siteWithDomains();
    const body = { display_name: `Copy ${randomUUID()}`, is_premium: false, source_env_id: environmentId };
    const answer = await call("POST", `/v2/sites/${id}/environments/clone`, { body });
    const { input, environment_id: copyId } = await database
      .selectFrom("operations")
      .selectAll()
      .where("id", "=", answer.body.operation_id)
      .executeTakeFirstOrThrow();
    expect(input).toMatchObject({ content: { sourceAddress: `https://${primary}:8443` } });
    const names = database.selectFrom("domains").select(["setup_type", "is_wildcard"]);
    expect(await names.where("environment_id", "=", copyId).execute()).toEqual([
      { setup_type: "temporary", is_wildcard: false },
    ]);
  });
});
