import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { makeDnsClient } from "../clients/dnsClient.ts";
import { DnsUnavailable } from "../clients/dnsUnavailable.ts";
import { ownershipRecord } from "../domains/records.ts";
import { makeDnsChallenges } from "../reconcilers/certificates/dnsChallenges.ts";
import { setDnsRecordSet } from "../store/domains/dnsRecords.ts";
import { lockZoneOfDomain, raiseSerial } from "../store/domains/zones.ts";
import { dnsGenerations } from "../store/generations.ts";
import { addCompany, addOwnDomain, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { startTestDns } from "../testing/dns.ts";
import { silentLog } from "../testing/engine.ts";
import { makeZonePublisher } from "./publishZones.ts";
import { noTransfers } from "./zoneTable.ts";

const world = useTestDatabase();

beforeEach(async () => {
  await world.database.deleteFrom("sites").execute();
  await world.database.deleteFrom("zones").execute();
  await world.database.deleteFrom("held_names").execute();
});

async function start() {
  const dataFolder = await mkdtemp(join(tmpdir(), "zones-"));
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }));
  const server = await startTestDns(dataFolder);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = makeDnsClient(server.adminSocket, "127.0.0.1");
  const { database } = world;
  const names = { dnsNames: ["ns1.example.net", "ns2.example.net"], siteSuffix: "sites.test" };
  const transfers = () => noTransfers;
  const options = {
    database,
    dns: client,
    dataFolder,
    names,
    transfers,
    edgeAddresses: ["203.0.113.7"],
    log: silentLog,
  };
  const zones = makeZonePublisher(options);
  const ask = async (name: string, type: string) => recordsIn(await dig(server.dns.port, "+short", name, type));
  return { dataFolder, server, client, zones, ask, options };
}

async function domain(name: string, companyId?: string): Promise<string> {
  const company = companyId ?? (await addCompany(world.database)).companyId;
  const { environmentId } = await addSite(world.database, company);
  return addOwnDomain(world.database, environmentId, { name });
}

