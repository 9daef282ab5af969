import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeLookUp } from "../domains/lookUp.ts";
import { ownershipRecord } from "../domains/records.ts";
import { type DnsServer, startDnsServer } from "../domains/testing/dnsServer.ts";
import { checkSoon, findCheckedDomain } from "../store/domains/domainChecks.ts";
import { addCompany, addOwnDomain, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { silentLog } from "../testing/engine.ts";
import { checkDomains } from "./checkDomains.ts";

const world = useTestDatabase();
const name = "shop.example.com";
let dns: DnsServer;
let companyId: string;
let environmentId: string;
let temporaryName: string;
let published: number;

beforeAll(async () => {
  dns = await startDnsServer();
});
afterAll(() => dns[Symbol.asyncDispose]());
beforeEach(async () => {
  await world.database.deleteFrom("sites").execute();
  ({ companyId } = await addCompany(world.database));
  const site = await addSite(world.database, companyId);
  environmentId = site.environmentId;
  temporaryName = `${site.name}.localhost`;
  published = 0;
  dns.setMood("right");
  dns.setRecords({});
  dns.asked.splice(0);
});

const check = () =>
  checkDomains({
    database: world.database,
    lookUp: makeLookUp(dns.address),
    publisher: {
      publish: async () => {
        published += 1;
      },
    },
    installation: {
      edgeAddresses: ["203.0.113.7"],
      siteSuffix: "localhost",
      dnsNames: ["ns1.localhost", "ns2.localhost"],
    },
    log: silentLog,
  });

async function domain(id: string) {
  const found = await findCheckedDomain(world.database, id);
  if (!found) throw new Error("The domain is gone");
  return found;
}

async function usesOwnDns(id: string): Promise<boolean> {
  const row = world.database.selectFrom("domains").select("uses_own_dns").where("id", "=", id);
  return (await row.executeTakeFirstOrThrow()).uses_own_dns;
}

const soon = (...ids: string[]) => world.database.transaction().execute((transaction) => checkSoon(transaction, ids));

async function secondsUntilNext(id: string): Promise<number> {
  const row = await world.database
    .selectFrom("domains")
    .select("next_check_at")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return ((row.next_check_at?.getTime() ?? 0) - Date.now()) / 1_000;
}

const ownership = () => {
  const { value } = ownershipRecord({ companyId, name });
  return { [`TXT _sitewright-verify.${name}`]: ["v=spf1 -all", value] };
};

describe("a domain that was added", () => {
  test("is checked, the records found are stored, and the next check is soon", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords({ [`A ${name}`]: ["198.51.100.1"] });
    await check();
    expect(await domain(id)).toMatchObject({
      seen: { [`A ${name}.`]: ["198.51.100.1"], [`AAAA ${name}.`]: [], [`TXT _sitewright-verify.${name}.`]: [] },
      verifiedAt: null,
      pointsHereAt: null,
      checkedAt: expect.any(Date),
    });
    const seconds = await secondsUntilNext(id);
    expect(seconds > 0 && seconds < 10).toBe(true);
    expect(published).toBe(0);
  });

  test("is verified once by its record, with an entry in the activity log", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords(ownership());
    await check();
    const { verifiedAt } = await domain(id);
    expect(verifiedAt).not.toBeNull();
    dns.setRecords({});
    await soon(id);
    await check();
    expect((await domain(id)).verifiedAt).toEqual(verifiedAt);
    const entries = await world.database
      .selectFrom("activity")
      .select(["type", "parameters"])
      .where("company_id", "=", companyId)
      .execute();
    expect(entries).toMatchObject([{ type: "verifyDomain", parameters: { domainName: name } }]);
  });

  test.each([
    [["NS1.localhost", "ns2.localhost"], true],
    [["ns1.localhost", "ns.elsewhere.example"], false],
    [[], false],
  ])("with the name servers %o uses the installation's DNS: %s", async (servers, isHere) => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords({ "NS example.com": servers });
    await check();
    expect(await usesOwnDns(id)).toBe(isHere);
  });

  test("is checked even if the lookup of its name servers fails, and the known delegation is kept", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"] });
    dns.setMood("NS");
    await world.database.updateTable("domains").set({ uses_own_dns: true }).where("id", "=", id).execute();
    await check();
    expect(await usesOwnDns(id)).toBe(true);
    expect((await domain(id)).pointsHereAt).not.toBeNull();
  });

  test.each([
    ["an address of the edge", { [`A ${name}`]: ["203.0.113.7"] }],
    ["a CNAME to its temporary name", null],
  ])("points here with %s", async (_, records) => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords(records ?? { [`CNAME ${name}`]: [temporaryName] });
    await check();
    expect((await domain(id)).pointsHereAt).not.toBeNull();
  });

  test("that is correctly set up is checked a few times a day", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords({ ...ownership(), [`A ${name}`]: ["203.0.113.7"] });
    await check();
    expect(await secondsUntilNext(id)).toBeGreaterThan(3_600);
  });

  test("that stops pointing here is still served", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"] });
    await check();
    const { pointsHereAt } = await domain(id);
    dns.setRecords({ [`A ${name}`]: ["198.51.100.1"] });
    await soon(id);
    await check();
    expect(await domain(id)).toMatchObject({ isActive: true, pointsHereAt });
  });

  test("has foreign records truncated when stored, but its ownership record is always kept", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    const { value } = ownershipRecord({ companyId, name });
    const key = `TXT _sitewright-verify.${name}`;
    dns.setRecords({ [key]: ["x".repeat(800), "y", "z", value] });
    await check();
    const kept = (await domain(id)).seen?.[`${key}.`] ?? [];
    expect(kept[0]).toBe(value);
    expect(kept.map(({ length }) => length).toSorted((a, b) => b - a)[0]).toBe(500);
  });
});

