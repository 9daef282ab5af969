/**
 * Packs as rows: those that are to be read again; and those that no backup needs, which are first condemned (state `doomed`), so that nobody
 * relies on them any more, and removed after a while.
 */
import { type ExpressionBuilder, sql } from "kysely";
import type { Database, Tables } from "../database.ts";

export interface CondemnedPack {
  readonly id: string;
  readonly companyId: string;
}

const together = 1_000;
const removedTogether = 500;

function isUnneeded({ not, exists, selectFrom }: ExpressionBuilder<Tables, "packs">) {
  return not(exists(selectFrom("backup_packs").whereRef("backup_packs.pack_id", "=", "packs.id").select("pack_id")));
}

/**
 * Moments that are still to come are of a clock that was put back since: those become this one. Otherwise nothing would come of
 * the packs until then, and each other pack of a company would count as unread that was read before one was lost.
 */
export async function bringBackMoments(database: Database, now: Date): Promise<void> {
  await database.updateTable("packs").set({ state_since: now }).where("state_since", ">", now).execute();
}

/** Condemns packs that were written, or begun, before `before` and that no backup needs. Returns how many, of many at most. */
export async function condemnPacks(database: Database, before: Date, now = new Date()): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const unneeded = await transaction
      .selectFrom("packs")
      .where("state", "<>", "doomed")
      .where("state_since", "<", before)
      .where(isUnneeded)
      .select("id")
      .limit(together)
      .forUpdate()
      .skipLocked()
      .execute();
    if (unneeded.length === 0) return 0;
    // A backup may have started to need one before it was locked, so check again under the lock.
    const { numUpdatedRows } = await transaction
      .updateTable("packs")
      .set({ state: "doomed", state_since: now })
      .where(
        "id",
        "in",
        unneeded.map(({ id }) => id),
      )
      .where(isUnneeded)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  });
}

/** Those that were condemned before, the longest first, a few hundred at most. */
export async function findCondemnedPacks(database: Database, before: Date): Promise<readonly CondemnedPack[]> {
  const rows = await database
    .selectFrom("packs")
    .where("state", "=", "doomed")
    .where("state_since", "<", before)
    .select(["id", "company_id as companyId"])
    .orderBy("state_since")
    .limit(removedTogether)
    .execute();
  return rows;
}

/** Its content is gone from the archives. */
export async function forgetPack(database: Database, id: string): Promise<void> {
  await database.deleteFrom("packs").where("id", "=", id).where("state", "=", "doomed").execute();
}

export interface PackToRead {
  readonly id: string;
  readonly companyId: string;
}

/** Kept ones that were not read for so many days, the longest unread first. A moment that is still to come counts as never. */
export async function findUnreadPacks(database: Database, days: number, limit: number): Promise<readonly PackToRead[]> {
  const { rows } = await sql<PackToRead>`
    select id, company_id as "companyId" from packs
    where state = 'kept'
      and (read_at is null or read_at not between now() - make_interval(secs => ${days * 86_400}::float8) and now())
    order by read_at nulls first limit ${limit}`.execute(database);
  return rows;
}

/** Where the pieces of a pack are in it, in order. */
export async function listPieces(database: Database, pack: string) {
  const pieces = database.selectFrom("pieces").select(["name", "start", "length"]).where("pack_id", "=", pack);
  return pieces.orderBy("start").execute();
}

/** All of it was read, and is as it was written. Tolerates that it is gone. */
export async function notePackRead(database: Database, pack: string): Promise<void> {
  await database.updateTable("packs").set({ read_at: sql<Date>`now()` }).where("id", "=", pack).execute();
}
