/** Zones in a real PowerDNS, queried on its public port. */
import type { DnsRecordSet, DnsZone } from "@sitewright/dns/table.ts";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { servedZone } from "../domains/servedZone.ts";
import { silentLog } from "../testing/engine.ts";
import { startPowerDns, type TestPowerDns } from "../testing/powerDns.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";
import { makePowerDnsClient } from "./powerDnsClient.ts";

let server: TestPowerDns;
beforeAll(async () => {
  server = await startPowerDns();
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(async () => {
  for (const { id } of await server.api.listZones()) await server.api.removeZone(id);
});

const mark = "acme-challenge.localhost";
const names = { dnsNames: ["ns1.example.net", "ns2.example.net"], siteSuffix: "localhost" };
const makeClient = () => makePowerDnsClient(server.place, { mark, log: silentLog });
const ask = async (name: string, type: string) => recordsIn(await dig(server.port, "+short", name, type));

const set = (name: string, type: string, ...values: string[]): DnsRecordSet => ({ name, type, ttl: 300, values });
const zone = (name: string, serial: number, ...sets: DnsRecordSet[]): DnsZone =>
  servedZone({ name, serial }, sets, names);
const table = (generation: number, ...zones: DnsZone[]) => ({
  generation,
  zones: [zone(mark, 1), ...zones],
  secondaries: [],
  keys: [],
});

test("records of every type are served after the table was sent", async () => {
  const sets = [
    set("example.com", "A", "203.0.113.7"),
    set("example.com", "MX", "10 mail.example.net"),
    set("example.com", "TXT", "v=spf1 -all", '"with \\"quotes\\""', "ü", "x".repeat(300)),
    set("example.com", "CAA", '0 issue "letsencrypt.org"'),
    set("*.example.com", "AAAA", "2001:DB8::7"),
    set("www.example.com", "CNAME", "example.net"),
    set("_sip._tcp.example.com", "SRV", "1 2 5060 sip.example.net"),
    set("sub.example.com", "NS", "ns.example.org"),
    set("ptr.example.com", "PTR", "host.example.net"),
    set("example.com", "HTTPS", '1 . alpn="h3,h2" ipv4hint=203.0.113.7 key667="a b"'),
    set("_dns.example.com", "SVCB", "1 dns.example.net alpn=dot port=853 mandatory=port"),
    set("_443._tcp.example.com", "TLSA", `3 1 1 ${"0d".repeat(32)}`),
    set("example.com", "SSHFP", `4 2 ${"a1".repeat(32)}`),
    set("example.com", "NAPTR", '100 10 U E2U+sip "!^.*$!sip:info@example.com!" .'),
    set("sub.example.com", "DS", `12345 13 2 ${"8a".repeat(32)}`),
  ];
  const client = makeClient();
  expect(await client.putTable(table(5, zone("example.com", 4_000, ...sets)))).toBe(5);
  expect(await client.status()).toEqual({ generation: 5 });
  expect(await client.serialOf("example.com")).toBe(4_000);
  expect(await client.textsOf("example.com")).toContain("x".repeat(300));
  expect(await client.textsOf("none.example.com")).toEqual([]);
  expect(await ask("example.com", "A")).toEqual(["203.0.113.7"]);
  expect(await ask("any.example.com", "AAAA")).toEqual(["2001:db8::7"]);
  expect(await ask("example.com", "MX")).toEqual(["10 mail.example.net."]);
  expect(await ask("example.com", "CAA")).toEqual(['0 issue "letsencrypt.org"']);
  expect(await ask("_sip._tcp.example.com", "SRV")).toEqual(["1 2 5060 sip.example.net."]);
  expect(await ask("example.com", "HTTPS")).toEqual(['1 . alpn="h3,h2" ipv4hint=203.0.113.7 key667="a b"']);
  expect(await ask("_dns.example.com", "SVCB")).toEqual(['1 dns.example.net. mandatory=port alpn="dot" port=853']);
  expect(await ask("_443._tcp.example.com", "TLSA")).toEqual([`3 1 1 ${"0D".repeat(28)} 0D0D0D0D`]);
  expect(await ask("example.com", "SSHFP")).toEqual([`4 2 ${"A1".repeat(28)} A1A1A1A1`]);
  expect(await ask("example.com", "NAPTR")).toEqual(['100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .']);
  expect(await ask("sub.example.com", "DS")).toEqual([`12345 13 2 ${"8A".repeat(28)} 8A8A8A8A`]);
  expect((await ask("example.com", "NS")).toSorted()).toEqual(["ns1.example.net.", "ns2.example.net."]);
  const before = await server.api.readZone("example.com.");
  // A new process, which does not know what was sent, finds that nothing has changed.
  await makeClient().putTable(table(6, zone("example.com", 4_000, ...sets)));
  expect(await server.api.readZone("example.com.")).toEqual(before);
});

describe("an existing zone", () => {
  test("gets only the changes, with a higher serial", async () => {
    const client = makeClient();
    const kept = set("a.example.com", "A", "203.0.113.1");
    await client.putTable(table(1, zone("example.com", 10, kept, set("b.example.com", "A", "203.0.113.2"))));
    await client.putTable(table(2, zone("example.com", 11, kept, set("c.example.com", "A", "203.0.113.3"))));
    expect(await client.serialOf("example.com")).toBe(11);
    expect([await ask("a.example.com", "A"), await ask("b.example.com", "A"), await ask("c.example.com", "A")]).toEqual(
      [["203.0.113.1"], [], ["203.0.113.3"]],
    );
  });

  test("loses foreign changes with the next process, and its serial is never lowered", async () => {
    const wanted = zone("example.com", 10, set("a.example.com", "A", "203.0.113.1"));
    await makeClient().putTable(table(1, wanted));
    const soa = { name: "example.com.", type: "SOA", ttl: 3_600, changetype: "REPLACE" } as const;
    await server.api.changeZone("example.com.", [
      { name: "a.example.com.", type: "A", changetype: "DELETE" },
      { ...soa, records: [{ content: "ns1.example.net. x.localhost. 500 7200 900 1209600 300", disabled: false }] },
    ]);
    const client = makeClient();
    await client.putTable(table(2, wanted));
    expect(await ask("a.example.com", "A")).toEqual(["203.0.113.1"]);
    expect(await client.serialOf("example.com")).toBe(501);
  });

  test("is removed if the table no longer has it", async () => {
    const client = makeClient();
    await client.putTable(table(1, zone("example.com", 10)));
    await client.putTable(table(2));
    expect((await server.api.listZones()).map(({ name }) => name)).toEqual([mark]);
    await expect(client.serialOf("example.com")).rejects.toThrow(DnsUnavailable);
  });
});

test("foreign zones are left alone, even if the table has the same zone", async () => {
  const rrsets = [
    { name: "example.com.", type: "SOA", ttl: 60, records: [{ content: "a. b. 9999 1 1 1 1", disabled: false }] },
  ];
  await server.api.addZone({ name: "example.com", account: "", rrsets });
  await server.api.addZone({
    name: "example.org",
    account: "someone",
    rrsets: [{ ...rrsets[0], name: "example.org.", type: "SOA", ttl: 60, records: rrsets[0]?.records ?? [] }],
  });
  const client = makeClient();
  await client.putTable(table(1, zone("example.com", 10, set("example.com", "A", "203.0.113.7"))));
  expect((await server.api.listZones()).map(({ name }) => name).toSorted()).toEqual([
    mark,
    "example.com",
    "example.org",
  ]);
  expect(await ask("example.com", "A")).toEqual([]);
  await expect(client.serialOf("example.com")).rejects.toThrow('its account is not "sitewright"');
});

test("an older table changes nothing", async () => {
  const client = makeClient();
  await client.putTable(table(7, zone("example.com", 10)));
  expect(await client.putTable(table(6))).toBe(7);
  expect(await client.serialOf("example.com")).toBe(10);
});

test("an invalid zone does not affect the others", async () => {
  const client = makeClient();
  const bad = zone("bad.example", 10, set("bad.example", "A", "no address"));
  await client.putTable(table(1, bad, zone("example.com", 10)));
  expect(await client.serialOf("example.com")).toBe(10);
  await expect(client.serialOf("bad.example")).rejects.toThrow(DnsUnavailable);
});

test("a restarted PowerDNS still reports its old generation and accepts a new table", async () => {
  const client = makeClient();
  await client.putTable(table(1, zone("example.com", 10)));
  await server.kill();
  await expect(client.putTable(table(2, zone("example.com", 11)))).rejects.toThrow(DnsUnavailable);
  await expect(client.status()).rejects.toThrow(DnsUnavailable);
  await expect(client.serialOf("example.com")).rejects.toThrow(DnsUnavailable);
  await server.start();
  expect(await client.status()).toEqual({ generation: 1 });
  await client.putTable(table(3, zone("example.com", 12)));
  expect(await client.serialOf("example.com")).toBe(12);
});

test.each([
  ["a wrong key", { key: "wrong" }, /401|Unauthorized/],
  ["a wrong address", { url: "http://127.0.0.1:1" }, /did not answer/],
])("with %s the error says so", async (_, wrong, message) => {
  const client = makePowerDnsClient({ ...server.place, ...wrong }, { mark, log: silentLog });
  await expect(client.putTable(table(1))).rejects.toThrow(message);
});

test("handles a thousand zones, and a change of one of them", async () => {
  const client = makeClient();
  const zones = Array.from({ length: 1_000 }, (_, at) =>
    zone(`z${at}.example`, 10, set(`z${at}.example`, "A", "203.0.113.7")),
  );
  await client.putTable(table(1, ...zones));
  expect(await client.serialOf("z999.example")).toBe(10);
  await client.putTable(table(2, ...zones.slice(1), zone("z0.example", 11, set("z0.example", "A", "203.0.113.8"))));
  expect(await ask("z0.example", "A")).toEqual(["203.0.113.8"]);
  await client.putTable(table(3));
  expect(await server.api.listZones()).toHaveLength(1);
});
