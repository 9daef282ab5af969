import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { putIntoZone } from "../../store/domains/zones.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const run = promisify(execFile);

/** Adds a domain through the API. Returns its id, name and environment. */
async function domain() {
  const { addSite, call, database } = test.current;
  const { site } = (await call("GET", `/v2/sites/${await addSite()}`)).body;
  const env = site.environments[0].id;
  const name = `${crypto.randomUUID()}.example`;
  await call("POST", `/v2/sites/environments/${env}/domains`, { body: { domain_name: name } });
  const row = database.selectFrom("domains").select("id").where("name", "=", name);
  return { id: (await row.executeTakeFirstOrThrow()).id, name, env };
}

/** Adds a domain below the other, in the same zone. */
async function domainBelow({ name, env }: { readonly name: string; readonly env: string }) {
  const id = await addOwnDomain(test.current.database, env, { name: `shop.${name}` });
  const companyId = test.current.company.company_id;
  const { database } = test.current;
  await database.transaction().execute((transaction) => putIntoZone(transaction, { id, companyId }, name, []));
  return { id, name: `shop.${name}` };
}

const call = (method: "GET" | "POST" | "DELETE", id: string, path: string, body?: unknown) =>
  test.current.call(method, `/v2/domains/${id}${path}`, body === undefined ? {} : { body });
const set = (type: string, name: string, ...values: string[]) => ({
  type,
  name,
  ttl: 300,
  resource_records: values.map((value) => ({ value })),
});
async function create(id: string, ...records: Parameters<typeof set>) {
  expect((await call("POST", id, "/dns-records", set(...records))).body).toMatchObject({ status: 202 });
}
const records = async (id: string) => (await call("GET", id, "/dns-records")).body.domain.dns_records;
const versions = async (id: string) => (await call("GET", id, "/zone-versions")).body.domain.zone_versions;
const restore = (id: string, serial: number, more: object = {}) =>
  call("POST", id, `/zone-versions/${serial}/restore`, more);
const importFile = (id: string, zone_file: string, more: object = {}) =>
  call("POST", id, "/zone-file", { zone_file, ...more });
/** The skipped lines, which the operation's result has. */
async function skippedIn({ body }: Awaited<ReturnType<typeof importFile>>) {
  const operations = test.current.database.selectFrom("operations").select("input");
  const { input } = await operations.where("id", "=", body.operation_id).executeTakeFirstOrThrow();
  return Object(input).skipped;
}
const exportFile = async (id: string): Promise<string> => (await call("GET", id, "/zone-file")).body.domain.zone_file;

describe("zone versions", () => {
  it("are created by each change of records, and listed newest first", async () => {
    const { id, name } = await domain();
    await create(id, "TXT", name, "one");
    await create(id, "TXT", `a.${name}`, "two");
    const list = await versions(id);
    expect(list.map((each: { record_sets_count: number }) => each.record_sets_count)).toEqual([6, 5, 4]);
    expect(list[0].serial).toBeGreaterThan(list[1].serial);
    expect(new Date(list[0].created_at).getFullYear()).toBeGreaterThan(2025);
  });

  it("have the domain's records at that time", async () => {
    const { id, name } = await domain();
    const before = await records(id);
    await create(id, "TXT", name, "one");
    const [now, then] = await versions(id);
    expect((await call("GET", id, `/zone-versions/${then.serial}`)).body).toEqual({
      zone_version: { serial: then.serial, created_at: then.created_at, dns_records: before },
    });
    const shown = (await call("GET", id, `/zone-versions/${now.serial}`)).body.zone_version.dns_records;
    expect(shown).toEqual(await records(id));
  });

  it("are kept up to a hundred", async () => {
    const { id, name } = await domain();
    const { database } = test.current;
    const { zone_id } = await database
      .selectFrom("domains")
      .select("zone_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const old = Array.from({ length: 120 }, (_, serial) => ({
      zone_id: zone_id ?? "",
      serial: serial + 1,
      records: "[]",
    }));
    await database.insertInto("zone_versions").values(old).execute();
    await create(id, "TXT", name, "one");
    const serials = (await versions(id)).map(({ serial }: { serial: number }) => serial);
    expect(serials).toHaveLength(100);
    expect(serials.at(-1)).toBe(23);
  });

  it("that do not exist are a 404 in all calls", async () => {
    const { id } = await domain();
    const [{ serial }] = await versions(id);
    const statuses = await Promise.all([
      call("GET", id, "/zone-versions/1"),
      call("GET", id, "/zone-versions/1/difference"),
      call("GET", id, `/zone-versions/${serial}/difference?to=1`),
      restore(id, 1),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await call("GET", id, "/zone-versions/x")).status).toBe(404);
  });
});

