import { describe, expect, it } from "vitest";
import { putIntoZone } from "../../store/domains/zones.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

/** Adds a domain through the API. Returns its id, name and environment. */
async function domain() {
  const { addSite, call, database } = test.current;
  const siteId = await addSite();
  const { site } = (await call("GET", `/v2/sites/${siteId}`)).body;
  const env = site.environments[0].id;
  const name = `${crypto.randomUUID()}.example`;
  const added = await call("POST", `/v2/sites/environments/${env}/domains`, { body: { domain_name: name } });
  expect(added.status).toBe(202);
  const row = database.selectFrom("domains").select("id").where("name", "=", name);
  return { id: (await row.executeTakeFirstOrThrow()).id, name, env };
}

const path = (id: string) => `/v2/domains/${id}/dns-records`;
const create = (id: string, body: unknown) => test.current.call("POST", path(id), { body });
const update = (id: string, body: unknown) => test.current.call("PUT", path(id), { body });
const remove = (id: string, body: unknown) => test.current.call("DELETE", path(id), { body });
const list = async (id: string) => (await test.current.call("GET", path(id))).body.domain.dns_records;
const set = (type: string, name: string, ...values: string[]) => ({
  type,
  name,
  ttl: 300,
  resource_records: values.map((value) => ({ value })),
});
const codeOf = (answer: { body: { data: { code?: string } | null } }) => answer.body.data?.code;

describe("a new domain", () => {
  it("has a zone with addresses of the edge", async () => {
    const { id, name } = await domain();
    expect(await list(id)).toEqual([
      set("A", `*.${name}`, "203.0.113.7"),
      set("AAAA", `*.${name}`, "2001:db8::7"),
      set("A", name, "203.0.113.7"),
      set("AAAA", name, "2001:db8::7"),
    ]);
  });

  it("below another domain shares its zone, and lists its own records", async () => {
    const { id, name, env } = await domain();
    const below = await addOwnDomain(test.current.database, env, { name: `shop.${name}` });
    const companyId = test.current.company.company_id;
    await test.current.database
      .transaction()
      .execute((transaction) => putIntoZone(transaction, { id: below, companyId }, name, []));
    expect((await create(id, set("TXT", `a.shop.${name}`, "x"))).status).toBe(202);
    expect(await list(below)).toEqual([set("TXT", `a.shop.${name}`, "x")]);
  });

  it("from the installation has no zone", async () => {
    const { env } = await domain();
    const row = test.current.database.selectFrom("domains").select("id").where("environment_id", "=", env);
    const { id } = await row.where("setup_type", "=", "temporary").executeTakeFirstOrThrow();
    expect(await list(id)).toEqual([]);
    expect(codeOf(await create(id, set("A", "@", "203.0.113.9")))).toBe("no_zone");
  });
});

