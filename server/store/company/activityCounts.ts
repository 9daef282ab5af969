/** Exact numbers of entries of the activity log, kept by triggers. The migration `activity-counts` describes the tables. */
import { type RawBuilder, sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** The number of ids in a block, as in the database's function `activity_block`. */
export const blockSize = 32_768;

/** The key of an advisory lock that has no other use. */
const countingLock = 4_711_051;

/** Adds changes to the counts, unless another process is doing so. Totals are exact before and after, and read faster after. */
export async function countActivity(database: Database): Promise<void> {
  const { rows } = await sql`select from activity_changes limit 1`.execute(database);
  if (rows.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    const lock = sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${countingLock}) as locked`;
    if ((await lock.execute(transaction)).rows[0]?.locked === true) await addChanges(transaction);
  });
}

/** One statement, so that the changes it deletes are exactly those that it adds. */
async function addChanges(transaction: DatabaseTransaction): Promise<void> {
  await sql`
    with taken as (delete from activity_changes returning *),
    combined as (
      merge into activity_combinations c
      using (
        select company_id, activity_combination(site_id, category, user_id, api_key_id) as combination, site_id, category,
          user_id, api_key_id, sum(entries) as entries, min(block) as first_block, max(block) as last_block
        from taken group by 1, 2, 3, 4, 5, 6
      ) t on c.company_id = t.company_id and c.combination = t.combination
      when matched and c.entries + t.entries = 0 then delete
      when matched then update set entries = c.entries + t.entries,
        first_block = least(c.first_block, t.first_block), last_block = greatest(c.last_block, t.last_block)
      when not matched and t.entries <> 0 then insert values (
        t.company_id, t.combination, t.site_id, t.category, t.user_id, t.api_key_id, t.entries, t.first_block, t.last_block)
      returning 1
    )
    merge into activity_counts c
    using (
      select company_id, list, value, block, sum(entries) as entries
      from taken, lateral (values
        ('all', ''), ('category', category), ('site', site_id::text), ('user', user_id::text), ('key', api_key_id::text)
      ) lists (list, value)
      where value is not null group by 1, 2, 3, 4 having sum(entries) <> 0
    ) t on c.company_id = t.company_id and c.list = t.list and c.value = t.value and c.block = t.block
    when matched and c.entries + t.entries = 0 then delete
    when matched then update set entries = c.entries + t.entries
    when not matched then insert values (t.company_id, t.list, t.value, t.block, t.entries)`.execute(transaction);
}

/** The entries of a company, or those of one category, site, user or key. */
export interface ActivityList {
  readonly companyId: string;
  readonly list: "all" | "category" | "site" | "user" | "key";
  /** Empty for all entries. Ids are in lower case. */
  readonly value: string;
}

const columns = { category: "category", site: "site_id", user: "user_id", key: "api_key_id" } as const;

/** The condition that selects a list's rows of `activity` and `activity_changes`. */
export function rowsOf({ companyId, list, value }: ActivityList): RawBuilder<boolean> {
  const ofCompany = sql<boolean>`company_id = ${companyId}::uuid`;
  if (list === "all") return ofCompany;
  const type = list === "category" ? sql`text` : sql`uuid`;
  return sql`${ofCompany} and ${sql.ref(columns[list])} = ${value}::${type}`;
}

const numbersOf = (list: ActivityList) => sql`
  select block, entries from activity_counts
  where company_id = ${list.companyId}::uuid and list = ${list.list} and value = ${list.value}
  union all
  select block, entries from activity_changes where ${rowsOf(list)}`;

export async function countList(database: Database, list: ActivityList): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select coalesce(sum(entries), 0)::bigint as total from (${numbersOf(list)}) numbers`.execute(database);
  return rows[0]?.total ?? 0;
}

export interface Block {
  /** Its ids begin at this number times `blockSize`. */
  readonly block: number;
  readonly entries: number;
}

/** Returns the blocks that have entries of a list, newest first. */
export async function listBlocks(database: Database, list: ActivityList): Promise<Block[]> {
  const { rows } = await sql<Block>`
    select block, sum(entries)::bigint as entries from (${numbersOf(list)}) numbers
    group by block having sum(entries) <> 0 order by block desc`.execute(database);
  return rows;
}

/** Entries that several filters select, or a filter with several values. */
export interface CombinedCount {
  readonly total: number;
  /** At least the number of combinations that have such entries. */
  readonly combinations: number;
  /** Their ids are in these blocks and those in between. Null if there are none. */
  readonly first_block: number | null;
  readonly last_block: number | null;
  /** About how many entries the shortest of the lists has that contain them. */
  readonly shortest: number;
}

/** `matching` is a condition on the columns that are counted; `lists` have all entries that meet it. */
export async function countCombined(
  database: Database,
  matching: RawBuilder<boolean>,
  lists: readonly ActivityList[],
): Promise<CombinedCount> {
  const lengths = lists.map(
    ({ companyId, list, value }) => sql`(select coalesce(sum(entries), 0) from activity_counts
      where company_id = ${companyId}::uuid and list = ${list} and value = ${value})`,
  );
  const { rows } = await sql<CombinedCount>`
    select coalesce(sum(entries), 0)::bigint as total, count(*) as combinations,
      min(first_block) as first_block, max(last_block) as last_block, least(${sql.join(lengths)})::bigint as shortest
    from (
      select entries, first_block, last_block from activity_combinations where ${matching}
      union all
      select entries, block, block from activity_changes where ${matching}
    ) numbers`.execute(database);
  const [count] = rows;
  if (count === undefined) throw new Error("An aggregate returned no row");
  return count;
}

/** Selects the combinations that match, at least those that have entries. */
export const combinationsOf = (matching: RawBuilder<boolean>) => sql`
  select combination from activity_combinations where ${matching}
  union
  select activity_combination(site_id, category, user_id, api_key_id) from activity_changes where ${matching}`;
