/** Certificate signing requests, checked with `openssl`. */
import { createPrivateKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openssl } from "../testing/openssl.ts";
import { makeRequest } from "./csr.ts";
import { makeKey } from "./signing.ts";

async function read(names: readonly string[]): Promise<string> {
  const base64 = makeRequest(names, createPrivateKey(makeKey())).toString("base64");
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE REQUEST-----\n`;
  return openssl(["req", "-in", "IN/request.pem", "-verify", "-noout", "-text"], { "request.pem": pem });
}

/** DER encodes lengths of 1, 2 and 3 bytes differently. */
const many = (count: number) => Array.from({ length: count }, (_, index) => `name-${index}.example.com`);

describe("a certificate signing request", () => {
  test.each([
    [["example.com"]],
    [["example.com", "*.example.com", "xn--bcher-kva.example"]],
    [many(20)],
    [many(100)],
    [many(4_000)],
  ])("has exactly the given names, and is signed with its key: %#", async (names) => {
    const text = await read(names);
    expect(text).toContain("ASN1 OID: prime256v1");
    expect([...text.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name)).toEqual(names);
    expect(text).toMatch(/Subject:\s*\n/);
  });
});
