/** Seals of the activity log: the links of its hash chains, one chain per company. See `server/audit/chain.ts`. */
import { type Insertable, type Selectable, sql } from "kysely";
import type { ActivitySealTable, ActivityTable, Database, DatabaseTransaction } from "../database.ts";

/** The chain of entries that belong to no company. */
export const operatorChain = "00000000-0000-0000-0000-000000000000";

/** The key of an advisory lock that has no other use. */
export const sealingLock = 4_711_030;

export type EntryRow = Selectable<ActivityTable>;
export type SealRow = Selectable<ActivitySealTable>;

/**
 * Runs `work` on a connection while no other process seals; waits for that. The lock belongs to the connection, so it outlasts
 * transactions, and ends with the process.
 */
export function whileNotSealing<T>(database: Database, work: (own: Database) => Promise<T>): Promise<T> {
  return database.connection().execute(async (own) => {
    await sql`select pg_advisory_lock(${sealingLock})`.execute(own);
    return withLock(own, work);
  });
}

/** As `whileNotSealing`, but does nothing and returns undefined if another process is sealing. */
export function unlessSealing<T>(database: Database, work: (own: Database) => Promise<T>): Promise<T | undefined> {
  return database.connection().execute(async (own) => {
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${sealingLock}) as locked`.execute(own);
    return rows[0]?.locked === true ? withLock(own, work) : undefined;
  });
}

async function withLock<T>(own: Database, work: (own: Database) => Promise<T>): Promise<T> {
  try {
    return await work(own);
  } finally {
    await sql`select pg_advisory_unlock(${sealingLock})`.execute(own);
  }
}

export async function hasUnsealed(database: Database): Promise<boolean> {
  const row = await database
    .selectFrom("activity")
    .select("id")
    .where("is_sealed", "=", false)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface UnsealedEntry extends EntryRow {
  /** Whether a seal covers the entry without its outcome. */
  readonly has_begun: boolean;
}

/**
 * Returns the oldest unsealed entries, locked. Leaves out those that another transaction is changing, so that it never waits
 * for one.
 */
export async function lockUnsealed(transaction: DatabaseTransaction, limit: number): Promise<UnsealedEntry[]> {
  return transaction
    .selectFrom("activity")
    .selectAll()
    .select(({ exists, selectFrom }) =>
      exists(selectFrom("activity_seals").select("sequence").whereRef("activity_id", "=", "activity.id"))
        .$castTo<boolean>()
        .as("has_begun"),
    )
    .where("is_sealed", "=", false)
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Stores seals and marks their entries as sealed. */
export async function insertSeals(
  transaction: DatabaseTransaction,
  seals: readonly Insertable<ActivitySealTable>[],
): Promise<void> {
  await transaction
    .insertInto("activity_seals")
    .values([...seals])
    .execute();
  const ids = seals.map(({ activity_id }) => activity_id);
  await sql`update activity set is_sealed = true where id = any(${ids}::bigint[])`.execute(transaction);
}

export interface SealWithEntry extends SealRow {
  /** Null if it was deleted. */
  readonly entry: EntryRow | null;
}

/** Returns at most `limit` seals of a chain after a sequence number, in order, with their entries. */
export async function readSeals(
  database: Database,
  chain: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<SealWithEntry[]> {
  const seals = await database
    .selectFrom("activity_seals")
    .selectAll()
    .where("chain", "=", chain)
    .where("sequence", ">", after)
    .orderBy("sequence")
    .limit(limit)
    .execute();
  if (seals.length === 0) return [];
  const ids = seals.map(({ activity_id }) => activity_id);
  const entries = await database
    .selectFrom("activity")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::bigint[])`)
    .execute();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return seals.map((seal) => ({ ...seal, entry: byId.get(seal.activity_id) ?? null }));
}

/** The highest sequence number of a chain, or 0. */
export async function lastSequence(database: Database | DatabaseTransaction, chain: string): Promise<number> {
  const row = await database
    .selectFrom("activity_seals")
    .select("sequence")
    .where("chain", "=", chain)
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.sequence ?? 0;
}

