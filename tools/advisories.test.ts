import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { advisoriesOf, findMatches, isSevere, readAdvisoryFile } from "./advisoryFile.ts";
import { readLockedPackages } from "./lockedPackages.ts";

const root = join(import.meta.dirname, "..");
const advisory = {
  name: "left",
  range: ">=1.0.0 <1.2.3",
  severity: "high",
  title: "Reads files",
  url: "https://a.example/1",
} as const;

test("no package has a known vulnerability of high or critical severity", () => {
  const { advisories } = readAdvisoryFile(readFileSync(join(root, "tools", "advisories.json"), "utf8"));
  const matches = findMatches(readLockedPackages(join(root, "package-lock.json")), advisories);
  expect(matches.filter((match) => isSevere(match.advisory))).toEqual([]);
});

test("packages of every version and nesting in the lockfile are compared", () => {
  const packages = readLockedPackages(join(root, "package-lock.json"));
  expect(packages.length).toBeGreaterThan(400);
  expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(["fastify", "@php-wasm/node", "semver"]));
  expect(packages.map(({ name }) => name)).not.toContain("@sitewright/server");
});

test.each([
  ["1.0.0", true],
  ["1.2.2", true],
  ["1.2.3-beta.1", true],
  ["1.2.3", false],
  ["0.9.9", false],
])("version %s is affected: %s", (version, isAffected) => {
  expect(findMatches([{ name: "left", version }], [advisory])).toHaveLength(isAffected ? 1 : 0);
  expect(findMatches([{ name: "right", version }], [advisory])).toEqual([]);
});

test("the output of npm audit is read, and an error of the registry is not taken for a clean report", () => {
  const report = {
    vulnerabilities: {
      left: { via: [{ ...advisory, source: 1, dependency: "left", cwe: [] }] },
      above: { via: ["left", { ...advisory, source: 1, dependency: "left" }] },
    },
  };
  expect(advisoriesOf(JSON.stringify(report))).toEqual([advisory]);
  expect(() => advisoriesOf('{"message":"405 Method Not Allowed","statusCode":405}')).toThrow(
    "npm audit gave no report",
  );
});