test("a domain's zone is served, and removed with the domain", async () => {
  const { zones, ask } = await start();
  const id = await domain("shop.example.com");
  await zones.reconcile();
  expect(await ask("shop.example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await ask("any.shop.example.com", "A")).toEqual(["203.0.113.7"]);
  expect((await ask("example.com", "NS")).toSorted()).toEqual(["ns1.example.net.", "ns2.example.net."]);
  await world.database.deleteFrom("domains").where("id", "=", id).execute();
  await zones.reconcile();
  expect(await ask("example.com", "NS")).toEqual([]);
});

test("a published change raises the serial", async () => {
  const { zones, ask, client } = await start();
  const id = await domain("example.com");
  await zones.reconcile();
  const before = await client.serialOf("example.com");
  const place = { name: "www.example.com", type: "TXT" };
  await world.database.transaction().execute(async (transaction) => {
    const zone = await lockZoneOfDomain(transaction, id);
    await setDnsRecordSet(transaction, zone?.zoneId ?? "", place, { ...place, ttl: 300, values: ["a b; c"] });
    await raiseSerial(transaction, zone?.zoneId ?? "");
    await dnsGenerations.announce(transaction);
  });
  await zones.publish();
  expect(await ask("www.example.com", "TXT")).toEqual(['"a b; c"']);
  expect(await client.serialOf("example.com")).toBeGreaterThan(before);
});

async function prove(domainId: string): Promise<void> {
  await world.database.updateTable("domains").set({ verified_at: new Date() }).where("id", "=", domainId).execute();
}

test("the records of two companies in one zone are served together", async () => {
  const { zones, ask } = await start();
  await domain("zz.example.com");
  await zones.reconcile();
  await prove(await domain("shop.example.com"));
  await zones.reconcile();
  expect(await ask("zz.example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await ask("shop.example.com", "A")).toEqual(["203.0.113.7"]);
});

test("a name below another company's proven one is served once it is proven, too", async () => {
  const { zones, ask } = await start();
  const squatted = await domain("a.b.example.com");
  await prove(await domain("example.com"));
  await zones.reconcile();
  await setAddress(squatted, "a.b.example.com", "198.51.100.1");
  await zones.reconcile();
  // Otherwise `a.b` would also take `b` out of the other company's wildcard.
  expect(await ask("b.example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await ask("a.b.example.com", "A")).toEqual(["203.0.113.7"]);
  await prove(squatted);
  await zones.publish();
  expect(await ask("a.b.example.com", "A")).toEqual(["198.51.100.1"]);
});

async function setAddress(domainId: string, name: string, value: string): Promise<void> {
  await world.database.transaction().execute(async (transaction) => {
    const zone = await lockZoneOfDomain(transaction, domainId);
    const place = { name, type: "A" };
    await setDnsRecordSet(transaction, zone?.zoneId ?? "", place, { ...place, ttl: 300, values: [value] });
    await raiseSerial(transaction, zone?.zoneId ?? "");
    await dnsGenerations.announce(transaction);
  });
}

test("the serial rises when another company's domain leaves the zone, and its records go at once", async () => {
  const { zones, ask, client } = await start();
  await prove(await domain("example.com"));
  const { companyId } = await addCompany(world.database);
  const [left, right] = [await domain("a.example.com", companyId), await domain("b.example.com", companyId)];
  for (const id of [left, right]) await prove(id);
  await zones.reconcile();
  await setAddress(left, "a.example.com", "198.51.100.1");
  await zones.reconcile();
  expect(await ask("a.example.com", "A")).toEqual(["198.51.100.1"]);
  const before = await client.serialOf("example.com");
  await world.database.deleteFrom("domains").where("id", "=", left).execute();
  await zones.reconcile();
  // The first company's wildcard.
  expect(await ask("a.example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await client.serialOf("example.com")).toBeGreaterThan(before);
});

describe("an unproven domain", () => {
  async function unproven(name: string, more: { readonly companyId?: string; readonly usesOwnDns?: boolean } = {}) {
    const id = await domain(name, more.companyId);
    const { usesOwnDns = true } = more;
    await world.database
      .updateTable("domains")
      .set({ proof_needed: "all", is_active: false, uses_own_dns: usesOwnDns })
      .where("id", "=", id)
      .execute();
    return id;
  }
  const proof = "_sitewright-verify.new.example.com";

  test("has no zone, except its ownership record if the zone is already delegated here", async () => {
    const { zones, ask } = await start();
    const { companyId } = await addCompany(world.database);
    const id = await unproven("new.example.com", { companyId });
    await zones.reconcile();
    expect(await ask("new.example.com", "A")).toEqual([]);
    expect(await ask(proof, "TXT")).toEqual([`"${ownershipRecord({ companyId, name: "new.example.com" }).value}"`]);
    await prove(id);
    await zones.publish();
    expect(await ask("new.example.com", "A")).toEqual(["203.0.113.7"]);
  });

  test("has no zone at all if the zone is delegated elsewhere", async () => {
    const { zones, ask } = await start();
    await unproven("new.example.com", { usesOwnDns: false });
    await zones.reconcile();
    expect(await ask("example.com", "SOA")).toEqual([]);
  });

  test.each([
    ["has", () => domain("shop.example.com")],
    ["wants", () => unproven("shop.example.com")],
    [
      "had",
      async () =>
        void (await world.database
          .deleteFrom("domains")
          .where("id", "=", await domain("example.com"))
          .execute()),
    ],
  ])("is not proven by the installation's DNS in a zone in which another company %s a name", async (_, other) => {
    const { zones, ask } = await start();
    await other();
    await unproven("new.example.com");
    await zones.reconcile();
    expect(await ask(proof, "TXT")).toEqual([]);
  });

  test("can be granted by the company that has the name above, and changes none of its records", async () => {
    const { zones, ask } = await start();
    const above = await domain("example.com");
    await prove(above);
    const claimed = await unproven("new.example.com");
    await zones.reconcile();
    await setAddress(claimed, "new.example.com", "198.51.100.1");
    await zones.reconcile();
    expect(await ask("new.example.com", "A")).toEqual(["203.0.113.7"]);
    await setAddress(above, proof, "203.0.113.9");
    await zones.reconcile();
    expect(await ask(proof, "A")).toEqual(["203.0.113.9"]);
  });
});

test("challenges are served in a domain's zone and in the installation's, until they are removed", async () => {
  const { zones, client, ask } = await start();
  await domain("example.com");
  await zones.reconcile();
  const challenges = makeDnsChallenges({ database: world.database, zones, dns: client });
  for (const name of ["_acme-challenge.example.com", "0123.acme-challenge.sites.test"]) {
    await challenges.publish(`${name.toUpperCase()}.`, "one");
    await challenges.publish(name, "two");
    expect((await ask(name, "TXT")).toSorted()).toEqual(['"one"', '"two"']);
    await challenges.remove(name, "one");
    expect(await ask(name, "TXT")).toEqual(['"two"']);
    await challenges.remove(name, "two");
    expect(await ask(name, "TXT")).toEqual([]);
  }
});

test("challenges that were not removed expire", async () => {
  const { zones, client, ask } = await start();
  const challenges = makeDnsChallenges({ database: world.database, zones, dns: client });
  await challenges.publish("0123.acme-challenge.sites.test", "one");
  await world.database
    .updateTable("dns_challenges")
    .set({ expires_at: new Date(0) })
    .execute();
  await zones.reconcile();
  expect(await ask("0123.acme-challenge.sites.test", "TXT")).toEqual([]);
});

test("publishing fails while the server is down, and the server starts with the newest table", async () => {
  const { zones, server, dataFolder } = await start();
  await domain("example.com");
  await zones.reconcile();
  await server.dns.close();
  await domain("example.org");
  await expect(zones.reconcile()).rejects.toBeInstanceOf(DnsUnavailable);
  await expect(zones.publish()).rejects.toBeInstanceOf(DnsUnavailable);
  const restarted = await startTestDns(dataFolder);
  onTestFinished(() => restarted[Symbol.asyncDispose]());
  expect(recordsIn(await dig(restarted.dns.port, "+short", "example.org", "A"))).toEqual(["203.0.113.7"]);
});

test("after the database was restored from an older copy, generations continue above the server's", async () => {
  const { client, options, ask } = await start();
  await client.putTable({ generation: 1_000_000, zones: [], secondaries: [], keys: [] });
  await domain("example.com");
  const zones = makeZonePublisher(options);
  await zones.reconcile();
  expect(await ask("example.com", "A")).toEqual(["203.0.113.7"]);
});
