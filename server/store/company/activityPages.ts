/**
 * Pages of the activity log with exact totals, in a few milliseconds however long the log is, except far from both ends with
 * several filters. The page
 * docs/decisions/activity-log.md explains how.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { totalOf } from "../totals.ts";
import { readInSnapshot } from "../transactions.ts";
import {
  type ActivityList,
  type Block,
  blockSize,
  type CombinedCount,
  combinationsOf,
  countCombined,
  countList,
  listBlocks,
  rowsOf,
} from "./activityCounts.ts";
import type { EntryRow } from "./activitySeals.ts";

/** Null matches all. */
export interface ActivityFilter {
  readonly companyId: string;
  readonly category: string | null;
  readonly siteId: string | null;
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  /** Only entries about these sites. */
  readonly siteIds: readonly string[] | null;
}

export interface ActivityPage {
  readonly limit: number;
  /** Number of newer entries to skip. */
  readonly offset: number;
  /** Only entries with lower ids, or null. The total does not depend on it. */
  readonly before: number | null;
}

export interface ActivityResult {
  /** Newest first. */
  readonly items: readonly EntryRow[];
  /** Number of matches before paging. */
  readonly total: number;
}

/** Skipping fewer entries is faster than looking for a place to begin. */
const maxSkipped = 500;

/** Returns a page of entries, newest first, and the total number of matches. */
export async function listActivity(
  database: Database,
  filter: ActivityFilter,
  page: ActivityPage,
): Promise<ActivityResult> {
  const siteIds = sitesOf(filter);
  if (siteIds?.length === 0) return { items: [], total: 0 };
  const lists = listsOf(filter, siteIds);
  const [list] = lists;
  if (list === undefined || lists.length > 1 || (siteIds !== null && siteIds.length > 1)) {
    return listCombined(database, conditionOf(filter, siteIds), lists, page);
  }
  if (page.before !== null || page.offset <= maxSkipped) {
    const range = rangeBefore(page);
    const [items, counted] = await Promise.all([readRange(database, rowsOf(list), range), countList(database, list)]);
    return { items, total: page.before === null ? await totalOf(page, items, async () => counted) : counted };
  }
  // The page and its place.
  return readInSnapshot(database, async (snapshot) => {
    const blocks = await listBlocks(snapshot, list);
    const total = blocks.reduce((sum, { entries }) => sum + entries, 0);
    const range = nearestRange(blocks, total, page);
    return { items: range === null ? [] : await readRange(snapshot, rowsOf(list), range), total };
  });
}

/** The sites that entries must be about, or null for all entries. */
function sitesOf({ siteId, siteIds }: ActivityFilter): readonly string[] | null {
  if (siteId === null) return siteIds;
  const wanted = siteId.toLowerCase();
  return siteIds === null || siteIds.includes(wanted) ? [wanted] : [];
}

/** The lists that contain all matches. A single one has nothing else, unless there are several sites. */
function listsOf(filter: ActivityFilter, siteIds: readonly string[] | null): readonly ActivityList[] {
  const { companyId, category, userId, apiKeyId } = filter;
  const lists: ActivityList[] = [];
  if (category !== null) lists.push({ companyId, list: "category", value: category });
  if (userId !== null) lists.push({ companyId, list: "user", value: userId.toLowerCase() });
  if (apiKeyId !== null) lists.push({ companyId, list: "key", value: apiKeyId.toLowerCase() });
  const [site, ...otherSites] = siteIds ?? [];
  if (site !== undefined && otherSites.length === 0) lists.push({ companyId, list: "site", value: site });
  return lists.length > 0 ? lists : [{ companyId, list: "all", value: "" }];
}