describe("a domain with avoid_downtime", () => {
  test("is served as soon as ownership is proven, and not before", async () => {
    const id = await addOwnDomain(world.database, environmentId, {
      name,
      setupType: "avoid_downtime",
      isActive: false,
    });
    dns.setRecords({ [`A ${name}`]: ["198.51.100.1"] });
    await check();
    expect([(await domain(id)).isActive, published]).toEqual([false, 0]);
    dns.setRecords({ [`A ${name}`]: ["198.51.100.1"], ...ownership() });
    await soon(id);
    await check();
    expect([(await domain(id)).isActive, published]).toEqual([true, 1]);
  });

  test("is also served if it points here without proof of ownership", async () => {
    const row = { name, setupType: "avoid_downtime", isActive: false } as const;
    const id = await addOwnDomain(world.database, environmentId, row);
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"] });
    await check();
    expect([(await domain(id)).isActive, published]).toEqual([true, 1]);
  });

  test("of another type is not activated by a check, but by the operation that adds it", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name, isActive: false });
    dns.setRecords(ownership());
    await check();
    expect([(await domain(id)).isActive, published]).toEqual([false, 0]);
  });
});

describe("a domain that needs a proof", () => {
  const unproven = { isActive: true, proofNeeded: "all" } as const;

  test.each(["quick", "avoid_downtime"] as const)("added with %s is served when it is proven", async (setupType) => {
    const id = await addOwnDomain(world.database, environmentId, { ...unproven, name, setupType });
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"] });
    await check();
    expect([await domain(id), published]).toMatchObject([{ isActive: false, isUnproven: true }, 0]);
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"], ...ownership() });
    await soon(id);
    await check();
    expect([await domain(id), published]).toMatchObject([{ isActive: true, isUnproven: false }, 1]);
  });

  test("is not proven by another company's record", async () => {
    const id = await addOwnDomain(world.database, environmentId, { ...unproven, name });
    const other = await addCompany(world.database);
    const { value } = ownershipRecord({ companyId: other.companyId, name });
    dns.setRecords({ [`TXT _sitewright-verify.${name}`]: [value] });
    await check();
    expect(await domain(id)).toMatchObject({ isActive: false, isUnproven: true });
  });

  test("is served when its company proves the name above, but not if another company has one in between", async () => {
    const [above, below] = [
      await addOwnDomain(world.database, environmentId, { name, proofNeeded: "all" }),
      await addOwnDomain(world.database, environmentId, { ...unproven, name: `www.${name}` }),
    ];
    const other = await addCompany(world.database);
    const { environmentId: theirs } = await addSite(world.database, other.companyId);
    await addOwnDomain(world.database, theirs, { name: `a.${name}`, isVerified: true });
    const foreign = await addOwnDomain(world.database, environmentId, { ...unproven, name: `b.a.${name}` });
    await check();
    expect((await domain(below)).isUnproven).toBe(true);
    dns.setRecords(ownership());
    await soon(above);
    await check();
    // The proof has made a check of the names below due.
    await check();
    expect([await domain(above), await domain(below), await domain(foreign)]).toMatchObject([
      { isUnproven: false },
      { isActive: true, isUnproven: false, verifiedAt: null },
      { isActive: false, isUnproven: true },
    ]);
  });

  test("ends the hold of the company that had it, when it is proven", async () => {
    const other = await addCompany(world.database);
    const held = { name, company_id: other.companyId, is_wildcard: true };
    await world.database.deleteFrom("held_names").execute();
    await world.database
      .insertInto("held_names")
      .values({ ...held, held_until: new Date(Date.now() + 86_400_000) })
      .execute();
    await addOwnDomain(world.database, environmentId, { ...unproven, name });
    dns.setRecords(ownership());
    await check();
    const { held_until } = await world.database.selectFrom("held_names").selectAll().executeTakeFirstOrThrow();
    expect(held_until.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test("only for its subdomains is published again when it points here", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name, proofNeeded: "subdomains" });
    dns.setRecords({ [`A ${name}`]: ["198.51.100.1"] });
    await check();
    expect(published).toBe(0);
    dns.setRecords({ [`A ${name}`]: ["203.0.113.7"] });
    await soon(id);
    await check();
    expect(published).toBe(1);
  });
});

