/** DNS of an installation from outside: asked, copied by a real secondary, killed, gone back in, and done by PowerDNS instead. */
import { randomBytes } from "node:crypto";
import { freePort, secondaryOf, startKnot } from "@sitewright/dns/testing/knot.ts";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { startPowerDns } from "@sitewright/server/testing/powerDns.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneInstalled, type Installation, prepared, start } from "./installation.ts";
import { find, kill } from "./processes.ts";
import { type CreatedSite, createSite, followOperation } from "./sites.ts";

const zone = "harbour.example";
const key = { name: "transfer.example", algorithm: "hmac-sha256", secret: randomBytes(32).toString("base64") };

let clone: Awaited<ReturnType<typeof cloneInstalled>>;
let installation: Installation;
let site: CreatedSite;
let domainId: string;
let port: number;
let secondaryPort: number;

beforeAll(async () => {
  clone = await cloneInstalled();
  [port, secondaryPort] = [await freePort(), await freePort()];
  installation = await start(clone.folder, {
    ...prepared,
    SITEWRIGHT_DNS_PORT: String(port),
    SITEWRIGHT_DNS_SECONDARIES: `127.0.0.1:${secondaryPort}`,
    SITEWRIGHT_DNS_KEY: `${key.algorithm}:${key.name}:${key.secret}`,
    SITEWRIGHT_EDGE_ADDRESSES: "203.0.113.7",
  });
  site = await createSite(installation, { display_name: "Harbour" });
  await carryOut("POST", `/sites/environments/${site.environmentId}/domains`, { domain_name: zone });
  const { environment } = (await installation.api("GET", `/sites/environments/${site.environmentId}/domains`)).json<{
    environment: { site_domains: { id: string; name: string }[] };
  }>();
  domainId = environment.site_domains.find(({ name }) => name === zone)?.id ?? "";
});

afterAll(async () => {
  await installation?.stop();
  await clone?.remove();
});

async function carryOut(method: string, path: string, body: unknown): Promise<void> {
  const answer = await installation.api(method, path, body);
  expect(answer.text).toContain("operation_id");
  const { status, message } = await followOperation(installation, answer.json<{ operation_id: string }>().operation_id);
  expect([status, message]).toEqual([200, "Successfully finished request"]);
}

const setText = (name: string, value: string) =>
  carryOut("POST", `/domains/${domainId}/dns-records`, {
    type: "TXT",
    name: `${name}.${zone}`,
    ttl: 300,
    resource_records: [{ value }],
  });
const ask = async (at: number, name: string, type = "TXT") => recordsIn(await dig(at, "+short", name, type));

test("a record set is answered when its operation has ended, and soon by the secondary that a setting names", async () => {
  await eventually(async () => expect(await ask(port, zone, "A")).toEqual(["203.0.113.7"]));
  await startKnot(secondaryPort, secondaryOf([zone], port, key));
  await eventually(async () => expect(await ask(secondaryPort, zone, "A")).toEqual(["203.0.113.7"]));
  await setText("one", "first");
  expect(await ask(port, `one.${zone}`)).toEqual(['"first"']);
  await eventually(async () => expect(await ask(secondaryPort, `one.${zone}`)).toEqual(['"first"']));
});

test("kill -9 of the DNS server: the last state is answered again, without anybody telling it", async () => {
  const { pid } = installation.supervisor;
  if (pid === undefined) throw new Error("npm start is not running");
  await kill(pid, "dns");
  await eventually(async () => expect(await ask(port, `one.${zone}`)).toEqual(['"first"']));
  await setText("two", "second");
  expect(await ask(port, `two.${zone}`)).toEqual(['"second"']);
});

test("what a zone was can be gone back to", async () => {
  const list = await installation.api("GET", `/domains/${domainId}/zone-versions`);
  const [, before] = list.json<{ domain: { zone_versions: { serial: number }[] } }>().domain.zone_versions;
  await carryOut("POST", `/domains/${domainId}/zone-versions/${before?.serial}/restore`, {});
  expect([await ask(port, `one.${zone}`), await ask(port, `two.${zone}`)]).toEqual([['"first"'], []]);
});

test("a PowerDNS takes over by settings, and our own server is not started then", async () => {
  await using powerDns = await startPowerDns();
  await installation.stop();
  installation = await start(clone.folder, {
    ...prepared,
    SITEWRIGHT_DNS_BACKEND: "powerdns",
    SITEWRIGHT_POWERDNS_URL: powerDns.place.url,
    SITEWRIGHT_POWERDNS_KEY: powerDns.place.key,
    SITEWRIGHT_POWERDNS_ADDRESS: powerDns.place.address,
    SITEWRIGHT_EDGE_ADDRESSES: "203.0.113.7",
  });
  await eventually(async () => expect(await ask(powerDns.port, `one.${zone}`)).toEqual(['"first"']));
  await setText("three", "third");
  expect(await ask(powerDns.port, `three.${zone}`)).toEqual(['"third"']);
  expect(await find(installation.supervisor.pid ?? 0, "dns")).toEqual([]);
});
