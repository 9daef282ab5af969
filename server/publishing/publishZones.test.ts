import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { makeDnsClient } from "../clients/dnsClient.ts";
import { DnsUnavailable } from "../clients/dnsUnavailable.ts";
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
});

async function start() {
  const dataFolder = await mkdtemp(join(tmpdir(), "zones-"));
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }));
  const server = await startTestDns(dataFolder);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = makeDnsClient(server.adminSocket, "127.0.0.1");
  const { database } = world;
  const names = { dnsNames: ["ns1.example.net", "ns2.example.net"], siteSuffix: "sites.test" };
  const transfers = noTransfers;
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

test("of two companies' zones the one with a verified domain is served", async () => {
  const { zones, ask } = await start();
  await domain("a.example.com");
  await zones.reconcile();
  const verified = await domain("b.example.com");
  await world.database.updateTable("domains").set({ verified_at: new Date() }).where("id", "=", verified).execute();
  await zones.reconcile();
  expect(await ask("b.example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await ask("a.example.com", "A")).toEqual([]);
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
