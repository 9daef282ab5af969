import { expect, test } from "vitest";
import { compareVersions, versionKey } from "./versions.ts";

/** In the order of PHP's `version_compare`, oldest first. */
const inOrder = [
  [
    "",
    "1.0-dev",
    "1.0-alpha1",
    "1.0-alpha2",
    "1.0-beta",
    "1.0-beta2",
    "1.0-RC1",
    "1.0",
    "1.0.0",
    "1.0.1",
    "1.0.10",
    "1.1",
  ],
  ["5.9", "5.10", "6.0-RC3", "6.0", "6.0.1", "7.1.4", "20240101"],
  ["1.0-foo", "1.0-dev", "1.0", "1.0pl1", "1.1"],
  ["0.9", "1", "1.0", "1.0.0.1", "2"],
  ["1.9.99999999999999", "1.10"],
];

test.each(inOrder)("versions are sorted, from %s", (...versions) => {
  const shuffled = versions.toSorted((one, other) => (one < other ? 1 : -1));
  expect(shuffled.toSorted(compareVersions)).toEqual(versions);
  expect(shuffled.toSorted((one, other) => (versionKey(one) < versionKey(other) ? -1 : 1))).toEqual(versions);
});

test.each([
  ["1.0", "1.0"],
  ["1.0-RC1", "1.0RC1"],
  ["1.0.beta.2", "1.0b2"],
  ["01.02", "1.2"],
  ["1..0", "1.0"],
])("%s equals %s", (one, other) => {
  expect(compareVersions(one, other)).toBe(0);
});

test("endless and meaningless versions have a key too", () => {
  expect(versionKey("9".repeat(1_000_000)).length).toBeLessThan(100);
  expect(compareVersions("trunk", "0.1")).toBeLessThan(0);
  expect(compareVersions("🦄", "0")).toBeLessThan(0);
});
