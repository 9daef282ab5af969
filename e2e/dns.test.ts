/**
 * End-to-end tests of DNS: queries, a real secondary, a killed server, earlier zone versions, and PowerDNS as the
 * backend.
 */
import { randomBytes } from "node:crypto";
import { freePort } from "@sitewright/dns/testing/freePort.ts";
import { secondaryOf, startKnot } from "@sitewright/dns/testing/knot.ts";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { startPowerDns } from "@sitewright/server/testing/powerDns.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { find, kill } from "./processes.ts";
import { type CreatedSite, createPlainSite, succeed } from "./sites.ts";

const zone = "harbour.example";
const key = { name: "transfer.example", algorithm: "hmac-sha256", secret: randomBytes(32).toString("base64") };

let home: TestFolder;
let installation: Installation;
let site: CreatedSite;
let domainId: string;
let port: number;
let secondaryPort: number;

beforeAll(async () => {
  home = await createFolder();
  [port, secondaryPort] = [await freePort(), await freePort()];
  installation = await startHere(home.folder, {
    SITEWRIGHT_DNS_PORT: String(port),
    SITEWRIGHT_DNS_SECONDARIES: `127.0.0.1:${secondaryPort}`,
    SITEWRIGHT_DNS_KEY: `${key.algorithm}:${key.name}:${key.secret}`,
    SITEWRIGHT_EDGE_ADDRESSES: "203.0.113.7",
  });
  site = await createPlainSite(installation, "Harbour");
  await succeed(installation, "POST", `/sites/environments/${site.environmentId}/domains`, { domain_name: zone });
  const { environment } = (await installation.api("GET", `/sites/environments/${site.environmentId}/domains`)).json<{
    environment: { site_domains: { id: string; name: string }[] };
  }>();
  domainId = environment.site_domains.find(({ name }) => name === zone)?.id ?? "";
});

afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

const setText = (name: string, value: string) =>
  succeed(installation, "POST", `/domains/${domainId}/dns-records`, {
    type: "TXT",
    name: `${name}.${zone}`,
    ttl: 300,
    resource_records: [{ value }],
  });
const query = async (server: number, name: string, type = "TXT") => recordsIn(await dig(server, "+short", name, type));

test("a record set is served when its operation has ended, and soon by the configured secondary", async () => {
  await eventually(async () => expect(await query(port, zone, "A")).toEqual(["203.0.113.7"]));
  await startKnot(secondaryPort, secondaryOf([zone], port, key));
  await eventually(async () => expect(await query(secondaryPort, zone, "A")).toEqual(["203.0.113.7"]));
  await setText("one", "first");
  expect(await query(port, `one.${zone}`)).toEqual(['"first"']);
  await eventually(async () => expect(await query(secondaryPort, `one.${zone}`)).toEqual(['"first"']));
});

test("an imported zone file is served, and the lines that were skipped are listed", async () => {
  const zone_file = `;; SOA Record
${zone}\t3600\tIN\tSOA\told.example. dns.old.example. 1 2 3 4 5
shop\t1\tIN\tHTTPS\t1 . alpn="h3,h2" ; cf_tags=cf-proxied:true
host\t1\tIN\tHINFO\t"x" "y"
`;
  const operation = await succeed(installation, "POST", `/domains/${domainId}/zone-file`, { zone_file });
  const skipped_lines = [{ line: 2 }, { line: 4, text: 'host 1 IN HINFO "x" "y"' }];
  const result = { changed_record_sets: 1, skipped_lines, skipped_lines_count: 2 };
  expect(operation).toMatchObject({ data: { result } });
  expect(await query(port, `shop.${zone}`, "HTTPS")).toEqual(['1 . alpn="h3,h2"']);
});

test("after kill -9, the DNS server serves the last state again by itself", async () => {
  const { pid } = installation.supervisor;
  if (pid === undefined) throw new Error("npm start is not running");
  await kill(pid, "dns");
  await eventually(async () => expect(await query(port, `one.${zone}`)).toEqual(['"first"']));
  await setText("two", "second");
  expect(await query(port, `two.${zone}`)).toEqual(['"second"']);
});

test("an earlier version of a zone can be restored", async () => {
  const list = await installation.api("GET", `/domains/${domainId}/zone-versions`);
  const [, before] = list.json<{ domain: { zone_versions: { serial: number }[] } }>().domain.zone_versions;
  await succeed(installation, "POST", `/domains/${domainId}/zone-versions/${before?.serial}/restore`, {});
  expect([await query(port, `one.${zone}`), await query(port, `two.${zone}`)]).toEqual([['"first"'], []]);
});

test("with PowerDNS as the backend, PowerDNS serves the zones and Sitewright's own DNS server is not started", async () => {
  await using powerDns = await startPowerDns();
  await installation.stop();
  installation = await startHere(home.folder, {
    SITEWRIGHT_DNS_BACKEND: "powerdns",
    SITEWRIGHT_POWERDNS_URL: powerDns.place.url,
    SITEWRIGHT_POWERDNS_KEY: powerDns.place.key,
    SITEWRIGHT_POWERDNS_ADDRESS: powerDns.place.address,
    SITEWRIGHT_EDGE_ADDRESSES: "203.0.113.7",
  });
  // PowerDNS would remember for 20 seconds that it did not know a zone.
  await eventually(async () => expect((await powerDns.api.listZones()).map(({ name }) => name)).toContain(zone));
  await eventually(async () => expect(await query(powerDns.port, `one.${zone}`)).toEqual(['"first"']));
  await setText("three", "third");
  expect(await query(powerDns.port, `three.${zone}`)).toEqual(['"third"']);
  expect(await find(installation.supervisor.pid ?? 0, "dns")).toEqual([]);
});
