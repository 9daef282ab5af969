import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type LookUp, NoDnsAnswer } from "../../domains/lookUp.ts";
import { ownershipRecord } from "../../domains/records.ts";
import { noteCheck } from "../../store/domains/domainChecks.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { testSettings, useTestServer } from "../testing/server.ts";

/** The records of the fake DNS, by `TYPE name`. */
const inDns = new Map<string, readonly string[]>();
const lookUp: LookUp = async (type, name) => {
  if (name.startsWith("unanswered.")) throw new NoDnsAnswer("No answer");
  return inDns.get(`${type} ${name}`) ?? [];
};
const test = useTestServer({ lookUp });

async function temporaryOf(environmentId: string) {
  return test.current.database
    .selectFrom("domains")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .where("setup_type", "=", "temporary")
    .executeTakeFirstOrThrow();
}

const remove = (environmentId: string, ids: readonly unknown[]) =>
  test.current.call("DELETE", `/v2/sites/environments/${environmentId}/domains`, { body: { domain_ids: ids } });

const makePrimary = (environmentId: string, body: Readonly<Record<string, unknown>>) =>
  test.current.call("PUT", `/v2/sites/environments/${environmentId}/change-primary-domain`, { body });

const operation = (id: string) =>
  test.current.database.selectFrom("operations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

describe("DELETE /sites/environments/{env_id}/domains", () => {
  it("starts the removal of the named domains", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const [one, other] = [await addOwnDomain(test.current.database, id), await addOwnDomain(test.current.database, id)];
    const { status, body } = await remove(id, [one.toUpperCase(), other, one]);
    expect([status, body.message]).toEqual([202, "Deleting site domain in progress"]);
    expect(body.operation_id).toMatch(/^sites:delete-domain-/);
    const { kind, input } = await operation(body.operation_id);
    expect([kind, input]).toEqual(["deleteDomain", { environmentId: id, domainIds: [one, other] }]);
  });

  it("refuses temporary and primary domains, and says what to do", async () => {
    const { database } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const temporary = await temporaryOf(id);
    const refused = await remove(id, [temporary.id]);
    expect(refused.body).toMatchObject({ status: 400, data: { code: "domain_is_temporary" } });
    const own = await addOwnDomain(database, id);
    await database.updateTable("domains").set({ is_primary: false }).where("id", "=", temporary.id).execute();
    await database.updateTable("domains").set({ is_primary: true }).where("id", "=", own).execute();
    const { body } = await remove(id, [own]);
    expect(body).toMatchObject({ status: 400, data: { code: "domain_is_primary", domain_id: own } });
    expect(body.message).toContain("change-primary-domain");
  });

  it("refuses ids of other environments and unknown ids in the same way", async () => {
    const { database, otherCompany } = test.current;
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const own = await addOwnDomain(database, id);
    const ids = [await addOwnDomain(database, liveId), await addOwnDomain(database, other.id), randomUUID()];
    for (const foreign of ids) {
      const { status, body } = await remove(id, [own, foreign]);
      expect([status, body.data]).toEqual([400, { code: "not_of_this_environment", ids: [foreign] }]);
    }
  });

  it.each([[[]], [["x"]], [[1]], [[null]]])("is refused as malformed: %o", async (ids) => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect((await remove(id, ids)).body).toMatchObject({ status: 400, message: "Bad request format" });
  });
});

