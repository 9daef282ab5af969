import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { writeTable } from "./tableText.ts";
import { askUdp, question, readAnswer } from "./testing/packets.ts";
import { dig, kdig, recordsIn } from "./testing/tools.ts";
import { makeFolder, putTable, startWith, tell } from "./testing/withDns.ts";
import { blog, makeTable, makeZone, set, shop } from "./testing/zones.ts";

const addressOf = async (port: number, name: string): Promise<string[]> =>
  recordsIn(await dig(port, "+short", name, "A"));

test("the server starts with the table from its file, and accepts a newer one on its socket", async () => {
  const dns = await startWith(makeTable([shop], { generation: 7 }));
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
  expect(await tell(dns, "GET", "/status")).toEqual({
    status: 200,
    body: { generation: 7, zones: 1, port: dns.port, limited: 0 },
  });
  expect(await putTable(dns, makeTable([blog], { generation: 8 }))).toEqual({ status: 200, body: { generation: 8 } });
  expect(await addressOf(dns.port, "www.blog.example")).toEqual(["198.51.100.2"]);
  expect(await dig(dns.port, "mail.shop.example", "A")).toContain("status: REFUSED");
});

test("an older or equal table changes nothing and returns the newer generation", async () => {
  const dns = await startWith(makeTable([shop], { generation: 7 }));
  for (const generation of [6, 7]) {
    expect(await putTable(dns, makeTable([], { generation }))).toEqual({ status: 200, body: { generation: 7 } });
  }
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
});

test.each([null, "", "{", '{"generation":1}'])(
  "the server starts even if its table file contains %j",
  async (content) => {
    const tableFile = path.join(await makeFolder(), "table.jsonl");
    if (content !== null) await writeFile(tableFile, content);
    const dns = await startWith(null, { tableFile });
    expect(dns.logged.map(({ message }) => message)).toEqual(content === null ? [] : ["table file is broken"]);
    expect(await dig(dns.port, "shop.example")).toContain("status: REFUSED");
  },
);

test.each([
  ["no JSON", "{"],
  ["an invalid zone", `${writeTable(makeTable([]))}[]\n`],
  ["an invalid serial", writeTable(makeTable([{ ...shop, serial: 2 ** 32 }]))],
  [
    "a negative time to live",
    writeTable(makeTable([makeZone("a.example", [{ ...set("a.example", "A", "192.0.2.1"), ttl: -1 }])])),
  ],
  ["an unknown key", writeTable(makeTable([], { secondaries: [{ address: "192.0.2.1", port: 53, key: "k" }] }))],
  [
    "a secondary with a host name",
    writeTable(makeTable([], { secondaries: [{ address: "a.example", port: 53, key: "k" }] })),
  ],
])("a table with %s is refused, and the previous one stays", async (_, body) => {
  const dns = await startWith(makeTable([shop], { generation: 7 }));
  expect(await tell(dns, "PUT", "/table", body)).toMatchObject({ status: 400, body: { message: expect.any(String) } });
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
});

test("a zone that can't be served is reported and does not affect others", async () => {
  const broken = makeZone("a.example", [set("www.a.example", "A", "192.0.2.999")]);
  const dns = await startWith(makeTable([broken, shop]));
  expect(await dig(dns.port, "www.a.example")).toContain("status: SERVFAIL");
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
  expect(dns.logged).toMatchObject([
    { level: "error", facts: { zone: "a.example" }, message: "This zone can't be served" },
  ]);
});

test("only the owner can use the admin socket; a folder that is open to others is refused", async () => {
  const dns = await startWith(makeTable([]));
  expect((await stat(path.dirname(dns.adminSocket))).mode & 0o777).toBe(0o700);
  const folder = path.join(await makeFolder(), "run");
  await mkdir(folder);
  await chmod(folder, 0o755);
  await expect(startWith(null, { adminSocket: path.join(folder, "dns.sock") })).rejects.toThrow("open to other users");
  expect(await tell(dns, "GET", "/elsewhere")).toMatchObject({ status: 404 });
});