describe("creating records", () => {
  it.each([
    ["A", "203.0.113.9"],
    ["AAAA", "2001:db8::9"],
    ["CNAME", "host.example.com"],
    ["MX", "10 mail.example.com."],
    ["TXT", "v=spf1 include:example.com -all"],
    ["SPF", "v=spf1 -all"],
    ["NS", "ns1.example.com."],
    ["SRV", "0 5 5060 sip.example.com."],
    ["CAA", '0 issue "letsencrypt.org"'],
    ["PTR", "host.example.com."],
    ["HTTPS", '1 . alpn="h3,h2" ipv4hint=203.0.113.9'],
    ["SVCB", "0 svc.example.com."],
    ["TLSA", `3 1 1 ${"0d".repeat(32)}`],
    ["SSHFP", `4 2 ${"a1".repeat(32)}`],
    ["NAPTR", '100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .'],
    ["DS", `12345 13 2 ${"8a".repeat(32)}`],
    ["A", "\\# 4 CB007109"],
  ])("accepts %s and lists it as sent", async (type, value) => {
    const { id, name } = await domain();
    const { status, body } = await create(id, set(type, `WWW.${name.toUpperCase()}.`, value));
    expect([status, body.message]).toEqual([202, "Creating a domain DNS record in progress"]);
    expect(body.operation_id).toMatch(/^domains:create-dns-record-/);
    expect(await list(id)).toContainEqual(set(type, `www.${name}`, value));
  });

  it.each([
    ["@", (name: string) => name],
    ["*.x", (name: string) => `*.x.${name}`],
    ["_dmarc", (name: string) => `_dmarc.${name}`],
    ["bücher", (name: string) => `xn--bcher-kva.${name}`],
  ])("accepts the name %s", async (label, expected) => {
    const { id, name } = await domain();
    const written = label === "@" ? "@" : `${label}.${name}`;
    expect((await create(id, set("TXT", written, "x"))).status).toBe(202);
    expect(await list(id)).toContainEqual(set("TXT", expected(name), "x"));
  });

  it.each([
    ["A", "203.0.113.999"],
    ["A", "2001:db8::1"],
    ["AAAA", "203.0.113.1"],
    ["MX", "mail.example.com"],
    ["CNAME", "not a name"],
    ["CAA", "issue"],
    ["SRV", "0 5 sip.example.com."],
    ["HTTPS", "1 . alpn=h2,"],
    ["SVCB", "0 . alpn=h2"],
    ["TLSA", "3 1 1 0d"],
    ["SSHFP", "4 2"],
    ["NAPTR", "100 10 U E2U+sip . ."],
    ["DS", "12345 13 2 8a"],
    ["HTTPS", "\\# 2 0001"],
  ])("refuses %s with the value %s", async (type, value) => {
    const { id, name } = await domain();
    expect(codeOf(await create(id, set(type, `www.${name}`, value)))).toBe("dns_record_unservable");
  });

  it("says what is wrong with a value, and where DS records of the domain itself belong", async () => {
    const { id, name } = await domain();
    const digest = "8a".repeat(32);
    const wrong = await create(id, set("TLSA", `_443._tcp.${name}`, `3 1 2 ${digest}`));
    expect(wrong.body.message).toBe(
      `_443._tcp.${name} TLSA: With this matching type, the data must have 128 digits, not 64.`,
    );
    const own = await create(id, set("DS", name, `12345 13 2 ${digest}`));
    expect([codeOf(own), own.body.message]).toEqual(["dns_record_unservable", expect.stringContaining("registrar")]);
  });

  it("refuses existing sets, a CNAME next to other records, and names outside the domain", async () => {
    const { id, name } = await domain();
    expect(codeOf(await create(id, set("A", "@", "203.0.113.9")))).toBe("dns_record_exists");
    expect(codeOf(await create(id, set("CNAME", "@", "host.example.com")))).toBe("dns_record_unservable");
    for (const elsewhere of ["www", "www.example.com", `x${name}`]) {
      expect(codeOf(await create(id, set("A", elsewhere, "203.0.113.9")))).toBe("outside_the_domain");
    }
    expect((await create(id, { ...set("A", "@", "203.0.113.9"), ttl: 299 })).body.message).toBe("Bad request format");
    expect((await create(id, set("SOA", "@", "x"))).body.message).toBe("Bad request format");
  });

  it("lets one of several simultaneous requests create a set", async () => {
    const { id, name } = await domain();
    const answers = await Promise.all(
      ["1", "2", "3", "4"].map((last) => create(id, set("A", `www.${name}`, `203.0.113.${last}`))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 400, 400, 400]);
  });
});

describe("changing and deleting records", () => {
  it("adds and removes values, in any spelling", async () => {
    const { id, name } = await domain();
    await create(id, set("MX", "@", "10 one.example.com.", "20 two.example.com."));
    const changed = await update(id, {
      type: "MX",
      name: "@",
      ttl: 600,
      new_resource_records: [{ value: "30 three.example.com." }],
      removed_resource_records: [{ value: "20 TWO.example.com" }],
    });
    expect(changed.body.operation_id).toMatch(/^domains:update-dns-record-/);
    const expected = { ...set("MX", name, "10 one.example.com.", "30 three.example.com."), ttl: 600 };
    expect(await list(id)).toContainEqual(expected);
  });

  it("removes the domain's addresses and mail servers only with confirm", async () => {
    const { id, name } = await domain();
    expect(codeOf(await remove(id, { type: "A", name: "@" }))).toBe("confirm_needed");
    const elsewhere = {
      type: "A",
      name: "@",
      new_resource_records: [{ value: "198.51.100.1" }],
      removed_resource_records: [{ value: "203.0.113.7" }],
    };
    expect(codeOf(await update(id, elsewhere))).toBe("confirm_needed");
    expect((await update(id, { ...elsewhere, confirm: true })).status).toBe(202);
    expect((await remove(id, { type: "A", name: "@", confirm: true })).status).toBe(202);
    expect((await remove(id, { type: "A", name: `*.${name}` })).status).toBe(202);
    expect((await list(id)).map(({ type }: { type: string }) => type)).toEqual(["AAAA", "AAAA"]);
  });

  it("refuses missing records, and changes that would leave a set empty", async () => {
    const { id } = await domain();
    expect(codeOf(await remove(id, { type: "TXT", name: "@" }))).toBe("dns_record_missing");
    expect(codeOf(await update(id, { type: "TXT", name: "@" }))).toBe("dns_record_missing");
    await create(id, set("TXT", "@", "x"));
    const emptying = { type: "TXT", name: "@", removed_resource_records: [{ value: '"x"' }] };
    expect(codeOf(await update(id, emptying))).toBe("dns_record_empty");
    const other = { ...emptying, removed_resource_records: [{ value: "y" }] };
    expect(codeOf(await update(id, other))).toBe("dns_record_missing");
  });
});
