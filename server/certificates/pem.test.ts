/** PEM as people paste it. */
import { expect, test } from "vitest";
import { isCertificate, isKey, isTruncated, readBlocks } from "./pem.ts";

const block = (label: string, body = "AAAA") => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

test("blocks are found between other text, in order", () => {
  const text = `Bag Attributes\r\n${block("RSA PRIVATE KEY")} between\t${block("CERTIFICATE")}\n--- the end ---`;
  const blocks = readBlocks(text);
  expect(blocks.map(({ label }) => label)).toEqual(["RSA PRIVATE KEY", "CERTIFICATE"]);
  expect([blocks.map(isKey), blocks.map(isCertificate)]).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(isTruncated(text)).toBe(false);
});

test("a block may contain single dashes: the headers of old password-protected keys do", () => {
  const old = block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0F\n\nAAAA");
  expect(readBlocks(old)[0]?.text).toBe(old);
});

test.each([
  ["without an end", "-----BEGIN CERTIFICATE-----\nAAAA"],
  ["with the wrong end", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----"],
  ["with another one inside", `-----BEGIN CERTIFICATE-----\nAAAA\n${block("CERTIFICATE")}`],
])("a block %s is truncated", (_, text) => {
  expect(isTruncated(text)).toBe(true);
});

test("certificate requests, parameters and public keys are neither keys nor certificates", () => {
  const blocks = ["CERTIFICATE REQUEST", "EC PARAMETERS", "PUBLIC KEY", "TRUSTED CERTIFICATE"].flatMap((label) =>
    readBlocks(block(label)),
  );
  expect(blocks).toHaveLength(4);
  expect(blocks.some((each) => isKey(each) || isCertificate(each))).toBe(false);
});

test("a megabyte of BEGIN lines without an end is read in linear time", () => {
  const text = "-----BEGIN CERTIFICATE-----\n".repeat(35_000);
  expect(readBlocks(text)).toEqual([]);
  expect(isTruncated(text)).toBe(true);
});
