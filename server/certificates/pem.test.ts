/** PEM, as people paste it. */
import { expect, test } from "vitest";
import { isCertificate, isCutOff, isKey, readBlocks } from "./pem.ts";

const block = (label: string, body = "AAAA") => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

test("blocks are found among anything else, in their order", () => {
  const text = `Bag Attributes\r\n${block("RSA PRIVATE KEY")} between\t${block("CERTIFICATE")}\n--- the end ---`;
  const blocks = readBlocks(text);
  expect(blocks.map(({ label }) => label)).toEqual(["RSA PRIVATE KEY", "CERTIFICATE"]);
  expect([blocks.map(isKey), blocks.map(isCertificate)]).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(isCutOff(text)).toBe(false);
});

test("single dashes may be in a block: old keys with a password have them in their head", () => {
  const old = block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0F\n\nAAAA");
  expect(readBlocks(old)[0]?.text).toBe(old);
});

test.each([
  ["without its end", "-----BEGIN CERTIFICATE-----\nAAAA"],
  ["with another's end", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----"],
  ["in which another begins", `-----BEGIN CERTIFICATE-----\nAAAA\n${block("CERTIFICATE")}`],
])("a block %s is cut off", (_, text) => {
  expect(isCutOff(text)).toBe(true);
});

test("a request for a certificate, parameters and public keys are neither", () => {
  const blocks = ["CERTIFICATE REQUEST", "EC PARAMETERS", "PUBLIC KEY", "TRUSTED CERTIFICATE"].flatMap((label) =>
    readBlocks(block(label)),
  );
  expect(blocks).toHaveLength(4);
  expect(blocks.some((each) => isKey(each) || isCertificate(each))).toBe(false);
});

test("a megabyte that never ends is read once, and not once for each of its beginnings", () => {
  const text = "-----BEGIN CERTIFICATE-----\n".repeat(35_000);
  expect(readBlocks(text)).toEqual([]);
  expect(isCutOff(text)).toBe(true);
});
