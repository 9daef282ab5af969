/** The same operations where a PowerDNS answers instead of our own server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePowerDnsClient } from "../../clients/powerDnsClient.ts";
import { makeZonePublisher } from "../../publishing/publishZones.ts";
import { noTransfers } from "../../publishing/zoneTable.ts";
import { dnsSubjects } from "../../testing/dnsRecords.ts";
import { silentLog } from "../../testing/engine.ts";
import { startPowerDns, type TestPowerDns } from "../../testing/powerDns.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";

const siteSuffix = "localhost";

let stack: AsyncDisposableStack;
let server: TestPowerDns;
let world: World;
let textsOf: (name: string) => Promise<readonly string[]>;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  server = stack.use(await startPowerDns());
  const own = stack.use(await makeWorld());
  const dns = makePowerDnsClient(server.place, { mark: `acme-challenge.${siteSuffix}`, log: silentLog });
  const zones = makeZonePublisher({
    database: own.own.database,
    dns,
    dataFolder: own.facts.dataFolder,
    transfers: noTransfers,
    names: { dnsNames: ["ns1.localhost"], siteSuffix },
    edgeAddresses: ["203.0.113.7"],
    log: silentLog,
  });
  textsOf = dns.textsOf;
  world = { ...own, services: { ...own.services, dns, zones } };
});
afterAll(() => stack.disposeAsync());

const subjects = Object.entries(dnsSubjects);

/** What it answers for every name that the request is about. */
async function answeredOf(input: unknown) {
  const { changes } = Object(input);
  const texts = changes.map(({ place }: { place: { name: string } }) => textsOf(place.name));
  return Promise.all(texts);
}

const valuesOf = (input: unknown, which: "before" | "after") =>
  Object(input).changes.map((change: Record<string, { values: string[] } | null>) => change[which]?.values ?? []);

test.each(subjects)("%s ends when PowerDNS answers the change", async (_, subject) => {
  const request = await subject.prepare(world);
  const row = await withEngine(world, (table) => table.submit(request));
  expect(row.state).toBe("succeeded");
  expect(await answeredOf(request.input)).toEqual(valuesOf(request.input, "after"));
});

test.each(subjects)("%s that fails has PowerDNS answer what it did before", async (_, subject) => {
  const request = await subject.prepare(world);
  const row = await withEngine(world, (table) => table.submit(request), { failAt: "succeed:before" });
  expect(row.state).toBe("failed");
  expect(await answeredOf(request.input)).toEqual(valuesOf(request.input, "before"));
});

test("a change waits for a PowerDNS that is away, and is answered when it is back", async () => {
  const [[, subject] = []] = subjects;
  if (subject === undefined) throw new Error("There is no operation");
  const request = await subject.prepare(world);
  await server.kill();
  const row = await withEngine(world, async (table) => {
    const ended = table.submit(request);
    await server.start();
    return ended;
  });
  expect(row.state).toBe("succeeded");
  expect(await answeredOf(request.input)).toEqual(valuesOf(request.input, "after"));
});
