import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ownershipRecord } from "../../domains/records.ts";
import { endOperation } from "../../store/operations.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

/** The records of the fake DNS, by `TYPE name`. */
const dns = new Map<string, readonly string[]>();
const test = useTestServer({ lookUp: async (type, name) => dns.get(`${type} ${name}`) ?? [] });

const newName = () => `d-${randomUUID()}.example`;

interface AddOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds a domain and ends the operation, so that the environment is free again. */
async function add(environmentId: string, body: Readonly<Record<string, unknown>>, options: AddOptions = {}) {
  const { call, database } = test.current;
  const answer = await call("POST", `/v2/sites/environments/${environmentId}/domains`, { body, ...options });
  if (answer.status === 202) {
    const { operation_id } = answer.body;
    await database
      .transaction()
      .execute((transaction) => endOperation(transaction, operation_id, { state: "succeeded", result: null }));
  }
  return answer;
}

async function listed(environmentId: string) {
  const { body } = await test.current.call("GET", `/v2/sites/environments/${environmentId}/domains`);
  return body.environment.site_domains;
}

describe("POST /sites/environments/{env_id}/domains", () => {
  it("reserves the name with its subdomains, and starts the operation", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = newName();
    const answer = await add(id, { domain_name: name });
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^sites:add-domain-/),
      message: "Adding site domain in progress",
      status: 202,
    });
    expect(await listed(id)).toMatchObject([
      { is_primary: true, setup_type: "temporary", is_verified: true, is_active: true },
      {
        name,
        uses_provider_dns: false,
        is_active: false,
        is_primary: false,
        is_wildcardless: false,
        setup_type: "quick",
        is_verified: false,
        points_here: false,
      },
    ]);
  });

  it("normalises the name", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const word = randomUUID().slice(0, 8);
    await add(id, { domain_name: `BÜCHER.${word}.Example.` });
    expect((await listed(id))[1].name).toBe(`xn--bcher-kva.${word}.example`);
  });

  it("adds www as a separate domain without a wildcard", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = newName();
    await add(id, { domain_name: name, add_with_www_subdomain: true, setup_type: "avoid_downtime" });
    expect((await listed(id)).slice(1)).toMatchObject([
      { name, is_wildcardless: false, setup_type: "avoid_downtime" },
      { name: `www.${name}`, is_wildcardless: true, setup_type: "avoid_downtime" },
    ]);
  });

  it.each([
    [{ domain_name: "203.0.113.7" }, "not_a_domain_name"],
    [{ domain_name: "co.uk" }, "not_a_domain_name"],
    [{ domain_name: "https://example.com" }, "not_a_domain_name"],
    [{ domain_name: "localhost" }, "not_a_domain_name"],
    [{ domain_name: "demo.localhost" }, "domain_reserved"],
    [{ domain_name: "API.sitewright.example" }, "domain_reserved"],
    [{ domain_name: "a.example", is_wildcardless: true, add_with_www_subdomain: true }, "www_without_wildcard"],
    [{ domain_name: "a.example", custom_ssl_key: "x" }, "custom_certificate_refused"],
    [{ domain_name: "a.example", custom_ssl_cert: "x" }, "custom_certificate_refused"],
    [{ domain_name: "a.example", custom_ssl_key: "x", custom_ssl_cert: "x" }, "custom_certificate_refused"],
  ])("refuses %o: %s", async (body, code) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await add(id, body);
    expect([answer.status, answer.body.data.code]).toEqual([400, code]);
    expect(answer.body.message).toMatch(/\.$/);
    expect((await listed(id)).length).toBe(1);
  });

  it.each([
    [{}, "/domain_name"],
    [{ domain_name: 1 }, "/domain_name"],
    [{ domain_name: "" }, "/domain_name"],
    [{ domain_name: "a\u0000.example" }, "/domain_name"],
    [{ domain_name: "x".repeat(1_001) }, "/domain_name"],
    [{ domain_name: "a.example", setup_type: "slow" }, "/setup_type"],
    [{ domain_name: "a.example", is_wildcardless: "yes" }, "/is_wildcardless"],
    [{ domain_name: "a.example", add_with_www_subdomain: 1 }, "/add_with_www_subdomain"],
    [{ domain_name: "a.example", custom_ssl_key: "x".repeat(65_537), custom_ssl_cert: "x" }, "/custom_ssl_key"],
  ])("refuses as malformed: %o", async (body, path) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await add(id, body);
    expect(answer.body).toMatchObject({ status: 400, message: "Bad request format" });
    expect(answer.body.data.errors.map((error: { path: string }) => error.path)).toContain(path);
  });

  it("releases the name if the environment is busy", async () => {
    const { call } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const name = newName();
    const path = `/v2/sites/environments/${id}/domains`;
    await call("POST", path, { body: { domain_name: newName() } });
    expect((await call("POST", path, { body: { domain_name: name } })).status).toBe(202);
    expect((await listed(id)).map((domain: { name: string }) => domain.name)).not.toContain(name);
  });

  it("gives a name to one of two companies at once; the other gets the usual refusal", async () => {
    const { otherCompany } = test.current;
    const ours = await test.current.addSiteWithEnvironment();
    const theirs = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const name = newName();
    const answers = await Promise.all([
      add(ours.id, { domain_name: name }),
      add(ours.liveId, { domain_name: `shop.${name}` }),
      add(theirs.id, { domain_name: name }, { key: otherCompany.api_key }),
      add(theirs.liveId, { domain_name: name }, { key: otherCompany.api_key }),
    ]);
    const owners = answers.map(({ status }, index) => (status === 202 ? (index < 2 ? "ours" : "theirs") : null));
    expect(new Set(owners.filter((owner) => owner !== null)).size).toBe(1);
    for (const { status, body } of answers) {
      if (status !== 202) expect([status, body.data.code]).toEqual([400, "domain_taken"]);
    }
  });
});

