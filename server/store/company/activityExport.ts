/** Reads the activity log from its beginning, in pages, with the seals of each entry. */
import { sql } from "kysely";
import type { Database } from "../database.ts";
import type { EntryRow, SealRow } from "./activitySeals.ts";

export interface ExportFilter {
  /** Null: all companies, and the operator's entries. */
  readonly companyId: string | null;
  /** Only entries about these sites; null: all. */
  readonly siteIds: readonly string[] | null;
  /** Null: all. */
  readonly category: string | null;
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

export interface SealedEntry extends EntryRow {
  readonly seals: readonly SealRow[];
}

const pageSize = 500;

/** Runs queries, for example when it is a company's turn. */
type RunQueries = <T>(queries: () => Promise<T>) => Promise<T>;

/** Yields pages of entries, oldest first. Holds no connection, and no turn of `run`, between pages. */
export async function* readActivity(
  database: Database,
  filter: ExportFilter,
  run: RunQueries = (queries) => queries(),
): AsyncGenerator<readonly SealedEntry[]> {
  const { after, through } = await run(() => findBounds(database, filter));
  for (let last = after; ; ) {
    const entries = await run(async () =>
      withSeals(database, await readPage(database, filter, { after: last, through })),
    );
    if (entries.length > 0) yield entries;
    const newest = entries.at(-1);
    if (newest === undefined || entries.length < pageSize) return;
    last = newest.id;
  }
}

/** Ids: all entries of a period are after the first and not after the last. */
interface Bounds {
  readonly after: number;
  /** Null: no bound. */
  readonly through: number | null;
}

/** `created_at` is the start of the transaction; an entry got its id no more than this later. */
const toleranceSeconds = 600;

/** Returns the bounds of the period, so that entries long before or after it are not read. */
async function findBounds(database: Database, { from, to }: ExportFilter): Promise<Bounds> {
  const { rows } = await sql<{ after: number | null; through: number | null }>`
    select
      (select id from activity where created_at < ${from}::timestamptz - make_interval(secs => ${toleranceSeconds}::int)
        order by created_at desc limit 1) as after,
      (select id from activity where created_at > ${to}::timestamptz + make_interval(secs => ${toleranceSeconds}::int)
        order by created_at limit 1) as through`.execute(database);
  return { after: rows[0]?.after ?? 0, through: rows[0]?.through ?? null };
}

function readPage(
  database: Database,
  { companyId, siteIds, category, from, to }: ExportFilter,
  { after, through }: Bounds,
) {
  let query = database.selectFrom("activity").selectAll().where("id", ">", after);
  if (through !== null) query = query.where("id", "<=", through);
  if (companyId !== null) query = query.where("company_id", "=", companyId);
  if (siteIds !== null) query = query.where(sql<boolean>`site_id = any(${siteIds}::uuid[])`);
  if (category !== null) query = query.where("category", "=", category);
  if (from !== null) query = query.where("created_at", ">=", from);
  if (to !== null) query = query.where("created_at", "<", to);
  return query.orderBy("id").limit(pageSize).execute();
}

async function withSeals(database: Database, entries: readonly EntryRow[]): Promise<SealedEntry[]> {
  if (entries.length === 0) return [];
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
