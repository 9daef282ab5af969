/** How customers' own keys and certificates are read and checked. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { maxPemBytes, readCustomCertificate } from "./checkCustom.ts";
import { readBlocks } from "./pem.ts";
import { makeCertificate, openssl, type TestCertificate } from "./testing/openssl.ts";

const names = ["shop.example.com"];

let root: TestCertificate;
let intermediate: TestCertificate;
let own: TestCertificate;
let unrelated: TestCertificate;

beforeAll(async () => {
  root = await makeCertificate({ subject: "/CN=root", isAuthority: true });
  intermediate = await makeCertificate({ subject: "/CN=intermediate", isAuthority: true, by: root });
  own = await makeCertificate({ names: ["shop.example.com", "*.shop.example.com"], by: intermediate });
  unrelated = await makeCertificate({ subject: "/CN=unrelated", isAuthority: true, by: root });
});

function read(given: {
  readonly key?: string;
  readonly cert?: string;
  readonly names?: readonly string[];
  readonly now?: Date;
}) {
  return readCustomCertificate({ key: own.key, cert: own.cert + intermediate.cert, names, now: new Date(), ...given });
}

/** The field and the reason. */
function refusal(given: Parameters<typeof read>[0]): string {
  const result = read(given);
  return result.ok ? "accepted" : `${result.problem.field}: ${result.problem.reason}`;
}

function accepted(given: Parameters<typeof read>[0]) {
  const result = read(given);
  if (!result.ok) throw new Error(result.problem.reason);
  return result.certificate;
}

const fingerprints = (pem: string) => readBlocks(pem).map(({ text }) => new X509Certificate(text).fingerprint256);

describe("an accepted certificate", () => {
  test("comes with its names, validity and fingerprint", () => {
    const certificate = accepted({});
    const leaf = new X509Certificate(own.cert);
    expect(certificate).toMatchObject({ names: ["shop.example.com", "*.shop.example.com"] });
    expect(certificate.notAfter).toEqual(leaf.validToDate);
    expect(certificate.fingerprint).toBe(leaf.fingerprint256.replaceAll(":", "").toLowerCase());
  });

  test.each([
    ["in order", () => own.cert + intermediate.cert],
    ["in reverse order", () => intermediate.cert + own.cert],
    ["with the root", () => root.cert + intermediate.cert + own.cert],
    ["with duplicates", () => own.cert + intermediate.cert + own.cert + root.cert + intermediate.cert],
    ["with text around it", () => `Bag Attributes\n${own.cert}\nintermediate:\r\n${intermediate.cert}\n`],
    ["with Windows line endings", () => (own.cert + intermediate.cert).replaceAll("\n", "\r\n")],
  ])("a chain %s is sorted", (_, cert) => {
    expect(fingerprints(accepted({ cert: cert() }).chain)).toEqual(fingerprints(own.cert + intermediate.cert));
  });

  test("a self-signed certificate has no chain", async () => {
    const alone = await makeCertificate({ names });
    expect(fingerprints(accepted({ ...alone }).chain)).toEqual(fingerprints(alone.cert));
  });

  test("a wildcard covers names one label below it, not two", () => {
    expect(refusal({ names: ["a.shop.example.com", "*.shop.example.com"] })).toBe("accepted");
    expect(refusal({ names: ["a.b.shop.example.com"] })).toMatch(/is not for a\.b\.shop\.example\.com, but for shop/);
  });

  test.each([
    ["SEC1", ["ec", "-in", "IN/key.pem"]],
    ["PKCS#8", ["pkey", "-in", "IN/key.pem"]],
  ])("a key in %s", async (_, args) => {
    const key = await openssl(args, { "key.pem": own.key });
    expect(accepted({ key }).key).toBe(createPrivateKey(own.key).export({ type: "pkcs8", format: "pem" }));
  });

  test("a key in PKCS#1", async () => {
    const rsa = await makeCertificate({ names, algorithm: "rsa:2048" });
    const key = await openssl(["rsa", "-in", "IN/key.pem", "-traditional"], { "key.pem": rsa.key });
    expect(key).toContain("BEGIN RSA PRIVATE KEY");
    expect(accepted({ key, cert: rsa.cert }).key).toContain("BEGIN PRIVATE KEY");
  });
});