describe("the difference between two versions", () => {
  it("lists added, removed and changed record sets by name and type", async () => {
    const { id, name } = await domain();
    await create(id, "TXT", `changed.${name}`, "before");
    await create(id, "TXT", `removed.${name}`, "gone");
    const [from] = await versions(id);
    const change = { type: "TXT", name: `changed.${name}`, new_resource_records: [{ value: "more" }] };
    await test.current.call("PUT", `/v2/domains/${id}/dns-records`, { body: change });
    await call("DELETE", id, "/dns-records", { type: "TXT", name: `removed.${name}` });
    await create(id, "TXT", `added.${name}`, "new");
    const [to] = await versions(id);
    const expected = [
      { name: `added.${name}`, type: "TXT", before: null, after: set("TXT", `added.${name}`, "new") },
      {
        name: `changed.${name}`,
        type: "TXT",
        before: set("TXT", `changed.${name}`, "before"),
        after: set("TXT", `changed.${name}`, "before", "more"),
      },
      { name: `removed.${name}`, type: "TXT", before: set("TXT", `removed.${name}`, "gone"), after: null },
    ];
    const path = `/zone-versions/${from.serial}/difference`;
    expect((await call("GET", id, path)).body).toEqual({ difference: expected });
    expect((await call("GET", id, `${path}?to=${to.serial}`)).body).toEqual({ difference: expected });
    const back = (await call("GET", id, `/zone-versions/${to.serial}/difference?to=${from.serial}`)).body.difference;
    expect(back).toEqual(expected.map((each) => ({ ...each, before: each.after, after: each.before })));
    expect((await call("GET", id, `/zone-versions/${to.serial}/difference`)).body).toEqual({ difference: [] });
  });
});

describe("restoring a version", () => {
  it("restores its records, and can be reverted", async () => {
    const { id, name } = await domain();
    await create(id, "TXT", name, "one");
    const [then] = await versions(id);
    const before = await records(id);
    await create(id, "MX", name, "10 mail.example.net.");
    await call("DELETE", id, "/dns-records", { type: "TXT", name });
    const after = await records(id);
    const [latest] = await versions(id);
    const answer = await restore(id, then.serial, { confirm: true });
    expect(answer.status).toBe(202);
    expect(answer.body.operation_id).toMatch(/^domains:restore-zone-version-/);
    expect(await records(id)).toEqual(before);
    expect((await restore(id, latest.serial)).status).toBe(202);
    expect(await records(id)).toEqual(after);
  });

  it("needs confirm to remove the domain's addresses or mail servers", async () => {
    const { id, name } = await domain();
    const [then] = await versions(id);
    await create(id, "MX", name, "10 mail.example.net.");
    const now = await records(id);
    const refused = await restore(id, then.serial);
    expect([refused.status, refused.body.data.code]).toEqual([400, "confirm_needed"]);
    expect(await records(id)).toEqual(now);
  });

  it("does not change records outside the domain", async () => {
    const parent = await domain();
    const below = await domainBelow(parent);
    await create(below.id, "TXT", below.name, "one");
    const [then] = await versions(below.id);
    await create(parent.id, "TXT", `www.${parent.name}`, "of the parent");
    await call("DELETE", below.id, "/dns-records", { type: "TXT", name: below.name });
    expect((await restore(below.id, then.serial)).status).toBe(202);
    expect(await records(below.id)).toEqual([set("TXT", below.name, "one")]);
    expect(await records(parent.id)).toContainEqual(set("TXT", `www.${parent.name}`, "of the parent"));
  });
});

