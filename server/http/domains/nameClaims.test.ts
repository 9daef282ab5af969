/** Which company can have a name on an installation with several companies, and what of it is served without a proof. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type LookUp, NoDnsAnswer } from "../../domains/lookUp.ts";
import { ownershipRecord } from "../../domains/records.ts";
import { endOperation } from "../../store/operations.ts";
import { removeEnvironmentRows } from "../../store/sites/environments.ts";
import { testSettings, useTestServer } from "../testing/server.ts";

/** The records of the fake DNS, by `TYPE name`. */
const dns = new Map<string, readonly string[]>();
const lookUp: LookUp = async (type, name) => {
  if (name.includes("unanswered")) throw new NoDnsAnswer("No answer");
  return dns.get(`${type} ${name}`) ?? [];
};
const test = useTestServer({ lookUp });

const newName = () => `d-${randomUUID()}.example`;
const [here = ""] = testSettings.edgeAddresses;

/** A company with an environment, and what it does with names. */
async function company(which: "company" | "otherCompany") {
  const { addSiteWithEnvironment, call, database } = test.current;
  const { api_key: key, company_id: companyId } = test.current[which];
  const { id, siteId, liveId } = await addSiteWithEnvironment(key);
  const path = (environmentId: string) => `/v2/sites/environments/${environmentId}/domains`;

  const add = async (name: string, more: object = {}, environmentId = id) => {
    const body = { domain_name: name, ...more };
    const answer = await call("POST", path(environmentId), { body, key });
    if (answer.status === 202) await end(answer.body.operation_id);
    return answer.body;
  };
  return {
    id,
    liveId,
    siteId,
    key,
    add,
    /** Removes the row as every operation does that loses a domain. */
    remove: (name: string) => database.deleteFrom("domains").where("name", "=", name).execute(),
    publishProof: (name: string) => {
      const record = ownershipRecord({ companyId, name });
      const key = `TXT ${record.name}`;
      dns.set(key, [...(dns.get(key) ?? []), record.value]);
    },
    record: (name: string) => ownershipRecord({ companyId, name }),
    /** What the domain list says of a name; undefined if it is not there. */
    listed: async (name: string) => {
      const { body } = await call("GET", path(id), { key });
      return body.environment.site_domains.find((domain: { name: string }) => domain.name === name);
    },
  };
}

async function end(operationId: string): Promise<void> {
  await test.current.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));
}

const us = () => company("company");
const them = () => company("otherCompany");

/** What needs a proof: nothing, its subdomains, or all of it. */
async function proofNeeded(name: string): Promise<string | null | undefined> {
  const row = test.current.database.selectFrom("domains").select("proof_needed").where("name", "=", name);
  return (await row.executeTakeFirst())?.proof_needed;
}

const inUse = { status: 400, data: { code: "domain_taken" } };
const added = { status: 202 };

