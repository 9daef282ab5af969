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
  ["blanks at the ends go", " \t\r\nx y\v ", "x y"],
  ["NUL is written as backslash and zero, and stays", "x\0", "x\\0"],
  ["a no-break space is not a blank to PHP", "\u00a0x\u00a0", "\u00a0x\u00a0"],
])("the digest is that of what the login form compares: %s", (_name, password, compared) => {
  expect(passwordDigest(password)).toBe(digestOf(compared));
});

test("a digest fits bcrypt's 72 bytes", () => {
  expect(passwordDigest("🦄".repeat(1000))).toMatch(/^[A-Za-z0-9+/]{64}$/);
});
