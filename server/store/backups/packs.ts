/**
 * Packs: which to read again, and which to remove because no backup needs them. Unneeded packs are first marked
 * (state `unused`), so that no new backup relies on them, and removed after a while.
 */
import { type ExpressionBuilder, sql } from "kysely";
import type { Database, Tables } from "../database.ts";

interface CondemnedPack {
  readonly id: string;
  readonly companyId: string;
}

const markBatch = 1_000;
const removeBatch = 500;

function isUnneeded({ not, exists, selectFrom }: ExpressionBuilder<Tables, "packs">) {
  return not(exists(selectFrom("backup_packs").whereRef("backup_packs.pack_id", "=", "packs.id").select("pack_id")));
}

/**
 * Sets times in the future to `now`: they come from a clock that was set back later. Otherwise their packs would not be
 * removed until then, and the company's other packs would count as unread if one of these is lost.
 */
export async function clampFutureTimes(database: Database, now: Date): Promise<void> {
  await database.updateTable("packs").set({ state_since: now }).where("state_since", ">", now).execute();
}

/**
 * Marks as unused a batch of packs that were written or started before `before` and that no backup needs. Returns their
 * number.
 */
export async function markUnusedPacks(database: Database, before: Date, now = new Date()): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const unneeded = await transaction
      .selectFrom("packs")
      .where("state", "<>", "unused")
      .where("state_since", "<", before)
      .where(isUnneeded)
      .select("id")
      .limit(markBatch)
      .forUpdate()
      .skipLocked()
      .execute();
    if (unneeded.length === 0) return 0;
    // A backup may have started to need one before it was locked, so check again under the lock.
    const { numUpdatedRows } = await transaction
      .updateTable("packs")
      .set({ state: "unused", state_since: now })
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

/** Finds a batch of packs that were marked as unused before `before`, oldest first. */
export async function findUnusedPacks(database: Database, before: Date): Promise<readonly CondemnedPack[]> {
  const rows = await database
    .selectFrom("packs")
    .where("state", "=", "unused")
    .where("state_since", "<", before)
    .select(["id", "company_id as companyId"])
    .orderBy("state_since")
    .limit(removeBatch)
    .execute();
  return rows;
}

/** Removes an unused pack after its content was removed from the archives. */
export async function removePack(database: Database, id: string): Promise<void> {
  await database.deleteFrom("packs").where("id", "=", id).where("state", "=", "unused").execute();
}

/** Counts the packs that are not encrypted with this archive key, except those that no backup needs. */
export async function countPacksOfOtherKeys(database: Database, keyId: Buffer): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from packs where state <> 'unused' and key_id is distinct from ${keyId}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

export interface PackToRead {
  readonly id: string;
  readonly companyId: string;
}

/** Finds kept packs that were not read for `days`, longest unread first. Ignores read times in the future. */
export async function findUnreadPacks(database: Database, days: number, limit: number): Promise<readonly PackToRead[]> {
  const { rows } = await sql<PackToRead>`
    select id, company_id as "companyId" from packs
    where state = 'kept'
      and (read_at is null or read_at not between now() - make_interval(secs => ${days * 86_400}::float8) and now())
    order by read_at nulls first limit ${limit}`.execute(database);
  return rows;
}

/** Lists the pieces of a pack with their positions, in order. */
export async function listPieces(database: Database, pack: string) {
  const pieces = database.selectFrom("pieces").select(["name", "start", "length"]).where("pack_id", "=", pack);
  return pieces.orderBy("start").execute();
}

/** Records that all of the pack was read and is intact. Does nothing if it is gone. */
export async function notePackRead(database: Database, pack: string): Promise<void> {
  await database.updateTable("packs").set({ read_at: sql<Date>`now()` }).where("id", "=", pack).execute();
}