test("a port in use is reported", async () => {
  const dns = await startWith(makeTable([]));
  await expect(startWith(null, { port: dns.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("dig and kdig get the same answers over UDP and TCP", async () => {
  const { port } = await startWith(makeTable([shop, blog]));
  const expected = [
    "www.shop.example. 300 IN CNAME shop.example.",
    "shop.example. 300 IN A 192.0.2.1",
    "shop.example. 300 IN A 192.0.2.2",
  ];
  for (const ask of [dig, kdig]) {
    for (const transport of ["+notcp", "+tcp"]) {
      expect(recordsIn(await ask(port, transport, "+noall", "+answer", "www.shop.example", "A"))).toEqual(expected);
    }
    const output = await ask(port, "nothing.shop.example", "MX");
    expect(output).toContain("status: NXDOMAIN");
    expect(recordsIn(output)).toEqual([
      "shop.example. 600 IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 600",
    ]);
  }
});

test.each([
  ["TXT", "shop.example", ['"two" "texts"', '"v=spf1 mx -all"']],
  ["CAA", "shop.example", ['0 issue "letsencrypt.org"']],
  ["SRV", "_sip._tcp.shop.example", ["0 5 5060 mail.shop.example."]],
  ["MX", "shop.example", ["10 mail.shop.example.", "20 mail.other.example."]],
  ["SPF", "old.shop.example", ['"v=spf1 -all"']],
  ["PTR", "1.shop.example", ["host.shop.example."]],
  ["AAAA", "shop.example", ["2001:db8::1"]],
  ["SSHFP", "shop.example", [`4 2 ${"A1".repeat(28)} A1A1A1A1`]],
  ["TLSA", "_443._tcp.shop.example", ["3 0 0 3082", `3 1 1 ${"0D".repeat(28)} 0D0D0D0D`]],
  ["NAPTR", "2.4.e164.shop.example", ['100 10 "U" "E2U+sip" "!^.*$!sip:info@shop.example!" .']],
  ["DS", "lab.shop.example", [`12345 13 2 ${"8A".repeat(28)} 8A8A8A8A`]],
  ["HTTPS", "shop.example", ['1 . alpn="h3,h2" ipv4hint=192.0.2.1 ipv6hint=2001:db8::1']],
  ["HTTPS", "alias.shop.example", ["0 shop.example."]],
  ["SVCB", "_8443._foo.shop.example", ['1 mail.shop.example. mandatory=port alpn="h2" port=8443 key7="/q{?dns}"']],
])("dig gets %s records", async (type, name, values) => {
  const { port } = await startWith(makeTable([shop]));
  expect(recordsIn(await dig(port, "+short", name, type)).toSorted()).toEqual(values);
});

test("long answers are truncated and retried over TCP; EDNS is supported", async () => {
  const { port } = await startWith(makeTable([blog]));
  const output = await dig(port, "big.blog.example", "TXT");
  expect(output).toContain("Truncated, retrying in TCP mode");
  expect(recordsIn(output)).toHaveLength(40);
  expect(await kdig(port, "+edns=0", "+bufsize=4096", "blog.example", "A")).toContain(
    "Version: 0; flags: ; UDP size: 1232 B",
  );
  expect(await dig(port, "+edns=1", "+noednsnegotiation", "blog.example", "A")).toContain("status: BADVERS");
});

test("the case of the question is preserved, and other classes are refused", async () => {
  const { port } = await startWith(makeTable([blog]));
  expect(await dig(port, "WWW.bLoG.example", "A")).toContain("WWW.bLoG.example.");
  expect(await dig(port, "version.bind", "CH", "TXT")).toContain("status: REFUSED");
});

test("a closed server frees its port at once", async () => {
  const dns = await startWith(makeTable([shop]));
  await dns.close();
  const next = await startWith(makeTable([blog]), { port: dns.port });
  expect(readAnswer(await askUdp(next.port, question("blog.example", 1))).rcode).toBe(0);
});