describe("a removed name", () => {
  it("is refused to another company, with the record to publish, until it is proven", async () => {
    const [victim, attacker] = [await us(), await them()];
    const name = newName();
    await victim.add(name);
    await victim.remove(name);
    const { type, name: at, value } = attacker.record(name);
    expect(await attacker.add(name)).toMatchObject({
      status: 400,
      data: { code: "domain_taken", verification_record: { type, name: at, value } },
    });
    attacker.publishProof(name);
    expect(await attacker.add(name)).toMatchObject(added);
    expect(await attacker.listed(name)).toMatchObject({ is_verified: true, needs_proof: false });
  });

  it.each([
    ["in upper case", (name: string) => name.toUpperCase()],
    ["with a final dot", (name: string) => `${name}.`],
    ["with an ideographic full stop", (name: string) => name.replace(".", "。")],
  ])("is the same name %s", async (_, spelling) => {
    const [victim, attacker] = [await us(), await them()];
    const name = newName();
    await victim.add(name);
    await victim.remove(name);
    expect(await attacker.add(spelling(name))).toMatchObject(inUse);
  });

  it("is the same name as its A-label", async () => {
    const [victim, attacker] = [await us(), await them()];
    const word = randomUUID().slice(0, 8);
    await victim.add(`bücher-${word}.example`);
    const { name } = await test.current.database
      .selectFrom("domains")
      .select("name")
      .where("name", "like", `xn--%${word}%`)
      .executeTakeFirstOrThrow();
    await victim.remove(name);
    expect(await attacker.add(name)).toMatchObject(inUse);
  });

  it("can be added again by its company at once, in any environment, even if it points here", async () => {
    const victim = await us();
    const name = newName();
    await victim.add(name);
    await victim.remove(name);
    dns.set(`A ${name}.`, [here]);
    expect(await victim.add(name, {}, victim.liveId)).toMatchObject(added);
    expect(await proofNeeded(name)).toBe("subdomains");
  });

  it("is held with the names around it: another company must prove those before they are served", async () => {
    const [victim, attacker] = [await us(), await them()];
    const name = newName();
    await victim.add(`shop.${name}`, { is_wildcardless: true });
    await victim.remove(`shop.${name}`);
    for (const each of [name, `login.shop.${name}`, `other.${name}`]) {
      expect(await attacker.add(each, { is_wildcardless: true })).toMatchObject(added);
      expect(await attacker.listed(each)).toMatchObject({ needs_proof: true, is_active: false });
    }
  });

  it("still needs a proof after 30 days, but is no longer refused", async () => {
    const [victim, attacker] = [await us(), await them()];
    const name = newName();
    await victim.add(name);
    await victim.remove(name);
    await test.current.database
      .updateTable("held_names")
      .set({ held_until: new Date() })
      .where("name", "=", name)
      .execute();
    expect(await attacker.add(name)).toMatchObject(added);
    expect(await attacker.listed(name)).toMatchObject({ needs_proof: true, is_active: false });
  });

  it("does not go back to its company after another one has proven that it owns it", async () => {
    const [victim, owner] = [await us(), await them()];
    const name = newName();
    await victim.add(name);
    await victim.remove(name);
    owner.publishProof(name);
    await owner.add(name);
    await owner.remove(name);
    expect(await victim.add(name)).toMatchObject(inUse);
    expect(await owner.add(name)).toMatchObject(added);
  });

  it("is never free in between, if it is removed and wanted at the same time", async () => {
    const [victim, attacker] = [await us(), await them()];
    const names = Array.from({ length: 12 }, newName);
    for (const name of names) await victim.add(name, {}, victim.id);
    const { call } = test.current;
    const wanted = names.map((domain_name) =>
      call("POST", `/v2/sites/environments/${attacker.id}/domains`, { body: { domain_name }, key: attacker.key }),
    );
    await Promise.all(names.map((name) => victim.remove(name)));
    for (const { body } of await Promise.all(wanted)) expect(body).toMatchObject(inUse);
  });
});

describe("a name of a deleted site", () => {
  it("is held for at least as long as the site can be restored", async () => {
    const { addSite, call, company: own, database, deleteSite } = test.current;
    const attacker = await them();
    const siteId = await addSite();
    const { site } = (await call("GET", `/v2/sites/${siteId}`)).body;
    const name = newName();
    const path = `/v2/sites/environments/${site.environments[0].id}/domains`;
    await end((await call("POST", path, { body: { domain_name: name } })).body.operation_id);
    await deleteSite(siteId);
    expect(await attacker.add(name)).toMatchObject(inUse);
    const held = database.selectFrom("held_names").select("held_until").where("name", "=", name);
    const { held_until } = await held.executeTakeFirstOrThrow();
    const days = (held_until.getTime() - Date.now()) / 86_400_000;
    expect(days > 29 && days < 31).toBe(true);
    const restore = `/v2/company/${own.company_id}/deleted-sites/${siteId}/restore`;
    const { body } = await call("POST", restore, { body: {} });
    expect(body.status).toBe(202);
    expect(await proofNeeded(name)).toBe("subdomains");
  });

  it("stays with a company that has proven meanwhile that it owns it; the restore says so", async () => {
    const { addSite, call, company: own, database, deleteSite } = test.current;
    const owner = await them();
    const siteId = await addSite();
    const { site } = (await call("GET", `/v2/sites/${siteId}`)).body;
    const [name, gone] = [newName(), newName()];
    const path = `/v2/sites/environments/${site.environments[0].id}/domains`;
    for (const domain_name of [name, gone]) {
      await end((await call("POST", path, { body: { domain_name } })).body.operation_id);
    }
    await deleteSite(siteId);
    for (const each of [name, gone]) {
      owner.publishProof(each);
      expect(await owner.add(each)).toMatchObject(added);
    }
    // Also if it has removed the name since.
    await owner.remove(gone);
    const restore = `/v2/company/${own.company_id}/deleted-sites/${siteId}/restore`;
    const { body } = await call("POST", restore, { body: {} });
    const operation = database.selectFrom("operations").select("input").where("id", "=", body.operation_id);
    const { input } = await operation.executeTakeFirstOrThrow();
    expect(input).toMatchObject({ environments: [{ leftOut: [name, gone] }] });
    expect(await owner.listed(name)).toMatchObject({ is_verified: true });
  });
});

