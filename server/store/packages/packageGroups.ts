/** Groups the packages of environments by package, and filters and sorts the groups. */
import type { CompanyPackagesQuery, KnownEnvironment, KnownPackage, NamedEnvironment } from "./knownPackages.ts";

/** An environment that has the package. */
export interface PackageHolder {
  readonly environment: NamedEnvironment;
  readonly entry: KnownPackage;
}

export interface PackageGroup {
  readonly name: string;
  /** Texts for searches: the name and all titles, without duplicates, in lower case. */
  readonly searched: readonly string[];
  /** The entry with the newest installed version. */
  readonly newest: KnownPackage;
  readonly update_count: number;
  /** By site and environment. Keeps its identity while nothing in it changes. */
  readonly holders: readonly PackageHolder[];
}

export interface CompanyPackage extends PackageGroup {
  readonly latest_version: string;
  readonly is_latest_version_vulnerable: boolean;
}

/** Groups packages by name. Reuses unchanged groups of `before`. */
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
  const previous = new Map(before.map((group) => [group.name, group]));
  return [...byName].map(([name, holders]) => {
    const old = previous.get(name);
    return old !== undefined && areEqual(old.holders, holders) ? old : groupOf(name, holders);
  });
}

function areEqual(some: readonly PackageHolder[], others: readonly PackageHolder[]): boolean {
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

function matches(
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

/** Returns the groups that match the query, sorted, on all pages. */
export function select(groups: readonly PackageGroup[], query: CompanyPackagesQuery): readonly PackageGroup[] {
  const { field, order } = query;
  const direction = order === "ascend" ? 1 : -1;
  const count = (group: PackageGroup) => (field === "updates" ? group.update_count : group.holders.length);
  const compare = (one: PackageGroup, other: PackageGroup) =>
    field === "name" ? direction * byName(one, other) : direction * (count(one) - count(other)) || byName(one, other);
  return groups.filter((group) => matches(group, query)).toSorted(compare);
}
