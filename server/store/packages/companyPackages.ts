/**
 * Plugins and themes of a whole company: each once, with the environments that have it.
 *
 * A company may have a thousand environments with thirty plugins each, and a page of the list is then four megabytes. To have
 * PostgreSQL hand over so much takes longer than whoever asks should wait. So what environments have is kept in memory, and what
 * was put together of it; each time the database is asked which environments there are, how they are called, and whether what
 * is known of each still holds (`package_versions`), and only what does not is read again. What comes out the same is the same
 * object as before, so that of a fleet in which one plugin after the other is updated only that one is put together and written
 * anew.
 */

import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { PackageKind } from "../database.ts";
import type { CompanyPackagesQuery, KnownPackage, NamedEnvironment } from "./knownPackages.ts";
import { type CompanyPackage, groupsOf, type PackageGroup, select } from "./packageGroups.ts";

interface Kept {
  readonly version: string;
  readonly packages: readonly KnownPackage[];
}

/** By environment. */
interface Inventory {
  readonly kept: Map<string, Kept>;
  readonly names: Map<string, NamedEnvironment>;
}

export interface CompanyPackages {
  readonly total: number;
  /** When that of the environments was read which was read longest ago; null: none was. */
  readonly read_at: Date | null;
  readonly items: readonly CompanyPackage[];
}

export interface CompanyPackageLists {
  list(query: CompanyPackagesQuery): Promise<CompanyPackages>;
}

/** Companies and kinds, of some twenty megabytes each where there are a thousand environments. */
const keptInventories = 8;

/** Which environments there are is two hundred kilobytes for a thousand of them, and is sent only where it is not what is known. */
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
  /** Null: there are none. */
  readonly digest: string | null;
  /** Of `PresentRow`s, as JSON. */
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

/** One statement: what an environment has is what it had in that version. */
const readQuery = `
  select v.environment_id, v.version, coalesce(json_agg(json_build_object(${columns
    .map((column) => `'${column}', p.${column}`)
    .join(", ")})) filter (where p.name is not null), '[]') as packages
  from package_versions v left join packages p on p.environment_id = v.environment_id and p.kind = $2
  where v.environment_id = any($1::uuid[]) group by v.environment_id`;

interface ReadRow extends Kept {
  readonly environment_id: string;
}

/** What was put together when the environments were said to be these. */
interface View {
  readonly digest: string | null;
  readonly groups: readonly PackageGroup[];
}

/** For as long as the process lives. */
export function makeCompanyPackageLists(pool: Pool): CompanyPackageLists {
  const inventories = new LRUCache<string, Inventory>({ max: keptInventories });
  const views = new LRUCache<string, View>({ max: keptInventories });

  function inventoryOf(key: string): Inventory {
    const known = inventories.get(key);
    if (known !== undefined) return known;
    const made: Inventory = { kept: new Map(), names: new Map() };
    inventories.set(key, made);
    return made;
  }

  /** Reads again what is another than before. */
  async function refresh({ kept }: Inventory, rows: readonly PresentRow[], kind: PackageKind): Promise<void> {
    const stale = rows.flatMap(([id, , , , version]) =>
      version === null || kept.get(id)?.version === version ? [] : [id],
    );
    if (stale.length === 0) return;
    const query = { name: "read-inventory", text: readQuery, values: [stale, kind] };
    const { rows: read } = await pool.query<ReadRow>(query);
    for (const { environment_id: id, version, packages } of read) {
      kept.set(id, { version, packages: withSame(packages, kept.get(id)?.packages ?? []) });
    }
  }

  async function view(
    { companyId, kind, siteIds }: CompanyPackagesQuery,
    present: Present,
    before: View | undefined,
  ): Promise<View> {
    const rows: readonly PresentRow[] = JSON.parse(present.environments ?? "[]");
    const inventory = inventoryOf(`${companyId} ${kind}`);
    await refresh(inventory, rows, kind);
    const environments = rows.map((row) => ({
      environment: noteName(inventory.names, row),
      packages: inventory.kept.get(row[0])?.packages ?? [],
    }));
    if (siteIds === null) forgetOthers(inventory, rows);
    return { digest: present.digest, groups: groupsOf(environments, before?.groups ?? []) };
  }

  return {
    list: async (query) => {
      const { companyId, kind, siteIds } = query;
      const key = [companyId, kind, ...(siteIds ?? [])].join(" ");
      const known = views.get(key);
      const values = [companyId, siteIds, known?.digest ?? null];
      const { rows } = await pool.query<Present>({ name: "present-environments", text: presentQuery, values });
      const present = rows[0] ?? { digest: null, environments: null, read_at: null };
      const current = known?.digest === present.digest ? known : await view(query, present, known);
      views.set(key, current);
      const groups = select(current.groups, query);
      const end = query.limit === null ? groups.length : query.offset + query.limit;
      const items = await withOffers(pool, kind, groups.slice(query.offset, end));
      return { total: groups.length, read_at: present.read_at, items };
    },
  };
}

/** Those of them that are what they were are the same objects. */
function withSame(packages: readonly KnownPackage[], before: readonly KnownPackage[]): readonly KnownPackage[] {
  const known = new Map(before.map((one) => [one.name, one]));
  return packages.map((one) => {
    const same = known.get(one.name);
    return same !== undefined && columns.every((column) => same[column] === one[column]) ? same : one;
  });
}

/** The same object as long as it is called the same. */
function noteName(
  names: Map<string, NamedEnvironment>,
  [id, site_id, site_display_name, display_name]: PresentRow,
): NamedEnvironment {
  const known = names.get(id);
  if (known?.site_display_name === site_display_name && known.display_name === display_name) return known;
  const named = { id, site_id, site_display_name, display_name };
  names.set(id, named);
  return named;
}

/** What is gone. */
function forgetOthers({ kept, names }: Inventory, rows: readonly PresentRow[]): void {
  if (names.size === rows.length) return;
  const present = new Set(rows.map(([id]) => id));
  for (const id of names.keys()) {
    if (present.has(id)) continue;
    names.delete(id);
    kept.delete(id);
  }
}

interface OfferRow {
  readonly file: string;
  readonly version: string;
  readonly is_vulnerable: boolean;
}

/** The newest version that is known of each: that which is offered, or the newest that is installed. */
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
