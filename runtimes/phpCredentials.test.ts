import { expect, test } from "vitest";
import { createPhpCredentials } from "./phpCredentials.ts";

const keys = (...fill: [number, ...number[]]) => {
  const all = fill.map((byte) => ({ bytes: Buffer.alloc(32, byte) }));
  return { newest: () => ({ bytes: Buffer.alloc(32, fill[0]) }), all: () => all };
};
const credentials = createPhpCredentials(keys(1));
const one = { id: "00000000-0000-4000-8000-000000000001", number: 1 };
const two = { id: "00000000-0000-4000-8000-000000000002", number: 2 };

test("a credential is one line that names its environment, for every process with the same key", () => {
  expect(credentials.of(one)).toMatch(/^[\x21-\x7e ]+$/);
  expect(createPhpCredentials(keys(1)).environmentOf(credentials.of(one))).toEqual(one);
  expect(credentials.environmentOf(credentials.of(two))).toEqual(two);
});

test("a credential of an older key stays valid until the key is removed", () => {
  const rotated = createPhpCredentials(keys(2, 1));
  expect(rotated.environmentOf(credentials.of(one))).toEqual(one);
  expect(credentials.environmentOf(rotated.of(one))).toBeNull();
});

test.each([
  ["another key", createPhpCredentials(keys(2)).of(one)],
  ["another environment's name", credentials.of(one).replace(one.id, two.id)],
  ["another number", credentials.of(one).replace(/^1 /, "2 ")],
  ["a shorter proof", credentials.of(one).slice(0, -4)],
  ["more", `${credentials.of(one)} `],
  ["no proof", `1 ${one.id} `],
  ["nothing", ""],
  ["a request", "GET / HTTP/1.1"],
])("a credential with %s is not valid", (_, forged) => {
  expect(credentials.environmentOf(forged)).toBeNull();
});
