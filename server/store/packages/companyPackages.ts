/**
 * Plugins and themes of a company, grouped by package, with the environments that have them.
 *
 * A company may have a thousand environments with thirty plugins each; a page of the list is then four megabytes, which
 * takes too long to read from PostgreSQL. So packages and groups are cached in memory. Each request reads only the
 * environments, their names and their versions (`package_versions`), and then only the packages of environments whose
 * version has changed. Unchanged groups keep their identity, so that an update of one plugin rebuilds and serialises
 * only the group of that plugin.
 */

import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { PackageKind } from "../database.ts";
import type { CompanyPackagesQuery, KnownPackage, NamedEnvironment } from "./knownPackages.ts";
import { type CompanyPackage, groupsOf, type PackageGroup, select } from "./packageGroups.ts";

interface CachedPackages {
  readonly version: string;
  readonly packages: readonly KnownPackage[];
}

/** By environment. */
interface Inventory {
  readonly cached: Map<string, CachedPackages>;
  readonly names: Map<string, NamedEnvironment>;
}

export interface CompanyPackages {
  readonly total: number;
  /** The oldest time at which an environment's packages were read, or null if none was read. */
  readonly read_at: Date | null;
  readonly items: readonly CompanyPackage[];
}

export interface CompanyPackageLists {
  list(query: CompanyPackagesQuery): Promise<CompanyPackages>;
}

/** Number of cached inventories (a company and a kind), of some twenty megabytes each with a thousand environments. */
const maxInventories = 8;

/** Sends the environments (200 KB for a thousand) only if their digest has changed. */
const presentQuery = `
  with present as materialized (
    select json_agg(json_build_array(e.id, e.site_id, s.display_name, e.display_name, v.version)
        order by s.created_at, s.id, e.number)::text as environments,
      min(e.packages_read_at) filter (where e.state <> 'adding' and e.wordpress_version is not null) as read_at
    from environments e join sites s on s.id = e.site_id left join package_versions v on v.environment_id = e.id
    where s.company_id = $1 and ($2::uuid[] is null or s.id = any($2))
  ), digested as materialized (select md5(environments) as digest, environments, read_at from present)
  select digest, case when digest is distinct from $3 then environments end as environments, read_at from digested`;

interface Present {
  /** Null if there are none. */
  readonly digest: string | null;
  /** `PresentRow`s as JSON; null if unchanged. */
  readonly environments: string | null;
  readonly read_at: Date | null;
}

type PresentRow = readonly [id: string, siteId: string, site: string, name: string, version: string | null];

const columns = [
  "name",
  "file",
  "title",
  "description",
  "version",
  "version_key",
  "update_version",
  "update_status",
  "is_active",
  "is_vulnerable",
  "is_update_vulnerable",
  "is_auto_updated",
  "is_managed",
] as const satisfies readonly (keyof KnownPackage)[];

/** A single statement, so that packages and version are consistent. */
const readQuery = `
  select v.environment_id, v.version, coalesce(json_agg(json_build_object(${columns
    .map((column) => `'${column}', p.${column}`)
    .join(", ")})) filter (where p.name is not null), '[]') as packages
  from package_versions v left join packages p on p.environment_id = v.environment_id and p.kind = $2
  where v.environment_id = any($1::uuid[]) group by v.environment_id`;

interface ReadRow extends CachedPackages {
  readonly environment_id: string;
}

/** The groups for a digest of environments. */
interface View {
  readonly digest: string | null;
  readonly groups: readonly PackageGroup[];
}

