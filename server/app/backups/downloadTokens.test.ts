import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { fixedKeys } from "../../keyFile.ts";
import { makeDownloadTokens } from "./downloadTokens.ts";

const tokens = makeDownloadTokens(fixedKeys(Buffer.alloc(32, 1)));
const id = randomUUID();

test("a token decodes to its id, is deterministic, and is safe in a URL path", () => {
  expect(tokens.idOf(tokens.tokenOf(id))).toBe(id);
  expect(tokens.tokenOf(id)).toBe(tokens.tokenOf(id));
  expect(tokens.tokenOf(id)).toMatch(/^[A-Za-z0-9_-]{64}$/);
});

test("a token can't be forged from the id, another token, or another installation's key", () => {
  const other = makeDownloadTokens(fixedKeys(Buffer.alloc(32, 2)));
  expect(tokens.idOf(other.tokenOf(id))).toBeNull();
  const [mine, theirs] = [tokens.tokenOf(id), tokens.tokenOf(randomUUID())].map((token) =>
    Buffer.from(token, "base64url"),
  );
  const mixed = Buffer.concat([mine?.subarray(0, 16) ?? Buffer.alloc(0), theirs?.subarray(16) ?? Buffer.alloc(0)]);
  expect(tokens.idOf(mixed.toString("base64url"))).toBeNull();
});

test("rejects a token with a changed character, another length, or another encoding of the same bytes", () => {
  const token = tokens.tokenOf(id);
  const changed = Array.from(
    token,
    (letter, at) => token.slice(0, at) + (letter === "A" ? "B" : "A") + token.slice(at + 1),
  );
  for (const wrong of [
    ...changed,
    "",
    "x",
    token.slice(1),
    `${token}A`,
    `${token}=`,
    token.replace(/.$/, " "),
    "é".repeat(64),
  ]) {
    expect(tokens.idOf(wrong)).toBeNull();
  }
});
