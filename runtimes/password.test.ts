import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { passwordDigest } from "./password.ts";

function digestOf(text: string): string {
  return createHmac("sha384", "wp-sha384").update(text, "utf8").digest("base64");
}

test.each([
  ["plain", "correct horse", "correct horse"],
  ["quotation marks are slashed", `it's "it"`, `it\\'s \\"it\\"`],
  ["a backslash is doubled", "a\\b", "a\\\\b"],
  ["dollars and emoji stay", "$1 $& 🦄", "$1 $& 🦄"],
  ["whitespace at both ends is removed", " \t\r\nx y\v ", "x y"],
  ["NUL becomes a backslash and a zero, which are kept", "x\0", "x\\0"],
  ["PHP does not trim no-break spaces", "\u00a0x\u00a0", "\u00a0x\u00a0"],
])("the digest matches the login form's: %s", (_name, password, compared) => {
  expect(passwordDigest(password)).toBe(digestOf(compared));
});

test("a digest fits bcrypt's 72 bytes", () => {
  expect(passwordDigest("🦄".repeat(1000))).toMatch(/^[A-Za-z0-9+/]{64}$/);
});