describe("PUT /sites/environments/{env_id}/change-primary-domain", () => {
  it("starts the change to the new address", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `${randomUUID()}.example`;
    const own = await addOwnDomain(test.current.database, id, { name });
    inDns.set(`A ${name}.`, testSettings.edgeAddresses.slice(0, 1));
    const { status, body } = await makePrimary(id, { domain_id: own, run_search_and_replace: true });
    expect([status, body.message]).toEqual([202, "Changing primary site domain in progress"]);
    expect(body.operation_id).toMatch(/^sites:change-primary-domain-/);
    const temporary = await temporaryOf(id);
    const { input } = await operation(body.operation_id);
    expect(input).toMatchObject({
      addressBefore: `http://${temporary.name}:8081`,
      address: expect.stringMatching(/^http:\/\/[0-9a-f-]+\.example:8081$/),
      isEverywhere: true,
      domain: { id: own, isHttps: false },
      former: { id: temporary.id },
    });
  });

  it("has a domain that points here checked soon, since that may serve the names below it", async () => {
    const { database } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `${randomUUID()}.example`;
    const own = await addOwnDomain(database, id, { name });
    const next_check_at = new Date(Date.now() + 3_600_000);
    await database.updateTable("domains").set({ next_check_at }).where("id", "=", own).execute();
    inDns.set(`A ${name}.`, testSettings.edgeAddresses.slice(0, 1));
    expect((await makePrimary(id, { domain_id: own })).status).toBe(202);
    const row = database.selectFrom("domains").select("next_check_at").where("id", "=", own);
    expect((await row.executeTakeFirstOrThrow()).next_check_at?.getTime()).toBeLessThan(next_check_at.getTime());
  });

  it("needs confirm for a domain that does not point here", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `${randomUUID()}.example`;
    const own = await addOwnDomain(test.current.database, id, { name });
    inDns.set(`A ${name}.`, ["198.51.100.1"]);
    const { body } = await makePrimary(id, { domain_id: own });
    expect(body).toMatchObject({ status: 400, data: { code: "confirm_needed", domain_id: own } });
    expect(body.message).toContain(`"${name}" does not point here (A 203.0.113.7, AAAA 2001:db8::7)`);
    expect((await makePrimary(id, { domain_id: own, confirm: true })).status).toBe(202);
  });

  it("needs confirm for a domain that could not be looked up yet, and says so", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `unanswered.${randomUUID()}.example`;
    const own = await addOwnDomain(test.current.database, id, { name });
    const { body } = await makePrimary(id, { domain_id: own });
    expect(body).toMatchObject({ status: 400, data: { code: "confirm_needed", domain_id: own } });
    expect(body.message).toContain(`"${name}" has not been checked yet`);
    expect(body.message).toContain('"confirm": true');
  });

  it("goes back to the temporary domain without confirm", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect((await makePrimary(id, { domain_id: (await temporaryOf(id)).id })).status).toBe(202);
  });

  it("reveals nothing about another company's domain", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { id: theirs } = await test.current.addSiteWithEnvironment(test.current.otherCompany.api_key);
    const foreign = await addOwnDomain(test.current.database, theirs);
    expect((await makePrimary(id, { domain_id: foreign })).body.data.code).toBe("not_of_this_environment");
  });

  it("refuses a domain that is not served yet", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const own = await addOwnDomain(test.current.database, id, { setupType: "avoid_downtime", isActive: false });
    const { body } = await makePrimary(id, { domain_id: own });
    expect(body).toMatchObject({ status: 400, data: { code: "domain_not_served" } });
    expect(body.message).toContain(`/domains/${own}/verification-records`);
  });

  it("refuses a domain without its wildcard for a subdomain network", async () => {
    const { database } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    await database.updateTable("domains").set({ is_wildcard: true }).where("environment_id", "=", id).execute();
    const own = await addOwnDomain(database, id, { isWildcard: false });
    const { body } = await makePrimary(id, { domain_id: own, confirm: true });
    expect(body.data.code).toBe("network_needs_wildcard");
  });

  it("refuses domains of other environments", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const foreign = await addOwnDomain(test.current.database, liveId);
    for (const domain_id of [foreign, randomUUID()]) {
      expect((await makePrimary(id, { domain_id })).body.data).toEqual({
        code: "not_of_this_environment",
        ids: [domain_id],
      });
    }
  });
});

describe("GET /sites/environments/domains/{site_domain_id}/verification-records", () => {
  const records = async (id: string) =>
    (await test.current.call("GET", `/v2/sites/environments/domains/${id}/verification-records`)).body.site_domain;

  it("lists the expected records before the first check", async () => {
    const { company, database } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `${randomUUID()}.example`;
    const own = await addOwnDomain(database, id, { name, isWildcard: false });
    const unseen = { last_seen: null, is_right: null };
    const { value } = ownershipRecord({ companyId: company.company_id, name });
    expect(await records(own)).toEqual({
      verification_records: [
        { name: `_sitewright-verify.${name}.`, type: "TXT", value, is_required: true, ...unseen },
        {
          name: `_acme-challenge.${name}.`,
          type: "CNAME",
          value: expect.stringMatching(/\.acme-challenge\.localhost\.$/),
          is_required: false,
          ...unseen,
        },
      ],
      pointing_records: [
        { name: `${name}.`, type: "A", value: "203.0.113.7", is_required: true, ...unseen },
        { name: `${name}.`, type: "AAAA", value: "2001:db8::7", is_required: true, ...unseen },
      ],
      is_verified: false,
      points_here: false,
      needs_proof: false,
      last_checked_at: null,
    });
  });

  it("has the values found, the time of the check, and whether they are right", async () => {
    const { company, database } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const name = `shop.${randomUUID()}.example`;
    const own = await addOwnDomain(database, id, { name, isWildcard: false });
    const { value } = ownershipRecord({ companyId: company.company_id, name });
    const temporary = await temporaryOf(id);
    const seen = {
      [`TXT _sitewright-verify.${name}.`]: ["other", value],
      [`CNAME ${name}.`]: ["elsewhere.example."],
    };
    const found = {
      seen,
      isVerified: true,
      pointsHere: false,
      isServed: true,
      needsNoProof: false,
      usesOwnDns: false,
      challengeName: null,
    };
    const outcome = { id: own, found, failures: 0, secondsUntilNext: 100 };
    await database.transaction().execute((transaction) => noteCheck(transaction, outcome));
    const { verification_records, pointing_records, ...rest } = await records(own);
    expect(verification_records[0]).toMatchObject({ last_seen: ["other", value], is_right: true });
    expect(pointing_records).toEqual([
      {
        name: `${name}.`,
        type: "CNAME",
        value: `${temporary.name}.`,
        is_required: true,
        last_seen: ["elsewhere.example."],
        is_right: false,
      },
    ]);
    expect(rest).toEqual({
      is_verified: true,
      points_here: false,
      needs_proof: false,
      last_checked_at: expect.any(Number),
    });
  });

  it("needs no records for the temporary domain", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect(await records((await temporaryOf(id)).id)).toMatchObject({
      verification_records: [],
      pointing_records: [],
      is_verified: true,
    });
  });
});

