/** What becomes of keys and certificates that people give. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { mostPemBytes, readCustomCertificate } from "./checkCustom.ts";
import { readBlocks } from "./pem.ts";
import { type Made, makeCertificate, openssl } from "./testing/openssl.ts";

const names = ["shop.example.com"];

let root: Made;
let between: Made;
let own: Made;
let stranger: Made;

beforeAll(async () => {
  root = await makeCertificate({ subject: "/CN=root", isAuthority: true });
  between = await makeCertificate({ subject: "/CN=between", isAuthority: true, by: root });
  own = await makeCertificate({ names: ["shop.example.com", "*.shop.example.com"], by: between });
  stranger = await makeCertificate({ subject: "/CN=stranger", isAuthority: true, by: root });
});

function read(given: {
  readonly key?: string;
  readonly cert?: string;
  readonly names?: readonly string[];
  readonly now?: Date;
}) {
  return readCustomCertificate({ key: own.key, cert: own.cert + between.cert, names, now: new Date(), ...given });
}

/** The sentence and the field it is about. */
function refusal(given: Parameters<typeof read>[0]): string {
  const result = read(given);
  return result.ok ? "taken" : `${result.problem.field}: ${result.problem.reason}`;
}

function taken(given: Parameters<typeof read>[0]) {
  const result = read(given);
  if (!result.ok) throw new Error(result.problem.reason);
  return result.certificate;
}

const fingerprints = (pem: string) => readBlocks(pem).map(({ text }) => new X509Certificate(text).fingerprint256);

describe("what is taken", () => {
  test("has its names, times and fingerprint", () => {
    const certificate = taken({});
    const leaf = new X509Certificate(own.cert);
    expect(certificate).toMatchObject({ names: ["shop.example.com", "*.shop.example.com"] });
    expect(certificate.notAfter).toEqual(leaf.validToDate);
    expect(certificate.fingerprint).toBe(leaf.fingerprint256.replaceAll(":", "").toLowerCase());
  });

  test.each([
    ["in order", () => own.cert + between.cert],
    ["upside down", () => between.cert + own.cert],
    ["with the root", () => root.cert + between.cert + own.cert],
    ["with everything twice", () => own.cert + between.cert + own.cert + root.cert + between.cert],
    ["with words around", () => `Bag Attributes\n${own.cert}\nintermediate:\r\n${between.cert}\n`],
    ["with the line ends of Windows", () => (own.cert + between.cert).replaceAll("\n", "\r\n")],
  ])("a chain %s is put right", (_, cert) => {
    expect(fingerprints(taken({ cert: cert() }).chain)).toEqual(fingerprints(own.cert + between.cert));
  });

  test("a certificate that signed itself stays alone", async () => {
    const alone = await makeCertificate({ names });
    expect(fingerprints(taken({ ...alone }).chain)).toEqual(fingerprints(alone.cert));
  });

  test("a name below a wildcard is covered, one two below is not", () => {
    expect(refusal({ names: ["a.shop.example.com", "*.shop.example.com"] })).toBe("taken");
    expect(refusal({ names: ["a.b.shop.example.com"] })).toMatch(/is not for a\.b\.shop\.example\.com, but for shop/);
  });

  test.each([
    ["SEC1", ["ec", "-in", "IN/key.pem"]],
    ["PKCS#8", ["pkey", "-in", "IN/key.pem"]],
  ])("a key in %s", async (_, args) => {
    const key = await openssl(args, { "key.pem": own.key });
    expect(taken({ key }).key).toBe(createPrivateKey(own.key).export({ type: "pkcs8", format: "pem" }));
  });

  test("a key in PKCS#1", async () => {
    const rsa = await makeCertificate({ names, algorithm: "rsa:2048" });
    const key = await openssl(["rsa", "-in", "IN/key.pem", "-traditional"], { "key.pem": rsa.key });
    expect(key).toContain("BEGIN RSA PRIVATE KEY");
    expect(taken({ key, cert: rsa.cert }).key).toContain("BEGIN PRIVATE KEY");
  });
});