/** Lists the chains of all entries and seals. */
export async function listChains(database: Database): Promise<string[]> {
  const { rows } = await sql<{ chain: string }>`
    select id::text as chain from companies
    union select distinct coalesce(company_id, ${operatorChain}::uuid)::text from activity where company_id is null
    union select distinct chain::text from activity_seals
    order by chain`.execute(database);
  return rows.map(({ chain }) => chain);
}

/** An entry that its chain does not cover completely. */
export interface UncoveredEntry {
  readonly id: number;
  /** Whether it only waits for the next round of sealing. */
  readonly is_waiting: boolean;
}

/**
 * Lists entries of a chain without a seal for their present stage. They wait for one if they are not marked as sealed and not
 * older than the newest seals of the installation by more than `toleranceSeconds`, or have ended since.
 */
export async function listUncovered(
  database: Database,
  chain: string,
  toleranceSeconds: number,
): Promise<UncoveredEntry[]> {
  const companyId = chain === operatorChain ? null : chain;
  const { rows } = await sql<UncoveredEntry>`
    select a.id, not a.is_sealed and (
        exists (select from activity_seals s where s.activity_id = a.id)
        or a.created_at > coalesce(
          (select max(sealed_at) from activity_seals) - make_interval(secs => ${toleranceSeconds}::int), '-infinity')
      ) as is_waiting
    from activity a
    where a.company_id is not distinct from ${companyId}::uuid and not exists (
      select from activity_seals s
      where s.activity_id = a.id and s.chain = ${chain}::uuid and (s.stage <> 'begun' or not a.is_done))
    order by a.id`.execute(database);
  return rows;
}

/** Whether the operator's log says that this company was deleted. */
export async function isDeletedCompany(database: Database, companyId: string): Promise<boolean> {
  const { rows } = await sql`
    select from activity
    where company_id is null and type = 'deleteCompany' and parameters ->> 'companyId' = ${companyId}
    limit 1`.execute(database);
  return rows.length > 0;
}

/** Deletes the seals of a deleted company. */
export async function deleteChain(transaction: DatabaseTransaction, chain: string): Promise<void> {
  await transaction.deleteFrom("activity_seals").where("chain", "=", chain).execute();
}

/** Deletes all seals, so that every entry is sealed again. */
export async function deleteAllSeals(transaction: DatabaseTransaction): Promise<void> {
  await transaction.deleteFrom("activity_seals").execute();
  await transaction.updateTable("activity").set({ is_sealed: false }).where("is_sealed", "=", true).execute();
}

/**
 * Returns the newest seal up to which all entries of a chain are older than `days` and belong to no stored operation, among
 * the `limit` seals after `after`. Null if there is none.
 */
export async function findPrunable(
  database: Database,
  chain: string,
  { after, days, limit }: { readonly after: number; readonly days: number; readonly limit: number },
): Promise<Pick<SealRow, "sequence" | "hash"> | null> {
  const { rows } = await sql<Pick<SealRow, "sequence" | "hash">>`
    with oldest as (
      select sequence, hash, activity_id from activity_seals
      where chain = ${chain}::uuid and sequence > ${after}::bigint order by sequence limit ${limit}::bigint
    ), kept as (
      select min(o.sequence) as sequence from oldest o join activity a on a.id = o.activity_id
      where a.created_at >= now() - make_interval(days => ${days}::int)
        or exists (select from operations p where p.activity_id = a.id)
    )
    select sequence, hash from oldest
    where sequence < coalesce((select sequence from kept), 9223372036854775807)
    order by sequence desc limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Deletes seals up to a sequence number, and the entries that then have none. Returns the number of entries. */
export async function pruneChain(transaction: DatabaseTransaction, chain: string, upTo: number): Promise<number> {
  const { rows } = await sql<{ activity_id: number }>`
    delete from activity_seals where chain = ${chain}::uuid and sequence <= ${upTo}::bigint
    returning activity_id`.execute(transaction);
  const ids = rows.map(({ activity_id }) => activity_id);
  const { numAffectedRows = 0n } = await sql`
    delete from activity a where a.id = any(${ids}::bigint[]) and a.is_sealed
      and not exists (select from activity_seals s where s.activity_id = a.id)`.execute(transaction);
  return Number(numAffectedRows);
}
