/** Plugins or themes of all sites, each with where it is installed. */
import type { Place } from "../world/find.ts";
import { knownPackages } from "../world/packages.ts";
import type { InstalledPackage, PackageType } from "../world/world.ts";

interface Installation {
  readonly place: Place;
  readonly one: InstalledPackage;
}

export interface CompanyQuery {
  readonly status?: "active" | "inactive";
  readonly column?: "vulnerable" | "updatesAvailable";
  readonly search?: string;
  readonly order_by?: { readonly field: "name" | "environments" | "updates"; readonly order?: "ascend" | "descend" };
  readonly limit?: number;
  readonly offset?: number;
}

export function byPackage(places: readonly Place[], type: PackageType) {
  return knownPackages
    .filter((known) => known.type === type)
    .map(({ name, title, description, newest }) => {
      const found: Installation[] = places.flatMap((place) =>
        place.environment.packages.filter((one) => one.name === name).map((one) => ({ place, one })),
      );
      return {
        ...{ name, title, description, latest_version: newest },
        is_latest_version_vulnerable: false,
        environment_count: found.length,
        update_count: found.filter(({ one }) => one.newest !== undefined).length,
        places: found,
      };
    })
    .filter(({ places: found }) => found.length > 0);
}

type CompanyPackage = ReturnType<typeof byPackage>[number];

function matches({ name, title, update_count, places }: CompanyPackage, { status, column, search = "" }: CompanyQuery) {
  const isSought = `${name}\n${title}`.toLowerCase().includes(search.toLowerCase());
  const hasStatus = status === undefined || places.some(({ one }) => one.isActive === (status === "active"));
  const isVulnerable = column !== "vulnerable" || places.some(({ one }) => one.isVulnerable);
  return isSought && hasStatus && isVulnerable && (column !== "updatesAvailable" || update_count > 0);
}

const keys = {
  name: () => 0,
  environments: ({ environment_count }) => environment_count,
  updates: ({ update_count }) => update_count,
} satisfies Record<string, (one: CompanyPackage) => number>;

/** The matches, sorted as the query asks. */
export function orderedPackages(all: readonly CompanyPackage[], query: CompanyQuery): CompanyPackage[] {
  const { field = "name", order = "ascend" } = query.order_by ?? {};
  const key = keys[field];
  const sorted = all
    .filter((one) => matches(one, query))
    .toSorted((one, other) => key(one) - key(other) || one.name.localeCompare(other.name));
  return order === "descend" ? sorted.toReversed() : sorted;
}
