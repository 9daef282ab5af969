/** Known vulnerabilities of npm packages: the file in the repository, and the output of `npm audit --json`. */
import { satisfies, validRange } from "semver";
import * as v from "valibot";
import type { LockedPackage } from "./lockedPackages.ts";

const severities = ["info", "low", "moderate", "high", "critical"] as const;

const Advisory = v.object({
  name: v.string(),
  /** The affected versions, as npm writes ranges: `>=1.0.0 <1.2.3`. */
  range: v.pipe(
    v.string(),
    v.check((range) => validRange(range) !== null, "is not a range of versions"),
  ),
  severity: v.picklist(severities),
  title: v.string(),
  url: v.string(),
});
export type Advisory = v.InferOutput<typeof Advisory>;

const AdvisoryFile = v.object({
  /** When the registry was asked, or null if it never was. */
  checkedAt: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
  advisories: v.array(Advisory),
});
export type AdvisoryFile = v.InferOutput<typeof AdvisoryFile>;

/** A package that is affected only through another one has the name of that one in `via`. */
const AuditReport = v.object({
  vulnerabilities: v.record(v.string(), v.object({ via: v.array(v.union([v.string(), Advisory])) })),
});

/** Throws if the text is not the file's. */
export function readAdvisoryFile(text: string): AdvisoryFile {
  return v.parse(AdvisoryFile, JSON.parse(text));
}

/** The advisories in the output of `npm audit --json`. Throws if it is no report: the registry may have refused it. */
export function advisoriesOf(auditReport: string): Advisory[] {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), AuditReport), auditReport);
  if (!parsed.success) {
    throw new Error(
      `npm audit gave no report. Run it on a machine that reaches the registry.\n${auditReport.slice(0, 500)}`,
    );
  }
  const found = Object.values(parsed.output.vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((one) => typeof one !== "string");
  const unique = new Map(found.map((advisory) => [JSON.stringify(advisory), advisory]));
  return [...unique.values()].toSorted((one, other) => (one.name + one.url < other.name + other.url ? -1 : 1));
}

/** Finds the affected packages. */
export function findMatches(packages: readonly LockedPackage[], advisories: readonly Advisory[]) {
  const byName = Map.groupBy(advisories, ({ name }) => name);
  return packages.flatMap(({ name, version }) =>
    (byName.get(name) ?? [])
      .filter(({ range }) => satisfies(version, range, { includePrerelease: true }))
      .map((advisory) => ({ name, version, advisory })),
  );
}

/** Whether a match must be fixed before a change is accepted. */
export const isSevere = ({ severity }: Advisory): boolean => severity === "high" || severity === "critical";