describe("a new name", () => {
  it("that leads elsewhere is served at once, but the names below it only once it points here or is proven", async () => {
    const [one, other] = [await us(), await them()];
    const [wildcard, single] = [newName(), newName()];
    await one.add(wildcard);
    await other.add(single, { is_wildcardless: true });
    expect(await proofNeeded(wildcard)).toBe("subdomains");
    expect(await proofNeeded(single)).toBeNull();
    expect(await one.listed(wildcard)).toMatchObject({ needs_proof: false });
  });

  it.each([
    ["an address of the edge", "A", "", [here, "198.51.100.1"]],
    ["a spelling of it", "AAAA", "", ["2001:DB8:0:0::7"]],
    ["an alias below the installation's suffix", "CNAME", "", ["demo.localhost."]],
    ["a name server of the installation", "NS", "", ["NS2.localhost."]],
    ["a name server of the registrable name", "NS", "shop.", ["ns.elsewhere.example.", "ns1.localhost."]],
  ])("that already leads here by %s needs a proof", async (_, recordType, label, values) => {
    const attacker = await them();
    const registrable = newName();
    const name = `${label}${registrable}`;
    dns.set(`${recordType} ${registrable}.`, values);
    const { type, name: at, value } = attacker.record(name);
    const { operation_id } = await attacker.add(name);
    expect(await attacker.listed(name)).toMatchObject({ needs_proof: true, is_active: false });
    const operation = test.current.database.selectFrom("operations").select("input").where("id", "=", operation_id);
    expect((await operation.executeTakeFirstOrThrow()).input).toMatchObject({
      domains: [{ name, recordToPublish: { type, name: at, value } }],
    });
  });

  it("that can't be looked up needs a proof", async () => {
    const attacker = await them();
    const name = `unanswered-${newName()}`;
    await attacker.add(name);
    expect(await proofNeeded(name)).toBe("all");
  });

  it("is not served by adding the registrable name above it, which leads elsewhere", async () => {
    const attacker = await them();
    const name = newName();
    dns.set(`A blog.${name}.`, [here]);
    await attacker.add(name);
    await attacker.add(`blog.${name}`);
    expect([await proofNeeded(name), await proofNeeded(`blog.${name}`)]).toEqual(["subdomains", "all"]);
  });

  it("serves no more after it was removed and added again", async () => {
    const attacker = await them();
    const name = newName();
    await attacker.add(name);
    await attacker.remove(name);
    await attacker.add(name);
    expect(await proofNeeded(name)).toBe("subdomains");
  });

  it("with www needs a record for each name that leads here, and one that is proven proves its www name", async () => {
    const attacker = await them();
    const [unproven, proven] = [newName(), newName()];
    for (const each of [unproven, `www.${unproven}`, proven, `www.${proven}`]) dns.set(`A ${each}.`, [here]);
    await attacker.add(unproven, { add_with_www_subdomain: true });
    expect([await proofNeeded(unproven), await proofNeeded(`www.${unproven}`)]).toEqual(["all", "all"]);
    attacker.publishProof(proven);
    await attacker.add(proven, { add_with_www_subdomain: true });
    expect([await proofNeeded(proven), await proofNeeded(`www.${proven}`)]).toEqual([null, null]);
  });

  it("is given to one of two companies that add it at once", async () => {
    const [one, other] = [await us(), await them()];
    const name = newName();
    const answers = await Promise.all([one.add(name), other.add(name)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 400]);
  });
});

