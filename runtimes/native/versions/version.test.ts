import { expect, test } from "vitest";
import { compareVersions, isOffered, parseVersion } from "./version.ts";

test.each([
  ["8.2.36", { minor: "8.2", full: "8.2.36" }],
  ["8.6.0RC1", { minor: "8.6", full: "8.6.0RC1" }],
  ["8.5.0-dev", { minor: "8.5", full: "8.5.0-dev" }],
  ["", null],
  ["8.2", null],
  ["eight", null],
])("parseVersion(%j)", (text, version) => {
  expect(parseVersion(text)).toEqual(version);
});

test("versions are sorted by number, and a candidate comes before its release", () => {
  const inOrder = ["7.4.33", "8.2.9", "8.2.36", "8.6.0RC2", "8.6.0RC10", "8.6.0", "8.10.1"];
  expect(inOrder.toReversed().toSorted(compareVersions)).toEqual(inOrder);
});

test("8.1 and newer versions are offered", () => {
  const offered = ["7.4.33", "8.0.30", "8.1.0", "8.10.0", "9.0.0"].filter((full) => isOffered({ minor: "", full }));
  expect(offered).toEqual(["8.1.0", "8.10.0", "9.0.0"]);
});
