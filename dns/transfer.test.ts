import { randomBytes } from "node:crypto";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { describe, expect, test } from "vitest";
import { freePort } from "./testing/freePort.ts";
import { secondaryOf, startKnot } from "./testing/knot.ts";
import { dig, kdig, recordsIn } from "./testing/tools.ts";
import { putTable, seal, startWith } from "./testing/withDns.ts";
import { blog, makeTable, makeZone, set, shop } from "./testing/zones.ts";

const algorithms = ["hmac-sha256", "hmac-sha512"] as const;

function makeKey(algorithm: (typeof algorithms)[number] = "hmac-sha256", name = "transfer.example") {
  const secret = randomBytes(32);
  const written = { name, algorithm, sealedSecret: seal(secret) };
  const option = (key = secret, called = name) => `${algorithm}:${called}:${key.toString("base64")}`;
  return { name, algorithm, secret: secret.toString("base64"), written, option };
}

const tableWith = (key: ReturnType<typeof makeKey>, address = "127.0.0.1", port = 9) => ({
  keys: [key.written],
  secondaries: [{ address, port, key: key.name }],
});

describe("a transfer", () => {
  test.each(algorithms)("is allowed for a secondary with its key (%s), and is signed correctly", async (algorithm) => {
    const key = makeKey(algorithm);
    const { port } = await startWith(makeTable([shop], tableWith(key)));
    for (const ask of [dig, kdig]) {
      const output = await ask(port, "-y", key.option(), "+noall", "+answer", "shop.example", "AXFR");
      const records = recordsIn(output).filter((record) => !record.includes(" TSIG "));
      expect(records.at(0)).toMatch(/^shop\.example\. 3600 IN SOA/);
      expect(records.filter((record) => record === records[0])).toHaveLength(2);
      expect(records).toContain("*.any.shop.example. 300 IN A 192.0.2.77");
      expect(output).not.toMatch(/fail|warning|invalid/i);
    }
  });

  test("of a large zone has several signed messages", async () => {
    const key = makeKey();
    const sets = Array.from({ length: 3_000 }, (_, n) =>
      set(`host-${n}.big.example`, "TXT", `value ${n} ${"x".repeat(50)}`),
    );
    const { port } = await startWith(makeTable([makeZone("big.example", sets)], tableWith(key)));
    const output = await kdig(port, "-y", key.option(), "big.example", "AXFR");
    expect(recordsIn(output).filter((record) => record.includes("TXT"))).toHaveLength(3_000);
    expect(Number(/\((\d+) messages/.exec(output)?.[1])).toBeGreaterThan(10);
    const byDig = await dig(port, "-y", key.option(), "+noall", "+answer", "big.example", "AXFR");
    expect(recordsIn(byDig).filter((record) => record.includes("TXT"))).toHaveLength(3_000);
  });

  test("sends the whole zone for IXFR, or only the SOA record if the serial is current", async () => {
    const key = makeKey();
    const zone = makeZone("a.example", [set("a.example", "A", "192.0.2.1")], 5);
    const { port } = await startWith(makeTable([zone], tableWith(key)));
    const ask = async (serial: number) =>
      recordsIn(await dig(port, "-y", key.option(), "+noall", "+answer", "a.example", `IXFR=${serial}`));
    expect(await ask(4)).toHaveLength(5);
    expect(await ask(5)).toEqual([expect.stringContaining(" 5 7200 900 1209600 600")]);
  });

  test("is refused without a key, with another key, from another address, and for other zones", async () => {
    const [key, other] = [makeKey(), makeKey("hmac-sha256", "other.example")];
    const both = { keys: [key.written, other.written], secondaries: tableWith(key).secondaries };
    const { port } = await startWith(makeTable([shop], both));
    const refused = async (...parameters: string[]) => {
      const output = await kdig(port, "+tcp", ...parameters, "AXFR").catch((error: unknown) => String(error));
      expect(output).not.toContain("192.0.2.77");
      return output;
    };
    expect(await refused("shop.example")).toContain("REFUSED");
    expect(await refused("-y", other.option(), "shop.example")).toContain("REFUSED");
    expect(await refused("-y", key.option(), "elsewhere.example")).toContain("REFUSED");
    expect(await refused("-y", key.option(), "www.shop.example")).toContain("REFUSED");
    const otherAddress = await startWith(makeTable([shop], tableWith(key, "192.0.2.1")));
    const output = await kdig(otherAddress.port, "-y", key.option(), "shop.example", "AXFR").catch(String);
    expect(output).toContain("REFUSED");
  });
});

describe("a signature", () => {
  test.each([
    ["of a wrong secret", (key: ReturnType<typeof makeKey>) => key.option(randomBytes(32)), "BADSIG"],
    ["of an unknown key", (key: ReturnType<typeof makeKey>) => key.option(undefined, "unknown.example"), "BADKEY"],
  ])("%s gets its error code", async (_, option, error) => {
    const key = makeKey();
    const { port } = await startWith(makeTable([shop], tableWith(key)));
    const output = await dig(port, "-y", option(key), "shop.example", "SOA");
    expect(output).toContain("status: NOTAUTH");
    expect(output).toContain(error);
    expect(recordsIn(output.replace(/.*TSIG.*/g, ""))).toEqual([]);
  });

  test("is answered with one, also over UDP and in truncated responses", async () => {
    const key = makeKey("hmac-sha512");
    const { port } = await startWith(makeTable([blog], tableWith(key)));
    for (const type of ["SOA", "A", "MX"]) {
      const output = await dig(port, "-y", key.option(), "blog.example", type);
      expect(output).toContain("status: NOERROR");
      expect(output).toContain("TSIG PSEUDOSECTION");
      expect(output).not.toMatch(/couldn't verify|Some TSIG could not/i);
    }
    const cut = await dig(port, "-y", key.option(), "+ignore", "big.blog.example", "TXT");
    expect(cut).toMatch(/flags: qr aa tc/);
    expect(cut).not.toMatch(/couldn't verify/i);
  });

  test("with a key that can't be decrypted gets BADKEY", async () => {
    const key = makeKey();
    const openSecret = () => {
      throw new Error("sealed by another installation");
    };
    const dns = await startWith(makeTable([shop], tableWith(key)), { openSecret });
    expect(await dig(dns.port, "-y", key.option(), "shop.example", "SOA")).toContain("BADKEY");
    expect(dns.logged).toMatchObject([{ level: "error", message: "This key can't be used" }]);
    expect(JSON.stringify(dns.logged)).not.toContain(key.secret);
  });
});

describe("a real secondary", () => {
  test("transfers its zones, and again at once after a new serial", async () => {
    const key = makeKey();
    const knotPort = await freePort();
    const more = tableWith(key, "127.0.0.1", knotPort);
    const version = (serial: number) =>
      makeZone("shop.example", [...shop.recordSets, set("version.shop.example", "TXT", `version ${serial}`)], serial);
    const dns = await startWith(makeTable([version(1), blog], more));
    await startKnot(knotPort, secondaryOf(["shop.example", "blog.example"], dns.port, key));
    const secondaryVersion = () => dig(knotPort, "+short", "version.shop.example", "TXT");
    await eventually(async () => expect(await secondaryVersion()).toBe('"version 1"\n'));
    for (const serial of [2, 3]) {
      await putTable(dns, makeTable([version(serial), blog], { ...more, generation: serial }));
      await eventually(async () => expect(await secondaryVersion()).toBe(`"version ${serial}"\n`));
    }
    const shown = async (port: number, name: string, type: string) =>
      recordsIn(await dig(port, "+noall", "+answer", "+authority", name, type)).toSorted();
    // Retried, because Knot may load the other zone a moment later and doesn't answer for a zone while loading it.
    const requireSame = (name: string, type: string) =>
      eventually(async () => expect(await shown(knotPort, name, type)).toEqual(await shown(dns.port, name, type)));
    for (const { name, type } of [...shop.recordSets, ...blog.recordSets]) {
      if (!name.startsWith("ring")) await requireSame(name, type);
    }
    for (const name of ["no.shop.example", "x.any.shop.example", "x.lab.shop.example", "below.shop.example"]) {
      await requireSame(name, "A");
    }
    expect(dns.logged.filter(({ level }) => level === "warn")).toEqual([]);
  });
});
