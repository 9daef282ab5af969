/** Numbers of PHP's versions. */

export interface PhpVersion {
  /** Such as `8.2`. */
  readonly minor: string;
  /** Such as `8.2.36` or `8.6.0RC1`. */
  readonly full: string;
}

const pattern = /^(\d+)\.(\d+)\.(\d+)(\S*)$/;

/** Returns null if the text is not the full number of a version. */
export function parseVersion(full: string): PhpVersion | null {
  const [, major, minor] = pattern.exec(full) ?? [];
  return major === undefined || minor === undefined ? null : { minor: `${major}.${minor}`, full };
}

/** Below 0 if the first one is older, for sorting. `8.6.0RC1` is older than `8.6.0`. */
export function compareVersions(one: string, other: string): number {
  const [, ...parts] = pattern.exec(one) ?? [];
  const [, ...others] = pattern.exec(other) ?? [];
  const differences = [0, 1, 2].map((index) => Number(parts[index]) - Number(others[index]));
  const [suffix = "", otherSuffix = ""] = [parts[3], others[3]];
  return differences.find((difference) => difference !== 0) ?? compareSuffixes(suffix, otherSuffix);
}

function compareSuffixes(one: string, other: string): number {
  if (one === other) return 0;
  if (one === "" || other === "") return one === "" ? 1 : -1;
  return one.localeCompare(other, "en", { numeric: true });
}

/** Whether WordPress on this version is offered: `8.1` or newer. */
export function isOffered({ full }: PhpVersion): boolean {
  return compareVersions(full, "8.1.0") >= 0;
}