describe("rejected, each with its own message:", () => {
  test("a key of another certificate", () => {
    expect(refusal({ key: unrelated.key })).toMatch(/^custom_ssl_key: .*does not belong to custom_ssl_cert/);
  });

  test("a certificate that is not part of the chain", () => {
    expect(refusal({ cert: own.cert + intermediate.cert + unrelated.cert })).toMatch(
      /is not part of the chain \(CN=unrelated\)/,
    );
  });

  test("an expired certificate, and one that is not valid yet", () => {
    const { validFromDate, validToDate } = new X509Certificate(own.cert);
    expect(refusal({ now: validToDate })).toBe(
      `custom_ssl_cert: custom_ssl_cert expired on ${validToDate.toISOString().slice(0, 10)}. Send a certificate that is valid now.`,
    );
    expect(refusal({ now: new Date(validFromDate.getTime() - 1_000) })).toMatch(/is not valid before 20/);
  });

  test("a certificate for another name, or for no name", async () => {
    expect(refusal({ names: ["example.org"] })).toMatch(/is not for example\.org, but for shop\.example\.com/);
    const nameless = await makeCertificate({ subject: "/CN=shop.example.com" });
    expect(refusal({ ...nameless })).toMatch(/but for no host name at all/);
  });

  test("a password-protected key, in both formats", async () => {
    const args = ["pkcs8", "-topk8", "-in", "IN/key.pem", "-passout", "pass:secret"];
    expect(refusal({ key: await openssl(args, { "key.pem": own.key }) })).toMatch(/password-protected/);
    const old = ["ec", "-in", "IN/key.pem", "-aes128", "-passout", "pass:secret"];
    expect(refusal({ key: await openssl(old, { "key.pem": own.key }) })).toMatch(/password-protected/);
  });

  test("truncated or damaged text", () => {
    expect(refusal({ key: own.key.slice(0, 90) })).toMatch(/^custom_ssl_key: .*truncated/);
    expect(refusal({ cert: own.cert.slice(0, 300) })).toMatch(/^custom_ssl_cert: .*truncated/);
    expect(refusal({ cert: own.cert + intermediate.cert.slice(0, 300) })).toMatch(/^custom_ssl_cert: .*truncated/);
    expect(refusal({ cert: own.cert.replace(/\n[A-Za-z0-9+/]{4}/, "\n****") })).toMatch(
      /^custom_ssl_cert: .*can't be read/,
    );
    const damaged = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    expect(refusal({ key: damaged })).toMatch(/^custom_ssl_key: .*can't be read/);
  });

  test("key and certificate swapped, and text that is neither", () => {
    expect(refusal({ key: own.cert })).toMatch(/^custom_ssl_key: .*contains a certificate/);
    expect(refusal({ cert: own.key })).toMatch(/^custom_ssl_cert: .*contains a private key/);
    expect(refusal({ cert: own.cert + own.key })).toMatch(/^custom_ssl_cert: .*contains a private key/);
    expect(refusal({ key: "hello" })).toMatch(/^custom_ssl_key: .*not a PEM private key/);
    expect(refusal({ cert: "hello" })).toMatch(/^custom_ssl_cert: .*not a PEM certificate/);
  });

  test("several keys", () => {
    expect(refusal({ key: own.key + unrelated.key })).toMatch(/several keys/);
  });

  test.each(["rsa:1024", "ec:secp521r1", "ed25519"] as const)(
    "a key that browsers don't accept: %s",
    async (algorithm) => {
      const weak = await makeCertificate({ names, algorithm });
      expect(refusal({ ...weak })).toMatch(/^custom_ssl_key: .*(too weak|browsers don't accept)/);
    },
  );

  test("a megabyte of text, without parsing it", () => {
    expect(refusal({ cert: own.cert.repeat(1_000) })).toBe(
      `custom_ssl_cert: custom_ssl_cert is longer than ${maxPemBytes} bytes.`,
    );
    expect(refusal({ key: "a".repeat(1_000_000) })).toMatch(/^custom_ssl_key: .*longer/);
  });
});