describe("a zone file", () => {
  /** Runs named-checkzone. Returns its output. */
  async function check(name: string, text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "swzone-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "zone"), text);
    const { stdout } = await run("named-checkzone", ["-i", "local", "-k", "fail", name, join(folder, "zone")]);
    return stdout;
  }

  const everything = (name: string) => [
    set("TXT", name, '"v=spf1 -all"', '"a \\"quoted\\" text"', "x".repeat(400)),
    set("MX", name, "10 mail.example.net.", "20 mail2.example.net."),
    set("CAA", name, '0 issue "letsencrypt.org"'),
    set("CNAME", `www.${name}`, "example.net."),
    set("SRV", `_sip._tcp.${name}`, "1 2 5060 sip.example.net."),
    set("NS", `sub.${name}`, "ns1.example.net."),
    set("SPF", `spf.${name}`, "v=spf1 -all"),
    set("PTR", `ptr.${name}`, "host.example.net."),
    set("HTTPS", name, '1 . alpn="h3,h2" ipv4hint=203.0.113.7', `0 www2.${name}`),
    set("SVCB", `_dns.${name}`, '1 dns.example.net. alpn=dot port=853 mandatory=port key667="a;b"'),
    set("TLSA", `_443._tcp.${name}`, `3 1 1 ${"0d".repeat(32)}`),
    set("SSHFP", `host.${name}`, `4 2 ${"a1".repeat(32)}`),
    set("NAPTR", `enum.${name}`, '100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .'),
    set("DS", `sub.${name}`, `12345 13 2 ${"8a".repeat(32)}`),
  ];

  it("contains all records, and named-checkzone accepts it", async () => {
    const { id, name } = await domain();
    for (const { type, name: owner, resource_records } of everything(name)) {
      await create(id, type, owner, ...resource_records.map(({ value }) => value));
    }
    const text = await exportFile(id);
    expect(await check(name, text)).toMatch(/OK\n$/);
    expect(text).toContain(`${name}.\t3600\tIN\tNS\tns2.localhost.\n`);
    expect(text).toContain(`sub.${name}.\t300\tIN\tNS\tns1.example.net.\n`);
  });

  it("can be exported, imported into another domain, and exported unchanged", async () => {
    const [from, to] = [await domain(), await domain()];
    for (const { type, name: owner, resource_records } of everything(from.name)) {
      await create(from.id, type, owner, ...resource_records.map(({ value }) => value));
    }
    const text = await exportFile(from.id);
    const moved = text.replaceAll(from.name, to.name);
    expect((await importFile(to.id, moved, { replace: true })).status).toBe(202);
    // Sorted, because the order of the names depends on the domain's name.
    const withoutSerial = (file: string) => file.split("\n").slice(1).toSorted();
    expect(withoutSerial(await exportFile(to.id))).toEqual(withoutSerial(moved));
    const [{ serial }] = await versions(to.id);
    expect((await importFile(to.id, moved)).status).toBe(202);
    expect((await call("GET", to.id, `/zone-versions/${serial}/difference`)).body.difference).toEqual([]);
    expect((await versions(to.id))[0].serial).toBe(serial);
  });

  it("of a domain within another domain's zone is a complete zone, with its delegated name servers", async () => {
    const below = await domainBelow(await domain());
    await create(below.id, "TXT", below.name, "one");
    expect(await check(below.name, await exportFile(below.id))).toMatch(/OK\n$/);
    await create(below.id, "NS", below.name, "ns.example.net.");
    const text = await exportFile(below.id);
    expect(await check(below.name, text)).toMatch(/OK\n$/);
    expect(text).toContain(`${below.name}.\t300\tIN\tNS\tns.example.net.`);
    expect(text).not.toContain("ns1.localhost.\n");
  });

  it("replaces the record sets that it names, and removes others only with replace", async () => {
    const { id, name } = await domain();
    await create(id, "TXT", name, "old");
    await create(id, "TXT", `other.${name}`, "stays");
    const file = "$TTL 1h\n@ TXT new\nwww IN A 203.0.113.9\n\tTXT of-www\n";
    const answer = await importFile(id, file);
    expect(answer.body.operation_id).toMatch(/^domains:import-zone-file-/);
    const shown = await records(id);
    expect(shown).toContainEqual({ ...set("TXT", name, '"new"'), ttl: 3_600 });
    expect(shown).toContainEqual({ ...set("A", `www.${name}`, "203.0.113.9"), ttl: 3_600 });
    expect(shown).toContainEqual(set("TXT", `other.${name}`, "stays"));
    expect((await importFile(id, file, { replace: true })).body.data.code).toBe("confirm_needed");
    expect(await records(id)).toEqual(shown);
    expect((await importFile(id, file, { replace: true, confirm: true })).status).toBe(202);
    expect((await records(id)).map((each: { name: string; type: string }) => `${each.name} ${each.type}`)).toEqual([
      `${name} TXT`,
      `www.${name} A`,
      `www.${name} TXT`,
    ]);
  });

  it("skips SOA and NS of the domain itself, and raises short TTLs", async () => {
    const { id, name } = await domain();
    const before = await records(id);
    const file = `$TTL 60\n@ SOA ns.old.example. me.old.example. 1 2 3 4 5\n@ NS ns.old.example.\nwww TXT x\n`;
    const answer = await importFile(id, file);
    expect(answer.status).toBe(202);
    expect(await records(id)).toEqual([...before, set("TXT", `www.${name}`, '"x"')]);
    expect(await skippedIn(answer)).toEqual({
      count: 2,
      listed: [
        {
          line: 2,
          text: "@ SOA ns.old.example. me.old.example. 1 2 3 4 5",
          reason: "Every zone has an SOA record of this installation.",
        },
        { line: 3, text: "@ NS ns.old.example.", reason: "The domain has the name servers of this installation." },
      ],
    });
  });

  it.each([
    ["an unsupported type", "www 300 HINFO a b"],
    ["a directive that reads files", "$INCLUDE /etc/passwd"],
    ["another class", "www 300 CH A 203.0.113.7"],
    ["a name outside the domain", "www.example.org. 300 TXT x"],
    ["an address that only the provider knows", "@ 300 A Parked"],
    ["a CNAME of the domain itself", "@ 300 CNAME target.example.net."],
    ["DS records of the domain itself", "@ 300 DS 1 13 2 AB"],
    ["an SOA record of another name", "www 300 SOA a b 1 2 3 4 5"],
    ["SOA records without final dot", "DOMAIN 300 SOA a b 1 2 3 4 5"],
    ["NS records without final dot", "DOMAIN 300 NS REPLACE&ME"],
  ])("with %s is imported without that line, which is listed", async (_, line) => {
    const { id, name } = await domain();
    const before = await records(id);
    const answer = await importFile(id, `; comment\n${line.replace("DOMAIN", name)}\nwww 300 TXT x`);
    expect(answer.status).toBe(202);
    expect(await records(id)).toEqual([...before, set("TXT", `www.${name}`, '"x"')]);
    expect(await skippedIn(answer)).toMatchObject({ count: 1, listed: [{ line: 2 }] });
  });

  it("lists a thousand skipped lines, each only by its beginning", async () => {
    const { id } = await domain();
    const answer = await importFile(id, `a LOC ${"x".repeat(500)}\n`.repeat(1_001));
    const skipped = await skippedIn(answer);
    expect([skipped.count, skipped.listed.length, skipped.listed[999]]).toEqual([
      1_001,
      1_000,
      { line: 1_000, text: `a LOC ${"x".repeat(94)}…`, reason: "Records of type LOC are not supported." },
    ]);
  });

  it("does not give a domain to the previous name servers, at any of its names", async () => {
    const parent = await domain();
    const below = await domainBelow(parent);
    const before = await records(below.id);
    const own = await importFile(below.id, "$TTL 1h\n@ NS ns1.old.example.\nwww A 203.0.113.9");
    expect((await skippedIn(own)).count).toBe(1);
    expect(await records(below.id)).toEqual([
      ...before,
      { ...set("A", `www.${below.name}`, "203.0.113.9"), ttl: 3_600 },
    ]);
    const all = await importFile(parent.id, `$TTL 1h\nshop NS ns1.old.example.\nshop DS 1 13 2 AB\nlab NS ns.lab`);
    expect((await skippedIn(all)).listed.map(({ line }: { line: number }) => line)).toEqual([2, 3]);
    const types = (await records(parent.id)).map((each: { name: string; type: string }) => `${each.name} ${each.type}`);
    expect(types).toContain(`lab.${parent.name} NS`);
    expect(types).not.toContain(`${below.name} NS`);
  });

  it("keeps a delegation that was created, and its DS records, when the domain's own export replaces everything", async () => {
    const below = await domainBelow(await domain());
    await create(below.id, "NS", below.name, "ns.example.net.");
    await create(below.id, "DS", below.name, `12345 13 2 ${"8A".repeat(32)}`);
    const before = await records(below.id);
    expect((await importFile(below.id, await exportFile(below.id), { replace: true })).status).toBe(400);
    await create(below.id, "TXT", `a.${below.name}`, '"x"');
    expect((await importFile(below.id, await exportFile(below.id), { replace: true })).status).toBe(202);
    expect(await records(below.id)).toEqual([set("TXT", `a.${below.name}`, '"x"'), ...before]);
  });

  it("takes names in public DNS as complete that lack the final dot, unless the zone has them", async () => {
    const { id, name } = await domain();
    await create(id, "A", `mail.corp.com.${name}`, "203.0.113.9");
    const file = "docs 300 CNAME ghs.google.com\nblog 300 CNAME mail.corp.com\nshop 300 CNAME www.dev";
    expect((await importFile(id, file)).status).toBe(202);
    const values = (await records(id)).flatMap((each: ReturnType<typeof set>) =>
      each.type === "CNAME" ? each.resource_records.map(({ value }) => value) : [],
    );
    expect(values.toSorted()).toEqual(["ghs.google.com.", `mail.corp.com.${name}.`, `www.dev.${name}.`]);
  });

  it("replaces the records of a name by a CNAME, and a CNAME by other records", async () => {
    const parent = await domain();
    const { id, name } = parent;
    await create(id, "CNAME", `blog.${name}`, "old.example.net.");
    expect((await importFile(id, "* 300 CNAME www\nblog 300 A 203.0.113.9\nwww 300 A 203.0.113.9")).status).toBe(202);
    const types = (await records(id)).map((each: { name: string; type: string }) => `${each.name} ${each.type}`);
    const expected = [`*.${name} CNAME`, `${name} A`, `${name} AAAA`, `blog.${name} A`, `www.${name} A`];
    expect(types.toSorted()).toEqual(expected.toSorted());
    const below = await domainBelow(parent);
    await create(below.id, "A", below.name, "203.0.113.7");
    expect((await importFile(below.id, "@ 300 CNAME elsewhere.example.net.")).body.data.code).toBe("confirm_needed");
  });

  it("is refused if it would only delete records, or is for another domain", async () => {
    const { id } = await domain();
    const before = await records(id);
    const empty = await importFile(id, "\nwww 300 HINFO a b", { replace: true, confirm: true });
    expect(empty.body).toMatchObject({ data: { code: "zone_file_unreadable", line: 2 } });
    const other = await importFile(id, "$ORIGIN example.org.\n@ 300 SOA a b 1 2 3 4 5\nwww 300 A 203.0.113.7");
    expect(other.body).toMatchObject({
      message: expect.stringContaining('"www.example.org"'),
      data: { code: "outside_the_domain" },
    });
    expect(await records(id)).toEqual(before);
  });

  it.each([
    ["an invalid value", "www 300 A 203.0.113.256", { code: "zone_file_unreadable", line: 1 }],
    ["an invalid line", "www 300 TXT x\n\nwww\n", { code: "zone_file_unreadable", line: 3 }],
    ["an unclosed quotation mark", '@ 300 TXT "x\n', { code: "zone_file_unreadable", line: 1 }],
    ["a name outside the domain", "www.example.org. 300 TXT x", { code: "outside_the_domain" }],
    ["other records next to a CNAME", "www 300 CNAME a\nwww 300 TXT x", { code: "dns_record_unservable" }],
    [
      "a value that can't be listed",
      `www 300 TXT ${"\u00e9".repeat(3_000)}`,
      { code: "zone_file_unreadable", line: 1 },
    ],
    [
      "too large a record",
      `www 300 TYPE52 \\# 65535 ${"00".repeat(65_535)}`,
      { code: "zone_file_unreadable", line: 1 },
    ],
  ])("with %s is refused completely", async (_, file, data) => {
    const { id } = await domain();
    const before = await records(id);
    const answer = await importFile(id, file);
    expect([answer.status, answer.body.data]).toEqual([400, expect.objectContaining(data)]);
    expect(await records(id)).toEqual(before);
  });

  it("with too many record sets is refused", async () => {
    const { id } = await domain();
    const lines = Array.from({ length: 2_001 }, (_, at) => `r${at} 300 TXT x`);
    expect((await importFile(id, lines.join("\n"))).body.data.code).toBe("zone_full");
  });

  it("with one very large record set is refused right after parsing", async () => {
    const { id } = await domain();
    const lines = Array.from({ length: 40_000 }, (_, at) => `r 300 TXT ${at}`);
    const answer = await importFile(id, lines.join("\n"));
    expect(answer.body).toMatchObject({
      data: { code: "zone_full" },
      message: expect.stringContaining("40000 TXT records"),
    });
  });
});

it("a domain from the installation has no zone", async () => {
  const { env } = await domain();
  const row = test.current.database.selectFrom("domains").select("id").where("environment_id", "=", env);
  const { id } = await row.where("setup_type", "=", "temporary").executeTakeFirstOrThrow();
  expect(await versions(id)).toEqual([]);
  const answers = [await call("GET", id, "/zone-file"), await importFile(id, "www 300 TXT x"), await restore(id, 1)];
  expect(answers.map(({ body }) => body.data.code)).toEqual(["no_zone", "no_zone", "no_zone"]);
});
