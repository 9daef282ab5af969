/** Reads the activity log from its beginning, in pages, with the seals of each entry. */
import { sql } from "kysely";
import type { Database } from "../database.ts";
import type { EntryRow, SealRow } from "./activitySeals.ts";

export interface ExportFilter {
  /** Null: all companies, and the operator's entries. */
  readonly companyId: string | null;
  /** Only entries about these sites; null: all. */
  readonly siteIds: readonly string[] | null;
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

export interface SealedEntry extends EntryRow {
  readonly seals: readonly SealRow[];
}

const pageSize = 500;

/** Yields pages of entries, oldest first. Holds no connection between pages. */
export async function* readActivity(database: Database, filter: ExportFilter): AsyncGenerator<readonly SealedEntry[]> {
  for (let last = 0; ; ) {
    const entries = await readPage(database, filter, last);
    if (entries.length > 0) yield await withSeals(database, entries);
    const newest = entries.at(-1);
    if (newest === undefined || entries.length < pageSize) return;
    last = newest.id;
  }
}

function readPage(database: Database, { companyId, siteIds, from, to }: ExportFilter, after: number) {
  let query = database.selectFrom("activity").selectAll().where("id", ">", after);
  if (companyId !== null) query = query.where("company_id", "=", companyId);
  if (siteIds !== null) query = query.where(sql<boolean>`site_id = any(${siteIds}::uuid[])`);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query.orderBy("id").limit(pageSize).execute();
}

async function withSeals(database: Database, entries: readonly EntryRow[]): Promise<SealedEntry[]> {
  const ids = entries.map(({ id }) => id);
  const seals = await database
    .selectFrom("activity_seals")
    .selectAll()
    .where(sql<boolean>`activity_id = any(${ids}::bigint[])`)
    .orderBy("sequence")
    .execute();
  const byEntry = Map.groupBy(seals, ({ activity_id }) => activity_id);
  return entries.map((entry) => ({ ...entry, seals: byEntry.get(entry.id) ?? [] }));
}