describe("below or above another company's domain", () => {
  it.each([
    ["below a domain without its subdomains", (name: string) => [name, `login.${name}`] as const],
    ["beside it", (name: string) => [`shop.${name}`, `login.${name}`] as const],
    ["above it", (name: string) => [`shop.${name}`, name] as const],
  ])("a name %s is not served before it is proven", async (_, namesOf) => {
    const [victim, attacker] = [await us(), await them()];
    const [theirs, wanted] = namesOf(newName());
    await victim.add(theirs, { is_wildcardless: true });
    expect(await attacker.add(wanted, { is_wildcardless: true })).toMatchObject(added);
    expect(await attacker.listed(wanted)).toMatchObject({ needs_proof: true, is_active: false });
  });

  it("the company that has proven the name above needs no further proof, and takes names that are not proven", async () => {
    const [owner, attacker] = [await us(), await them()];
    const name = newName();
    await attacker.add(`zz.${name}`, { is_wildcardless: true });
    owner.publishProof(name);
    await owner.add(name, { is_wildcardless: true });
    await owner.add(`shop.${name}`);
    expect(await proofNeeded(`shop.${name}`)).toBeNull();
    expect(await owner.add(`zz.${name}`)).toMatchObject(added);
    expect(await attacker.listed(`zz.${name}`)).toBeUndefined();
  });

  it("a proven name stays with its company, whoever has proven the one above", async () => {
    const [owner, tenant] = [await us(), await them()];
    const name = newName();
    tenant.publishProof(`shop.${name}`);
    await tenant.add(`shop.${name}`, { is_wildcardless: true });
    owner.publishProof(name);
    await owner.add(name, { is_wildcardless: true });
    expect(await owner.add(`shop.${name}`)).toMatchObject(inUse);
    await owner.add(`a.shop.${name}`, { is_wildcardless: true });
    expect(await proofNeeded(`a.shop.${name}`)).toBe("all");
  });

  it("a company whose domain points here needs no proof for the names below", async () => {
    const [owner, attacker] = [await us(), await them()];
    const name = newName();
    await attacker.add(`zz.${name}`, { is_wildcardless: true });
    owner.publishProof(name);
    await owner.add(name, { is_wildcardless: true });
    await test.current.database
      .updateTable("domains")
      .set({ verified_at: null, points_here_at: new Date() })
      .where("name", "=", name)
      .execute();
    await owner.add(`blog.${name}`);
    expect(await proofNeeded(`blog.${name}`)).toBeNull();
  });

  it("temporary names of other companies do not count", async () => {
    const [one] = [await us(), await them()];
    const name = newName();
    await test.current.database
      .updateTable("domains")
      .set({ name: `demo.sites.${name}` })
      .where("setup_type", "=", "temporary")
      .where("company_id", "=", test.current.otherCompany.company_id)
      .where("is_primary", "=", true)
      .where("environment_id", "=", (await them()).id)
      .execute();
    await one.add(`www.${name}`, { is_wildcardless: true });
    expect(await proofNeeded(`www.${name}`)).toBeNull();
  });
});

describe("a name that waits for a proof", () => {
  it("goes to the company that proves it first, and is not held for the other", async () => {
    const [owner, attacker] = [await us(), await them()];
    const name = newName();
    dns.set(`A ${name}.`, [here]);
    await attacker.add(name);
    expect(await owner.add(name)).toMatchObject(inUse);
    owner.publishProof(name);
    expect(await owner.add(name)).toMatchObject(added);
    await owner.remove(name);
    expect(await attacker.add(name)).toMatchObject(inUse);
  });

  it("blocks neither wildcards nor names of others, and costs them no proof", async () => {
    const [owner, attacker] = [await us(), await them()];
    const name = newName();
    dns.set(`A shop.${name}.`, [here]);
    await attacker.add(`shop.${name}`);
    expect(await owner.add(name)).toMatchObject(added);
    expect(await proofNeeded(name)).toBe("subdomains");
  });

  it("can be added by another company after a week", async () => {
    const [one, other] = [await us(), await them()];
    const name = newName();
    dns.set(`A ${name}.`, [here]);
    await other.add(name);
    expect(await one.add(name)).toMatchObject(inUse);
    const created_at = new Date(Date.now() - 8 * 86_400_000);
    await test.current.database.updateTable("domains").set({ created_at }).where("name", "=", name).execute();
    expect(await one.add(name)).toMatchObject(added);
    expect(await one.listed(name)).toMatchObject({ needs_proof: true });
    expect(await other.listed(name)).toBeUndefined();
  });

  it("can't become primary or have DNS records, and says what is missing", async () => {
    const { call, database } = test.current;
    const attacker = await them();
    const name = newName();
    dns.set(`A ${name}.`, [here]);
    await attacker.add(name);
    const { id } = await database.selectFrom("domains").select("id").where("name", "=", name).executeTakeFirstOrThrow();
    const { key } = attacker;
    const primary = await call("PUT", `/v2/sites/environments/${attacker.id}/change-primary-domain`, {
      body: { domain_id: id, confirm: true },
      key,
    });
    expect(primary.body.data.code).toBe("domain_not_served");
    const record = { type: "TXT", name: "@", ttl: 300, resource_records: [{ value: "x" }] };
    const records = await call("POST", `/v2/domains/${id}/dns-records`, { body: record, key });
    expect(records.body.data.code).toBe("zone_of_another");
    const path = `/v2/sites/environments/domains/${id}/verification-records`;
    const { site_domain } = (await call("GET", path, { key })).body;
    const { type, name: at, value } = attacker.record(name);
    expect(site_domain).toMatchObject({ is_verified: false, needs_proof: true });
    expect(site_domain.verification_records[0]).toMatchObject({ type, name: at, value, is_required: true });
  });
});