describe("what is refused, each with its own sentence", () => {
  test("a key of another certificate", () => {
    expect(refusal({ key: stranger.key })).toMatch(/^custom_ssl_key: .*does not belong to custom_ssl_cert/);
  });

  test("a certificate that belongs to none of the others", () => {
    expect(refusal({ cert: own.cert + between.cert + stranger.cert })).toMatch(
      /signed none of the others \(CN=stranger\)/,
    );
  });

  test("one that is over, and one whose time has not come", () => {
    const { validFromDate, validToDate } = new X509Certificate(own.cert);
    expect(refusal({ now: validToDate })).toBe(
      `custom_ssl_cert: custom_ssl_cert expired on ${validToDate.toISOString().slice(0, 10)}. Give one that is valid now.`,
    );
    expect(refusal({ now: new Date(validFromDate.getTime() - 1_000) })).toMatch(/is not valid before 20/);
  });

  test("one for another name, or for none", async () => {
    expect(refusal({ names: ["example.org"] })).toMatch(/is not for example\.org, but for shop\.example\.com/);
    const nameless = await makeCertificate({ subject: "/CN=shop.example.com" });
    expect(refusal({ ...nameless })).toMatch(/but for no host name at all/);
  });

  test("a key with a password, in both forms", async () => {
    const args = ["pkcs8", "-topk8", "-in", "IN/key.pem", "-passout", "pass:secret"];
    expect(refusal({ key: await openssl(args, { "key.pem": own.key }) })).toMatch(/protected by a password/);
    const old = ["ec", "-in", "IN/key.pem", "-aes128", "-passout", "pass:secret"];
    expect(refusal({ key: await openssl(old, { "key.pem": own.key }) })).toMatch(/protected by a password/);
  });

  test("what was cut off or damaged", () => {
    expect(refusal({ key: own.key.slice(0, 90) })).toMatch(/^custom_ssl_key: .*cut off/);
    expect(refusal({ cert: own.cert.slice(0, 300) })).toMatch(/^custom_ssl_cert: .*cut off/);
    expect(refusal({ cert: own.cert + between.cert.slice(0, 300) })).toMatch(/^custom_ssl_cert: .*cut off/);
    expect(refusal({ cert: own.cert.replace(/\n[A-Za-z0-9+/]{4}/, "\n****") })).toMatch(/^custom_ssl_cert: .*damaged/);
    const damaged = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    expect(refusal({ key: damaged })).toMatch(/^custom_ssl_key: .*damaged/);
  });

  test("each in the place of the other, and what is neither", () => {
    expect(refusal({ key: own.cert })).toMatch(/^custom_ssl_key: .*holds a certificate/);
    expect(refusal({ cert: own.key })).toMatch(/^custom_ssl_cert: .*holds a private key/);
    expect(refusal({ cert: own.cert + own.key })).toMatch(/^custom_ssl_cert: .*holds a private key/);
    expect(refusal({ key: "hello" })).toMatch(/^custom_ssl_key: .*not a private key in PEM/);
    expect(refusal({ cert: "hello" })).toMatch(/^custom_ssl_cert: .*not a certificate in PEM/);
  });

  test("several keys", () => {
    expect(refusal({ key: own.key + stranger.key })).toMatch(/several keys/);
  });

  test.each(["rsa:1024", "ec:secp521r1", "ed25519"] as const)(
    "a key that browsers don't take: %s",
    async (algorithm) => {
      const weak = await makeCertificate({ names, algorithm });
      expect(refusal({ ...weak })).toMatch(/^custom_ssl_key: .*(too weak|browsers don't take)/);
    },
  );

  test("a megabyte, before anything is read of it", () => {
    expect(refusal({ cert: own.cert.repeat(1_000) })).toBe(
      `custom_ssl_cert: custom_ssl_cert is longer than ${mostPemBytes} bytes.`,
    );
    expect(refusal({ key: "a".repeat(1_000_000) })).toMatch(/^custom_ssl_key: .*longer/);
  });
});
