/** Certificate chains in any order, also with unrelated certificates. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { orderChain } from "./chain.ts";
import { readIssued } from "./issued.ts";
import { covers, namesOf } from "./names.ts";
import { makeCertificate, type TestCertificate } from "./testing/openssl.ts";

let root: TestCertificate;
let intermediate: TestCertificate;
let leaf: TestCertificate;
let unrelated: TestCertificate;
beforeAll(async () => {
  root = await makeCertificate({ subject: "/CN=Root", isAuthority: true });
  intermediate = await makeCertificate({ subject: "/CN=Intermediate", isAuthority: true, by: root });
  leaf = await makeCertificate({ subject: "/CN=Leaf", names: ["Shop.example.com", "*.example.com"], by: intermediate });
  unrelated = await makeCertificate({ subject: "/CN=Unrelated", isAuthority: true });
});

const certificate = ({ cert }: TestCertificate) => new X509Certificate(cert);
const order = (...made: readonly TestCertificate[]) =>
  orderChain(made.map(certificate), createPrivateKey(leaf.key)).map(({ subject }) => subject);

describe("orderChain", () => {
  test("starts with the key's certificate, each followed by its signer, without the root", () => {
    const wanted = ["CN=Leaf", "CN=Intermediate"];
    expect(order(leaf, intermediate, root)).toEqual(wanted);
    expect(order(root, intermediate, leaf)).toEqual(wanted);
    expect(order(intermediate, leaf)).toEqual(wanted);
    expect(order(leaf)).toEqual(["CN=Leaf"]);
  });

  test("rejects unrelated certificates, roots or not", () => {
    expect(() => order(leaf, unrelated)).toThrow(
      "custom_ssl_cert contains a certificate that is not part of the chain",
    );
    expect(() => order(leaf, root)).toThrow("(CN=Root)");
  });

  test("rejects a chain without the key's certificate", () => {
    expect(() => order(intermediate, root)).toThrow("custom_ssl_key does not belong to custom_ssl_cert");
    expect(() => order()).toThrow("custom_ssl_key does not belong");
  });
});

describe("certificate names", () => {
  test("are the host names, in lower case, without duplicates", async () => {
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
  ])("a wildcard covers one label: %s", (name, isCovered) => {
    expect(covers(["example.com", "*.example.org"], name)).toBe(isCovered);
  });
});

describe("an issued certificate", () => {
  test("is accepted with its chain", () => {
    const read = readIssued(`${leaf.cert}\n${intermediate.cert}`, leaf.key, ["shop.example.com"]);
    expect(read.chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(read.names).toEqual(["shop.example.com", "*.example.com"]);
    expect(read.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(read.notAfter.getTime()).toBeGreaterThan(read.notBefore.getTime());
  });

  test("is rejected if it is for another key, for other names, or not a certificate", () => {
    expect(() => readIssued(leaf.cert, root.key, [])).toThrow("does not belong");
    expect(() => readIssued(leaf.cert, leaf.key, ["example.org"])).toThrow("not for example.org");
    expect(() => readIssued("<html>", leaf.key, [])).toThrow("does not belong");
  });
});