describe("names are held, whatever removes them:", () => {
  const isHeld = async (name: string) => {
    const rows = test.current.database.selectFrom("held_names").select("name").where("name", "=", name);
    return (await rows.execute()).length === 1;
  };

  it("the deletion of an environment, and of a company", async () => {
    const { database } = test.current;
    const victim = await us();
    const [one, other] = [newName(), newName()];
    await victim.add(one);
    await database.transaction().execute((transaction) => removeEnvironmentRows(transaction, victim.id));
    expect(await isHeld(one)).toBe(true);
    const companyId = randomUUID();
    await database.insertInto("companies").values({ id: companyId, name: "Gone" }).execute();
    await victim.add(other, {}, victim.liveId);
    await database.updateTable("domains").set({ company_id: companyId }).where("name", "=", other).execute();
    await database.deleteFrom("companies").where("id", "=", companyId).execute();
    expect(await isHeld(other)).toBe(true);
    expect(await victim.add(other, {}, victim.liveId)).toMatchObject(inUse);
  });

  it("but not names that were never served, nor temporary ones", async () => {
    const { database } = test.current;
    const attacker = await them();
    const name = newName();
    dns.set(`A ${name}.`, [here]);
    await attacker.add(name);
    const temporary = database.selectFrom("domains").select("name").where("environment_id", "=", attacker.id);
    const names = (await temporary.execute()).map((row) => row.name);
    expect(names).toHaveLength(2);
    await database.transaction().execute((transaction) => removeEnvironmentRows(transaction, attacker.id));
    for (const each of names) expect(await isHeld(each)).toBe(false);
  });
});

describe("records of a name", () => {
  const change = (which: "company" | "otherCompany", id: string, type: string, name: string, value: string) =>
    test.current.call("POST", `/v2/domains/${id}/dns-records`, {
      body: { type, name, ttl: 300, resource_records: [{ value }] },
      key: test.current[which].api_key,
    });

  it("within another company's domain are refused, and delegations above it", async () => {
    const [owner, tenant] = [await us(), await them()];
    const name = newName();
    owner.publishProof(name);
    await owner.add(name);
    tenant.publishProof(`a.shop.${name}`);
    await tenant.add(`a.shop.${name}`);
    const { id } = await owner.listed(name);
    for (const [type, at, value] of [
      ["A", `a.shop.${name}`, "198.51.100.1"],
      ["TXT", `x.a.shop.${name}`, "x"],
      ["NS", `shop.${name}`, "ns.elsewhere.example."],
    ] as const) {
      const { body } = await change("company", id, type, at, value);
      expect(body.data).toMatchObject({ code: "zone_of_another", name: at, type });
    }
    expect((await change("company", id, "TXT", `shop.${name}`, "ours")).status).toBe(202);
    const { id: theirs } = await tenant.listed(`a.shop.${name}`);
    expect((await change("otherCompany", theirs, "TXT", `a.shop.${name}`, "theirs")).status).toBe(202);
  });
});
