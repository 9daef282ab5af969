/** What environments have, turned round: each package once, with those that have it; filtered and in order. */
import type { CompanyPackagesQuery, KnownEnvironment, KnownPackage, NamedEnvironment } from "./knownPackages.ts";

/** One environment that has it. */
export interface PackageHolder {
  readonly environment: NamedEnvironment;
  readonly entry: KnownPackage;
}

export interface PackageGroup {
  readonly name: string;
  /** Its name and what it is called where it is installed, each once, in lower case: what a search looks at. */
  readonly searched: readonly string[];
  /** Of those that are installed. */
  readonly newest: KnownPackage;
  readonly update_count: number;
  /** By site and environment. The same list as long as nothing of it is another. */
  readonly holders: readonly PackageHolder[];
}

export interface CompanyPackage extends PackageGroup {
  readonly latest_version: string;
  readonly is_latest_version_vulnerable: boolean;
}

/** `before`: groups that were made before, which are given again where nothing of them is another. */
export function groupsOf(
  environments: readonly KnownEnvironment[],
  before: readonly PackageGroup[],
): readonly PackageGroup[] {
  const byName = new Map<string, PackageHolder[]>();
  for (const { environment, packages } of environments) {
    for (const entry of packages) {
      const holders = byName.get(entry.name);
      if (holders === undefined) byName.set(entry.name, [{ environment, entry }]);
      else holders.push({ environment, entry });
    }
  }
  const made = new Map(before.map((group) => [group.name, group]));
  return [...byName].map(([name, holders]) => {
    const known = made.get(name);
    return known !== undefined && areSame(known.holders, holders) ? known : groupOf(name, holders);
  });
}

function areSame(some: readonly PackageHolder[], others: readonly PackageHolder[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ environment, entry }, at) => environment === others[at]?.environment && entry === others[at]?.entry)
  );
}

function groupOf(name: string, holders: readonly PackageHolder[]): PackageGroup {
  const newer = (one: KnownPackage, other: KnownPackage) => (other.version_key > one.version_key ? other : one);
  const newest = holders.map(({ entry }) => entry).reduce(newer);
  const update_count = holders.filter(({ entry }) => entry.update_version !== null).length;
  const searched = new Set(
    [name, ...new Set(holders.map(({ entry }) => entry.title))].map((text) => text.toLowerCase()),
  );
  return { name, searched: [...searched], newest, update_count, holders };
}

function fits(
  { searched, holders, update_count }: PackageGroup,
  { search, status, column }: CompanyPackagesQuery,
): boolean {
  const wanted = search?.toLowerCase() ?? "";
  if (!searched.some((text) => text.includes(wanted))) return false;
  if (status !== null && !holders.some(({ entry }) => entry.is_active === (status === "active"))) return false;
  if (column === "vulnerable") return holders.some(({ entry }) => entry.is_vulnerable);
  return column === null || update_count > 0;
}

const byName = (one: PackageGroup, other: PackageGroup) => (one.name < other.name ? -1 : Number(one.name > other.name));

/** Those that are wished, all pages of them. */
export function select(groups: readonly PackageGroup[], query: CompanyPackagesQuery): readonly PackageGroup[] {
  const { field, order } = query;
  const direction = order === "ascend" ? 1 : -1;
  const count = (group: PackageGroup) => (field === "updates" ? group.update_count : group.holders.length);
  const inOrder = (one: PackageGroup, other: PackageGroup) =>
    field === "name" ? direction * byName(one, other) : direction * (count(one) - count(other)) || byName(one, other);
  return groups.filter((group) => fits(group, query)).toSorted(inOrder);
}