describe("a resolver that does not answer", () => {
  test("changes nothing, and is retried less and less often", async () => {
    const id = await addOwnDomain(world.database, environmentId, { name });
    dns.setRecords(ownership());
    await check();
    const before = await domain(id);
    dns.setMood("SERVFAIL");
    const pauses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await soon(id);
      await check();
      pauses.push(await secondsUntilNext(id));
    }
    const { seen, checkedAt, verifiedAt, failedChecks } = await domain(id);
    expect({ seen, checkedAt, verifiedAt }).toEqual({
      seen: before.seen,
      checkedAt: before.checkedAt,
      verifiedAt: before.verifiedAt,
    });
    expect(failedChecks).toBe(3);
    expect(pauses.map((pause) => Math.abs(Math.round(Math.log2(pause / 9))))).toEqual([0, 1, 2]);
    dns.setMood("right");
    await soon(id);
    await check();
    expect((await domain(id)).failedChecks).toBe(0);
  });
});

describe("several processes", () => {
  test("never check the same domain at once", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `d${index}.example.com`);
    for (const each of names) await addOwnDomain(world.database, environmentId, { name: each });
    await Promise.all([check(), check(), check()]);
    // Processes that ask at the same moment see the same twenty due domains, and each claims some of them.
    await check();
    const looked = dns.asked.filter((question) => question.startsWith("TXT"));
    expect(looked.toSorted()).toEqual(names.map((each) => `TXT _sitewright-verify.${each}`).toSorted());
  });

  test("do not check domains that are not due, nor temporary names", async () => {
    await addOwnDomain(world.database, environmentId, { name });
    await check();
    const { length } = dns.asked;
    await check();
    expect(dns.asked.length).toBe(length);
    expect(dns.asked.some((question) => question.includes("localhost"))).toBe(false);
  });
});
