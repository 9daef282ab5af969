/** Domains of sites that are deleted, restored or cloned. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
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
