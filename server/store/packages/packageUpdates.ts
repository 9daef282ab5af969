/** Updates of plugins and themes: what is to be updated, and what became of it. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, PackageKind, UpdateStatus } from "../database.ts";
import { writeLocked } from "./packageWriteLock.ts";

/** Only what has a folder of its own and comes from the package source can be updated. The package is `p`. */
export const canBeUpdated = sql`not p.is_elsewhere and (p.kind = 'theme' or p.file like '%/%')`;

/** What an update must know of one that is installed. */
export interface UpdatablePackage {
  readonly name: string;
  readonly file: string;
  readonly version: string;
  readonly is_elsewhere: boolean;
  readonly update_version: string | null;
  /** As the source calls it; null: it does not know it, or was not asked yet. */
  readonly slug: string | null;
}

/** By slug; of these names only. */
export async function findUpdatable(
  database: Database | DatabaseTransaction,
  environmentId: string,
  kind: PackageKind,
  names: readonly string[],
): Promise<readonly UpdatablePackage[]> {
  if (names.length === 0) return [];
  return database
    .selectFrom("packages as p")
    .leftJoin("package_offers as o", (join) => join.onRef("o.kind", "=", "p.kind").onRef("o.file", "=", "p.file"))
    .select(["p.name", "p.file", "p.version", "p.is_elsewhere", "p.update_version", "o.slug"])
    .where("p.environment_id", "=", environmentId)
    .where("p.kind", "=", kind)
    .where("p.name", "in", [...names])
    .orderBy("p.name")
    .execute();
}

export interface NotedUpdates {
  readonly environmentId: string;
  readonly kind: PackageKind;
  /** `key`: of the version (`server/packages/versions.ts`). */
  readonly updates: readonly { readonly name: string; readonly to: string; readonly key: string }[];
  /**
   * `refused`: these versions are not good here, whereas nothing is known of those that `failed` for another reason. `superseded`:
   * somebody else was first, so that there was nothing to be done any more.
   */
  readonly became: UpdateStatus | "refused" | "superseded";
}

/** What was updated has the new version at once: it is read again in a moment. */
export async function notePackageUpdates(
  database: Database | DatabaseTransaction,
  { environmentId, kind, updates, became }: NotedUpdates,
): Promise<void> {
  await writeLocked(
    database,
    sql`
    update packages p set update_status = case ${became} when 'refused' then 'failed'
        when 'superseded' then nullif(p.update_status, 'updating') else ${became} end,
      failed_version = case when ${became} = 'refused' then n."to" else p.failed_version end,
      failed_at = case when ${became} = 'refused' then now() else p.failed_at end,
      failed_among = case when ${became} = 'refused' then ${updates.length}::int else p.failed_among end,
      hindered_at = case when ${became} = 'failed' then now() end,
      hindered_among = case when ${became} = 'failed' then ${updates.length}::int end,
      version = case when ${became} = 'updated' then n."to" else p.version end,
      version_key = case when ${became} = 'updated' then n.key else p.version_key end
    from jsonb_to_recordset(${JSON.stringify(updates)}::jsonb) as n(name text, "to" text, key text)
    where p.environment_id = ${environmentId} and p.kind = ${kind} and p.name = n.name`,
  );
}