function conditionOf(filter: ActivityFilter, siteIds: readonly string[] | null): RawBuilder<boolean> {
  const { companyId, category, userId, apiKeyId } = filter;
  const conditions = [sql`company_id = ${companyId}::uuid`];
  if (category !== null) conditions.push(sql`category = ${category}`);
  if (userId !== null) conditions.push(sql`user_id = ${userId}::uuid`);
  if (apiKeyId !== null) conditions.push(sql`api_key_id = ${apiKeyId}::uuid`);
  if (siteIds !== null) conditions.push(sql`site_id = any(${siteIds}::uuid[])`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Consecutive entries of a list, by their distance from an id. */
interface Range {
  readonly order: "newest" | "oldest";
  /** The newest entry is before this id, or the oldest is this one or after it. Null: no bound. */
  readonly edge: number | null;
  readonly skip: number;
  readonly take: number;
}

const rangeBefore = ({ before, offset, limit }: ActivityPage): Range => ({
  order: "newest",
  edge: before,
  skip: offset,
  take: limit,
});

/** The range of a page that skips the fewest entries, from the border of a block. Null if the page is empty. */
export function nearestRange(
  blocks: readonly Block[],
  total: number,
  { offset, limit }: Pick<ActivityPage, "offset" | "limit">,
): Range | null {
  const take = Math.min(limit, total - offset);
  if (take <= 0) return null;
  let best: Range = { order: "newest", edge: null, skip: offset, take };
  let newer = 0;
  for (const { block, entries } of blocks) {
    newer += entries;
    const edge = block * blockSize;
    const order = newer <= offset ? "newest" : "oldest";
    const skip = order === "newest" ? offset - newer : newer - offset - take;
    if (skip >= 0 && skip < best.skip) best = { order, edge, skip, take };
  }
  return best;
}

const boundOf = ({ order, edge }: Range): RawBuilder<boolean> => {
  if (edge === null) return sql`true`;
  return order === "newest" ? sql`id < ${edge}::bigint` : sql`id >= ${edge}::bigint`;
};
const directionOf = ({ order }: Range) => (order === "newest" ? sql`desc` : sql`asc`);

/** Skipped entries are read from an index alone. */
async function readRange(database: Database, matching: RawBuilder<boolean>, range: Range): Promise<EntryRow[]> {
  return readEntries(
    database,
    sql`select id from activity where ${matching} and ${boundOf(range)}
      order by id ${directionOf(range)} offset ${range.skip}::bigint limit ${range.take}::bigint`,
  );
}

async function readEntries(database: Database, ids: RawBuilder<unknown>): Promise<EntryRow[]> {
  const { rows } = await sql<EntryRow>`
    select activity.* from (${ids}) page join activity using (id) order by id desc`.execute(database);
  return rows;
}

function listCombined(
  database: Database,
  matching: RawBuilder<boolean>,
  lists: readonly ActivityList[],
  page: ActivityPage,
): Promise<ActivityResult> {
  return readInSnapshot(database, async (snapshot) => {
    const count = await countCombined(snapshot, matching, lists);
    const range = combinedRange(count, page);
    if (range === null) return { items: [], total: count.total };
    const read = isMergeFaster(count, range) ? mergeRange : readRange;
    return { items: await read(snapshot, matching, range), total: count.total };
  });
}

/** From the nearer end of the blocks that have matches. Null if the page is empty. */
function combinedRange({ total, first_block, last_block }: CombinedCount, page: ActivityPage): Range | null {
  const { limit, offset, before } = page;
  const take = Math.min(limit, total - offset);
  if (take <= 0 || first_block === null || last_block === null) return null;
  const end = (last_block + 1) * blockSize;
  if (before !== null) return { order: "newest", edge: Math.min(before, end), skip: offset, take };
  const rest = total - offset - take;
  if (rest < offset) return { order: "oldest", edge: first_block * blockSize, skip: rest, take };
  return { order: "newest", edge: end, skip: offset, take };
}

/**
 * Whether fewer entries are read from the beginnings of all combinations than from the shortest list, until enough of its entries
 * match. The list counts twice, because its matches may be unevenly distributed.
 */
function isMergeFaster({ total, combinations, shortest }: CombinedCount, { skip, take }: Range): boolean {
  const wanted = skip + take;
  const merged = combinations + Math.min(total, combinations * wanted);
  return merged < 2 * Math.min(shortest, (wanted * shortest) / total);
}

function mergeRange(database: Database, matching: RawBuilder<boolean>, range: Range): Promise<EntryRow[]> {
  const { skip, take } = range;
  return readEntries(
    database,
    sql`select id from (${combinationsOf(matching)}) matching_combinations, lateral (
        select id from activity
        where ${matching} and ${boundOf(range)}
          and activity_combination(site_id, category, user_id, api_key_id) = combination
        order by id ${directionOf(range)}
        limit ${skip + take}::bigint
      ) entries
      order by id ${directionOf(range)} offset ${skip}::bigint limit ${take}::bigint`,
  );
}
