/** Chains in whatever order, and what does not belong to one. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { orderChain } from "./chain.ts";
import { readIssued } from "./issued.ts";
import { covers, namesOf } from "./names.ts";
import { type Made, makeCertificate } from "./testing/openssl.ts";

let root: Made;
let middle: Made;
let leaf: Made;
let stranger: Made;
beforeAll(async () => {
  root = await makeCertificate({ subject: "/CN=Root", isAuthority: true });
  middle = await makeCertificate({ subject: "/CN=Middle", isAuthority: true, by: root });
  leaf = await makeCertificate({ subject: "/CN=Leaf", names: ["Shop.example.com", "*.example.com"], by: middle });
  stranger = await makeCertificate({ subject: "/CN=Stranger", isAuthority: true });
});

const certificate = ({ cert }: Made) => new X509Certificate(cert);
const order = (...made: readonly Made[]) =>
  orderChain(made.map(certificate), createPrivateKey(leaf.key)).map(({ subject }) => subject);

describe("a chain", () => {
  test("begins with the key's own, each followed by who signed it, without the root", () => {
    const wanted = ["CN=Leaf", "CN=Middle"];
    expect(order(leaf, middle, root)).toEqual(wanted);
    expect(order(root, middle, leaf)).toEqual(wanted);
    expect(order(middle, leaf)).toEqual(wanted);
    expect(order(leaf)).toEqual(["CN=Leaf"]);
  });

  test("has no strangers, be they roots or not", () => {
    expect(() => order(leaf, stranger)).toThrow("custom_ssl_cert holds a certificate that signed none of the others");
    expect(() => order(leaf, root)).toThrow("(CN=Root)");
  });

  test("without the key's own is none", () => {
    expect(() => order(middle, root)).toThrow("custom_ssl_key does not belong to custom_ssl_cert");
    expect(() => order()).toThrow("custom_ssl_key does not belong");
  });
});

describe("names", () => {
  test("are those for hosts, in lower case, each once", async () => {
    expect(namesOf(certificate(leaf))).toEqual(["shop.example.com", "*.example.com"]);
    expect(namesOf(certificate(root))).toEqual([]);
    const mixed = await makeCertificate({ names: ["a.example", "127.0.0.1", "A.EXAMPLE"] });
    expect(namesOf(certificate(mixed))).toEqual(["a.example"]);
  });

  test.each([
    ["example.com", true],
    ["a.example.com", false],
    ["a.example.org", true],
    ["*.example.org", true],
    ["a.b.example.org", false],
    ["example.org", false],
    ["*.a.example.org", false],
    ["org", false],
    ["", false],
  ])("a wildcard is for one label: %s", (name, isCovered) => {
    expect(covers(["example.com", "*.example.org"], name)).toBe(isCovered);
  });
});

describe("what an authority sent", () => {
  test("is taken with its chain", () => {
    const read = readIssued(`${leaf.cert}\n${middle.cert}`, leaf.key, ["shop.example.com"]);
    expect(read.chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(read.names).toEqual(["shop.example.com", "*.example.com"]);
    expect(read.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(read.notAfter.getTime()).toBeGreaterThan(read.notBefore.getTime());
  });

  test("is refused for another key, for other names, and where it is none", () => {
    expect(() => readIssued(leaf.cert, root.key, [])).toThrow("does not belong");
    expect(() => readIssued(leaf.cert, leaf.key, ["example.org"])).toThrow("not for example.org");
    expect(() => readIssued("<html>", leaf.key, [])).toThrow("does not belong");
  });
});