describe("a name in use", () => {
  const refusal = (name: string, companyId: string) => {
    const record = ownershipRecord({ companyId, name });
    return {
      message: `The domain "${name}" is in use. If you own it, publish the record TXT ${record.name} with the value "${record.value}", then add it again.`,
      status: 400,
      data: {
        code: "domain_taken",
        domain_name: name,
        verification_record: { name: record.name, type: "TXT", value: record.value },
      },
    };
  };

  it("is refused with the same message in all cases", async () => {
    const { company, database, otherCompany } = test.current;
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const names = [newName(), newName(), newName(), newName()] as const;
    const [same, theirs, covering, covered] = names;
    await add(liveId, { domain_name: same });
    await addOwnDomain(database, other.id, { name: theirs });
    await addOwnDomain(database, other.id, { name: covering });
    await addOwnDomain(database, other.id, { name: `shop.${covered}` });
    for (const name of [same, theirs, `a.b.${covering}`, covered]) {
      const answer = await add(id, { domain_name: name });
      expect(answer.body).toEqual(refusal(name, company.company_id));
    }
  });

  it("is refused without asking for proof if this environment has it", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const name = newName();
    await add(id, { domain_name: name });
    expect((await add(id, { domain_name: name })).body).toEqual({
      message: `This environment already has the domain "${name}".`,
      status: 400,
      data: { code: "domain_taken", domain_name: name },
    });
  });

  it("does not block names that only look similar", async () => {
    const { database, otherCompany } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const name = newName();
    await addOwnDomain(database, other.id, { name: `shop.${name}` });
    await addOwnDomain(database, other.id, { name: `x${name}` });
    expect((await add(id, { domain_name: name, is_wildcardless: true })).status).toBe(202);
    expect((await add(id, { domain_name: `other.${name}` })).status).toBe(202);
  });

  it("with a wildcard does not block subdomains of the same company, in any environment", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const name = newName();
    await add(id, { domain_name: name });
    expect((await add(liveId, { domain_name: `shop.${name}` })).status).toBe(202);
    expect((await add(liveId, { domain_name: name })).body.data.code).toBe("domain_taken");
  });

  it("is transferred to a company that proves ownership by DNS, and the former owner's log says so", async () => {
    const { call, company, database, otherCompany } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const name = newName();
    const held = await addOwnDomain(database, other.id, { name });
    await database.updateTable("domains").set({ is_primary: false }).where("environment_id", "=", other.id).execute();
    await database.updateTable("domains").set({ is_primary: true }).where("id", "=", held).execute();
    const record = ownershipRecord({ companyId: company.company_id, name });
    dns.set(`TXT ${record.name}`, ["v=spf1 -all", record.value]);
    expect((await add(id, { domain_name: name })).status).toBe(202);
    const { body } = await call("GET", `/v2/sites/environments/${other.id}/domains`, { key: otherCompany.api_key });
    expect(body.environment.site_domains).toMatchObject([{ setup_type: "temporary", is_primary: true }]);
    const log = await call("GET", `/v2/company/${otherCompany.company_id}/activity-logs?limit=1`, {
      key: otherCompany.api_key,
    });
    expect(log.body.company.activity_logs.items[0]).toMatchObject({ type: "releaseDomain", initiated_by: null });
  });

  it("stays with its owner if the owner's record is in DNS too", async () => {
    const { company, database, otherCompany } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const name = newName();
    await addOwnDomain(database, other.id, { name });
    const records = [company, otherCompany].map(({ company_id: companyId }) => ownershipRecord({ companyId, name }));
    dns.set(
      `TXT ${records[0]?.name}`,
      records.map(({ value }) => value),
    );
    expect((await add(id, { domain_name: name })).body.data.code).toBe("domain_taken");
  });

  it("below another company's wildcard can be claimed by proof, without removing the wildcard", async () => {
    const { company, database, otherCompany } = test.current;
    const { id } = await test.current.addSiteWithEnvironment();
    const other = await test.current.addSiteWithEnvironment(otherCompany.api_key);
    const name = newName();
    const held = await addOwnDomain(database, other.id, { name });
    const record = ownershipRecord({ companyId: company.company_id, name: `shop.${name}` });
    dns.set(`TXT ${record.name}`, [record.value]);
    expect((await add(id, { domain_name: `shop.${name}` })).status).toBe(202);
    expect(await database.selectFrom("domains").select("id").where("id", "=", held).execute()).toHaveLength(1);
  });
});