describe("GET /domains", () => {
  it("lists domains of the key's company, in the key's scope", async () => {
    const { addKey, call, database, otherCompany } = test.current;
    const mine = await test.current.addSiteWithEnvironment();
    const own = await addOwnDomain(database, mine.id, { isActive: false });
    const other = await test.current.addSiteWithEnvironment();
    const foreign = await addOwnDomain(database, (await test.current.addSiteWithEnvironment(otherCompany.api_key)).id);
    const all = (await call("GET", "/v2/domains")).body.company.domains;
    const ids = all.map((domain: { id: string }) => domain.id);
    expect(ids).toContain(own);
    expect(ids).not.toContain(foreign);
    expect(all.find((domain: { id: string }) => domain.id === own)).toEqual({
      id: own,
      name: `d-${own}.example`,
      site_id: mine.siteId,
      is_active: false,
    });
    const { token } = await addKey({ scopes: [`site:${other.siteId}`] });
    const few = (await call("GET", "/v2/domains", { key: token })).body.company.domains;
    expect(new Set(few.map((domain: { site_id: string }) => domain.site_id))).toEqual(new Set([other.siteId]));
  });
});

describe("force-https-status", () => {
  const path = (id: string) => `/v2/sites/environments/${id}/force-https-status`;

  it("is disabled by default, and can't be enabled without a certificate", async () => {
    const { call } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const first = { environment: { id, force_https_status: { type: "DISABLED" } } };
    expect((await call("GET", path(id))).body).toEqual(first);
    for (const type of ["ENABLED_FOR_ALL", "ENABLED_REDIRECT_TO_PRIMARY"]) {
      const { status, body } = await call("POST", path(id), { body: { type } });
      expect([status, body.data.code]).toEqual([400, "no_certificate"]);
    }
    expect((await call("POST", path(id), { body: { type: "DISABLED" } })).body).toEqual(first);
  });

  it.each(["ENABLED_FOR_ALL", "ENABLED_REDIRECT_TO_PRIMARY"])("can be set to %s with a certificate", async (type) => {
    const { call } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    await addCertificateFor(id, (await temporaryOf(id)).name);
    const expected = { environment: { id, force_https_status: { type } } };
    expect((await call("POST", path(id), { body: { type } })).body).toEqual(expected);
    expect((await call("GET", path(id))).body).toEqual(expected);
  });

  it.each([{}, { type: "ENABLED" }, { type: null }])("is refused as malformed: %o", async (body) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await test.current.call("POST", path(id), { body });
    expect(answer.body).toMatchObject({ status: 400, message: "Bad request format" });
  });
});

/** Adds a valid certificate. */
async function addCertificateFor(environmentId: string, name: string): Promise<void> {
  const { company, database } = test.current;
  const day = 86_400_000;
  await database
    .insertInto("certificates")
    .values({
      id: randomUUID(),
      company_id: company.company_id,
      environment_id: environmentId,
      source: "custom",
      names: [name],
      chain: "",
      key_sealed: Buffer.alloc(1),
      not_before: new Date(Date.now() - day),
      not_after: new Date(Date.now() + day),
      fingerprint: randomUUID(),
    })
    .execute();
}
