import { expect, test } from "vitest";
import { readBasicUser } from "./basicUser.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");

test.each([
  [`Basic ${encode("Ada:correct horse")}`, "ada"],
  [`basic ${encode("adé:a:b")}`, "adé"],
  [`BASIC  ${encode("ada")}`, "ada"],
  [`Basic ${encode(`${"a".repeat(100)}:x`)}`, "a".repeat(60)],
  [`Basic ${encode(":x")}`, ""],
  ["Basic", ""],
  ["Basic ?", ""],
  ["Bearer abc", null],
  ["Basics abc", null],
  ["", null],
  [undefined, null],
])("the user of %j is %j", (header, user) => {
  expect(readBasicUser(header)).toBe(user);
});
