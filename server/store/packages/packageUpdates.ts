/** Updates of plugins and themes: which are available, and their results. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, PackageKind, UpdateStatus } from "../database.ts";
import { writeLocked } from "./packageWriteLock.ts";

/**
 * SQL expression: whether the package `p` can be updated. It must have its own folder and come from the package source.
 */
export const canBeUpdated = sql`not p.is_elsewhere and (p.kind = 'theme' or p.file like '%/%')`;

/** An installed package for an update. */
export interface UpdatablePackage {
  readonly name: string;
  readonly file: string;
  readonly version: string;
  readonly is_elsewhere: boolean;
  readonly update_version: string | null;
  /** The source's name, or null if the source does not know it or was not asked yet. */
  readonly slug: string | null;
}

/** Finds the packages with these names, sorted by name. */
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
  /** `key` is the sortable form of the version (`server/packages/versions.ts`). */
  readonly updates: readonly { readonly name: string; readonly to: string; readonly key: string }[];
  /**
   * `refused`: these versions don't work here. `failed`: the update failed for a reason unrelated to the versions.
   * `superseded`: another update was faster, so nothing was left to do.
   */
  readonly became: UpdateStatus | "refused" | "superseded";
}

/** Records the result of updates. Updated packages show the new version at once, before they are read again. */
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
