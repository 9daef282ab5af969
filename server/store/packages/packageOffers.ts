/** Versions that the package source offers, and the resulting updates of installed packages. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, PackageKind } from "../database.ts";
import { writeLocked } from "./packageWriteLock.ts";

/** The source's current version of a package. All values but `file` are null if the source does not know it. */
export interface NewOffer {
  readonly file: string;
  readonly slug: string | null;
  readonly version: string | null;
  readonly version_key: string | null;
  readonly php_key: string | null;
  readonly wordpress_key: string | null;
}

/** Interval between checks of a package. */
const checkHours = 3;

/** Finds installed packages that were never checked or whose check is due. Returns their `file`s. All have an offer. */
export async function findDueForCheck(
  database: Database,
  kind: PackageKind,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ file: string }>`
    select o.file from package_offers o
    where o.kind = ${kind} and (o.checked_at > now() or o.checked_at < now() - make_interval(hours => ${checkHours}))
      and exists (select from packages p where p.kind = o.kind and p.file = o.file and not p.is_elsewhere)
    order by o.file limit ${limit}`.execute(database);
  return rows.map(({ file }) => file);
}

/** Adds offers that were never checked, for packages without one. Call it under the lock of `packageWriteLock.ts`. */
export async function addOffers(
  transaction: DatabaseTransaction,
  packages: readonly { readonly kind: PackageKind; readonly file: string }[],
): Promise<void> {
  await sql`
    insert into package_offers (kind, file, checked_at)
    select distinct kind, file, timestamptz '-infinity'
    from jsonb_to_recordset(${JSON.stringify(packages)}::jsonb) as n(kind text, file text)
    on conflict do nothing`.execute(transaction);
}

/** Removes offers of packages that are no longer installed. */
export async function removeUnusedOffers(database: Database): Promise<void> {
  await writeLocked(
    database,
    sql`delete from package_offers o
      where not exists (select from packages p where p.kind = o.kind and p.file = o.file)`,
  );
}

export async function noteOffers(database: Database, kind: PackageKind, offers: readonly NewOffer[]): Promise<void> {
  await sql`
    insert into package_offers (kind, file, slug, version, version_key, php_key, wordpress_key)
    select ${kind}, file, slug, version, version_key, php_key, wordpress_key
    from jsonb_to_recordset(${JSON.stringify(offers)}::jsonb) as n(
      file text, slug text, version text, version_key text, php_key text, wordpress_key text)
    on conflict (kind, file) do update set slug = excluded.slug, version = excluded.version,
      version_key = excluded.version_key, php_key = excluded.php_key, wordpress_key = excluded.wordpress_key,
      checked_at = now()`.execute(database);
}

/** Finds the PHP and WordPress versions in use. */
export async function findPlatforms(
  database: Database | DatabaseTransaction,
): Promise<{ readonly php: string[]; readonly wordpress: string[] }> {
  const { rows } = await sql<{ php: string[]; wordpress: string[] }>`
    select coalesce(array_agg(distinct php_version), '{}') as php,
      coalesce(array_agg(distinct wordpress_version) filter (where wordpress_version is not null), '{}') as wordpress
    from environments`.execute(database);
  return rows[0] ?? { php: [], wordpress: [] };
}

/** Sortable keys by version. */
export interface PlatformKeys {
  readonly php: Readonly<Record<string, string>>;
  readonly wordpress: Readonly<Record<string, string>>;
}

/**
 * Updates which newer versions are available for installed packages: offered versions that run on the environment's PHP
 * and WordPress. `environmentIds` is null for all environments.
 */
export async function refreshUpdates(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[] | null,
  keys: PlatformKeys,
): Promise<void> {
  await writeLocked(
    database,
    sql`
    update packages p set update_version = n.version
    from (
      select p.environment_id, p.kind, p.name, case when not p.is_elsewhere and o.version_key > p.version_key
        and (o.php_key is null or o.php_key <= (${JSON.stringify(keys.php)}::jsonb ->> e.php_version) collate "C")
        and (o.wordpress_key is null
          or o.wordpress_key <= (${JSON.stringify(keys.wordpress)}::jsonb ->> e.wordpress_version) collate "C")
        then o.version end as version
      from packages p join environments e on e.id = p.environment_id
        left join package_offers o on o.kind = p.kind and o.file = p.file
      where ${environmentIds === null ? null : [...environmentIds]}::uuid[] is null
        or p.environment_id = any(${environmentIds === null ? null : [...environmentIds]}::uuid[])
    ) n
    where (p.environment_id, p.kind, p.name) = (n.environment_id, n.kind, n.name)
      and p.update_version is distinct from n.version`,
  );
}
