/** DNS operations with PowerDNS instead of the built-in DNS server. */
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
    transfers: () => noTransfers,
    names: { dnsNames: ["ns1.localhost"], siteSuffix },
    edgeAddresses: ["203.0.113.7"],
    log: silentLog,
  });
  textsOf = dns.textsOf;
  world = { ...own, services: { ...own.services, dns, zones } };
});
afterAll(() => stack.disposeAsync());

const subjects = Object.entries(dnsSubjects);

/** The values that PowerDNS serves for the names in the request. */
async function servedValues(input: unknown) {
  const { changes } = Object(input);
  const texts = changes.map(({ place }: { place: { name: string } }) => textsOf(place.name));
  return Promise.all(texts);
}

const valuesOf = (input: unknown, which: "before" | "after") =>
  Object(input).changes.map((change: Record<string, { values: string[] } | null>) => change[which]?.values ?? []);

test.each(subjects)("%s ends when PowerDNS serves the change", async (_, subject) => {
  const request = await subject.prepare(world);
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row.state).toBe("succeeded");
  expect(await servedValues(request.input)).toEqual(valuesOf(request.input, "after"));
});

test.each(subjects)("if %s fails, PowerDNS serves the previous values", async (_, subject) => {
  const request = await subject.prepare(world);
  const row = await withEngine(world, (harness) => harness.submit(request), { failAt: "succeed:before" });
  expect(row.state).toBe("failed");
  expect(await servedValues(request.input)).toEqual(valuesOf(request.input, "before"));
});

test("a change waits while PowerDNS is unavailable", async () => {
  const [[, subject] = []] = subjects;
  if (subject === undefined) throw new Error("There is no operation");
  const request = await subject.prepare(world);
  await server.kill();
  const row = await withEngine(world, async (harness) => {
    const ended = harness.submit(request);
    await server.start();
    return ended;
  });
  expect(row.state).toBe("succeeded");
  expect(await servedValues(request.input)).toEqual(valuesOf(request.input, "after"));
});