/** Create once per process. */
export function makeCompanyPackageLists(pool: Pool): CompanyPackageLists {
  const inventories = new LRUCache<string, Inventory>({ max: maxInventories });
  const views = new LRUCache<string, View>({ max: maxInventories });

  function inventoryOf(key: string): Inventory {
    const known = inventories.get(key);
    if (known !== undefined) return known;
    const created: Inventory = { cached: new Map(), names: new Map() };
    inventories.set(key, created);
    return created;
  }

  /** Reads the packages of environments whose version has changed. */
  async function refresh({ cached }: Inventory, rows: readonly PresentRow[], kind: PackageKind): Promise<void> {
    const stale = rows.flatMap(([id, , , , version]) =>
      version === null || cached.get(id)?.version === version ? [] : [id],
    );
    if (stale.length === 0) return;
    const query = { name: "read-inventory", text: readQuery, values: [stale, kind] };
    const { rows: read } = await pool.query<ReadRow>(query);
    for (const { environment_id: id, version, packages } of read) {
      cached.set(id, { version, packages: reuseEqual(packages, cached.get(id)?.packages ?? []) });
    }
  }

  async function buildView(
    { companyId, kind, siteIds }: CompanyPackagesQuery,
    present: Present,
    before: View | undefined,
  ): Promise<View> {
    const rows: readonly PresentRow[] = JSON.parse(present.environments ?? "[]");
    const inventory = inventoryOf(`${companyId} ${kind}`);
    await refresh(inventory, rows, kind);
    const environments = rows.map((row) => ({
      environment: updateName(inventory.names, row),
      packages: inventory.cached.get(row[0])?.packages ?? [],
    }));
    if (siteIds === null) removeGone(inventory, rows);
    return { digest: present.digest, groups: groupsOf(environments, before?.groups ?? []) };
  }

  return {
    list: async (query) => {
      const { companyId, kind, siteIds } = query;
      const key = JSON.stringify([companyId, kind, siteIds]);
      const known = views.get(key);
      const values = [companyId, siteIds, known?.digest ?? null];
      const { rows } = await pool.query<Present>({ name: "present-environments", text: presentQuery, values });
      const present = rows[0] ?? { digest: null, environments: null, read_at: null };
      const current = known?.digest === present.digest ? known : await buildView(query, present, known);
      views.set(key, current);
      const groups = select(current.groups, query);
      const end = query.limit === null ? groups.length : query.offset + query.limit;
      const items = await withOffers(pool, kind, groups.slice(query.offset, end));
      return { total: groups.length, read_at: present.read_at, items };
    },
  };
}

/** Replaces equal packages by the previous objects. */
function reuseEqual(packages: readonly KnownPackage[], before: readonly KnownPackage[]): readonly KnownPackage[] {
  const previous = new Map(before.map((each) => [each.name, each]));
  return packages.map((each) => {
    const old = previous.get(each.name);
    return old !== undefined && columns.every((column) => old[column] === each[column]) ? old : each;
  });
}

/** Returns the environment's names; the same object unless they have changed. */
function updateName(
  names: Map<string, NamedEnvironment>,
  [id, site_id, site_display_name, display_name]: PresentRow,
): NamedEnvironment {
  const known = names.get(id);
  if (known?.site_display_name === site_display_name && known.display_name === display_name) return known;
  const named = { id, site_id, site_display_name, display_name };
  names.set(id, named);
  return named;
}

/** Removes environments that no longer exist. */
function removeGone({ cached, names }: Inventory, rows: readonly PresentRow[]): void {
  if (names.size === rows.length) return;
  const present = new Set(rows.map(([id]) => id));
  for (const id of names.keys()) {
    if (present.has(id)) continue;
    names.delete(id);
    cached.delete(id);
  }
}

interface OfferRow {
  readonly file: string;
  readonly version: string;
  readonly is_vulnerable: boolean;
}

/** Adds the latest known version of each package: the offered one, or else the newest installed one. */
async function withOffers(
  pool: Pool,
  kind: PackageKind,
  groups: readonly PackageGroup[],
): Promise<readonly CompanyPackage[]> {
  const { rows } = await pool.query<OfferRow>({
    name: "offers-of-packages",
    text: "select file, version, is_vulnerable from package_offers where kind = $1 and file = any($2) and version is not null",
    values: [kind, groups.map(({ newest }) => newest.file)],
  });
  const offers = new Map(rows.map((row) => [row.file, row]));
  return groups.map((group) => {
    const latest = offers.get(group.newest.file) ?? group.newest;
    return { ...group, latest_version: latest.version, is_latest_version_vulnerable: latest.is_vulnerable };
  });
}
