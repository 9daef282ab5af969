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

test("a server starts with the table from its file, and is told a later one by its socket", async () => {
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

test("an older table changes nothing, and is answered with the newer number", async () => {
  const dns = await startWith(makeTable([shop], { generation: 7 }));
  for (const generation of [6, 7]) {
    expect(await putTable(dns, makeTable([], { generation }))).toEqual({ status: 200, body: { generation: 7 } });
  }
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
});

test.each([null, "", "{", '{"generation":1}'])(
  "a table file with %j does not keep it from starting",
  async (content) => {
    const tableFile = path.join(await makeFolder(), "table.jsonl");
    if (content !== null) await writeFile(tableFile, content);
    const dns = await startWith(null, { tableFile });
    expect(dns.logged.map(({ message }) => message)).toEqual(content === null ? [] : ["broken table file"]);
    expect(await dig(dns.port, "shop.example")).toContain("status: REFUSED");
  },
);

test.each([
  ["no JSON", "{"],
  ["a zone that is none", `${writeTable(makeTable([]))}[]\n`],
  ["a serial that is none", writeTable(makeTable([{ ...shop, serial: 2 ** 32 }]))],
  [
    "a time to live below nothing",
    writeTable(makeTable([makeZone("a.example", [{ ...set("a.example", "A", "192.0.2.1"), ttl: -1 }])])),
  ],
  [
    "a key that it does not have",
    writeTable(makeTable([], { secondaries: [{ address: "192.0.2.1", port: 53, key: "k" }] })),
  ],
  ["a secondary by name", writeTable(makeTable([], { secondaries: [{ address: "a.example", port: 53, key: "k" }] }))],
])("a table with %s is refused, and the one before it stays", async (_, body) => {
  const dns = await startWith(makeTable([shop], { generation: 7 }));
  expect(await tell(dns, "PUT", "/table", body)).toMatchObject({ status: 400, body: { message: expect.any(String) } });
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
});

test("a zone that can't be served fails alone, and is reported", async () => {
  const broken = makeZone("a.example", [set("www.a.example", "A", "192.0.2.999")]);
  const dns = await startWith(makeTable([broken, shop]));
  expect(await dig(dns.port, "www.a.example")).toContain("status: SERVFAIL");
  expect(await addressOf(dns.port, "mail.shop.example")).toEqual(["192.0.2.25"]);
  expect(dns.logged).toMatchObject([
    { level: "error", facts: { zone: "a.example" }, message: "This zone can't be served" },
  ]);
});

test("only its owner reaches the socket, and a folder that is open to others is not trusted", async () => {
  const dns = await startWith(makeTable([]));
  expect((await stat(path.dirname(dns.adminSocket))).mode & 0o777).toBe(0o700);
  const folder = path.join(await makeFolder(), "run");
  await mkdir(folder);
  await chmod(folder, 0o755);
  await expect(startWith(null, { adminSocket: path.join(folder, "dns.sock") })).rejects.toThrow("open to others");
  expect(await tell(dns, "GET", "/elsewhere")).toMatchObject({ status: 404 });
});

test("a port that somebody else has is an error that says so", async () => {
  const dns = await startWith(makeTable([]));
  await expect(startWith(null, { port: dns.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("dig and kdig get the same, by UDP and by TCP", async () => {
  const { port } = await startWith(makeTable([shop, blog]));
  const expected = [
    "www.shop.example. 300 IN CNAME shop.example.",
    "shop.example. 300 IN A 192.0.2.1",
    "shop.example. 300 IN A 192.0.2.2",
  ];
  for (const ask of [dig, kdig]) {
    for (const way of ["+notcp", "+tcp"]) {
      expect(recordsIn(await ask(port, way, "+noall", "+answer", "www.shop.example", "A"))).toEqual(expected);
    }
    const said = await ask(port, "nothing.shop.example", "MX");
    expect(said).toContain("status: NXDOMAIN");
    expect(recordsIn(said)).toEqual([
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
])("dig reads %s", async (type, name, values) => {
  const { port } = await startWith(makeTable([shop]));
  expect(recordsIn(await dig(port, "+short", name, type)).toSorted()).toEqual(values);
});

test("dig comes by TCP for what is too long, and kdig accepts what EDNS says", async () => {
  const { port } = await startWith(makeTable([blog]));
  const said = await dig(port, "big.blog.example", "TXT");
  expect(said).toContain("Truncated, retrying in TCP mode");
  expect(recordsIn(said)).toHaveLength(40);
  expect(await kdig(port, "+edns=0", "+bufsize=4096", "blog.example", "A")).toContain(
    "Version: 0; flags: ; UDP size: 1232 B",
  );
  expect(await dig(port, "+edns=1", "+noednsnegotiation", "blog.example", "A")).toContain("status: BADVERS");
});

test("dig gets its mixed case back, and other classes refused", async () => {
  const { port } = await startWith(makeTable([blog]));
  expect(await dig(port, "WWW.bLoG.example", "A")).toContain("WWW.bLoG.example.");
  expect(await dig(port, "version.bind", "CH", "TXT")).toContain("status: REFUSED");
});

test("a server that is closed answers nobody, and another has its port at once", async () => {
  const dns = await startWith(makeTable([shop]));
  await dns.close();
  const next = await startWith(makeTable([blog]), { port: dns.port });
  expect(readAnswer(await askUdp(next.port, question("blog.example", 1))).rcode).toBe(0);
});
