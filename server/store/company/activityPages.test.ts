import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { addCompany } from "../testing/rows.ts";
import { recordActivity, systemActor } from "./activity.ts";
import { blockSize, countActivity } from "./activityCounts.ts";
import { type ActivityFilter, type ActivityPage, listActivity } from "./activityPages.ts";
import { deleteCompany } from "./companies.ts";

const id = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const firstPage: ActivityPage = { limit: 10, offset: 0, before: null };

interface Log {
  readonly own: TestDatabase;
  readonly companyId: string;
}

function filterOf({ companyId }: Log, more: Partial<ActivityFilter> = {}): ActivityFilter {
  return { companyId, category: null, siteId: null, userId: null, apiKeyId: null, siteIds: null, ...more };
}

const list = (log: Log, more: Partial<ActivityFilter> = {}, page: Partial<ActivityPage> = {}) =>
  listActivity(log.own.database, filterOf(log, more), { ...firstPage, ...page });

/** The ids of all matches, newest first, read without counts. */
async function idsOf({ own, companyId }: Log, filter: Partial<ActivityFilter>): Promise<number[]> {
  const { category = null, siteId = null, userId = null, apiKeyId = null, siteIds = null } = filter;
  const { rows } = await sql<{ id: number }>`
    select id from activity where company_id = ${companyId}
      and (${category}::text is null or category = ${category}) and (${siteId}::uuid is null or site_id = ${siteId}::uuid)
      and (${userId}::uuid is null or user_id = ${userId}::uuid)
      and (${apiKeyId}::uuid is null or api_key_id = ${apiKeyId}::uuid)
      and (${siteIds}::uuid[] is null or site_id = any(${siteIds}::uuid[]))
    order by id desc`.execute(own.database);
  return rows.map((row) => row.id);
}

/** Entries of three sites or none, two users with two keys each, and two categories; `every` ids apart. */
async function insertEntries({ own, companyId }: Log, count: number, { first = 1, every = 1 } = {}): Promise<void> {
  await sql`
    insert into activity (id, company_id, category, type, site_id, user_id, api_key_id) overriding system value
    select ${first}::bigint + n * ${every}::bigint, ${companyId}::uuid, case when n % 7 = 0 then 'billing' else 'siteActions' end,
      'bulk', (array[${id(1)}, ${id(2)}, ${id(3)}, null])[1 + n % 4]::uuid, (array[${id(4)}, ${id(5)}])[1 + n % 2]::uuid,
      (array[${id(6)}, ${id(7)}, ${id(8)}, ${id(9)}])[1 + n % 2 + 2 * (n / 3 % 2)]::uuid
    from generate_series(0, ${count}::int - 1) n`.execute(own.database);
}

async function createLog(): Promise<Log> {
  const own = await createTestDatabase();
  return { own, companyId: (await addCompany(own.database)).companyId };
}

const filters: readonly (readonly [string, Partial<ActivityFilter>])[] = [
  ["nothing", {}],
  ["a category", { category: "billing" }],
  ["a site", { siteId: id(1) }],
  ["a user", { userId: id(4) }],
  ["a key", { apiKeyId: id(6) }],
  ["a category and a site", { category: "siteActions", siteId: id(2) }],
  ["a category and a user", { category: "billing", userId: id(4) }],
  ["a user and a key", { userId: id(5), apiKeyId: id(7) }],
  ["all of them", { category: "siteActions", siteId: id(1), userId: id(4), apiKeyId: id(6) }],
  ["a key of another user", { userId: id(4), apiKeyId: id(7) }],
  ["the sites of a key", { siteIds: [id(1), id(3)] }],
  ["the sites of a key, and a category", { siteIds: [id(1), id(3)], category: "billing" }],
  ["a site outside those of a key", { siteIds: [id(1), id(3)], siteId: id(2) }],
  ["no sites", { siteIds: [] }],
];

describe("a log of many blocks", () => {
  let log: Log;
  let notCounted: Log;

  beforeAll(async () => {
    log = await createLog();
    // Six blocks, some of them counted, and a gap of two between them.
    await insertEntries(log, 4_000, { every: 32 });
    await countActivity(log.own.database);
    await insertEntries(log, 1_500, { first: 6 * blockSize - 3_000, every: 4 });
    notCounted = { own: log.own, companyId: (await addCompany(log.own.database)).companyId };
    await insertEntries(notCounted, 1_200, { first: 10 * blockSize, every: 8 });
  });

  afterAll(() => log.own.drop());

  it.each(filters)("has each page, and an exact total, filtered by %s", async (_, filter) => {
    for (const each of [log, notCounted]) {
      const ids = await idsOf(each, filter);
      const [length, half] = [ids.length, Math.floor(ids.length / 2)];
      for (const offset of [0, 1, 501, half, half + 700, length - 700, length - 10, length - 3, length - 1, length]) {
        if (offset < 0) continue;
        const { items, total } = await list(each, filter, { offset });
        expect(total).toBe(length);
        expect(items.map((entry) => entry.id)).toEqual(ids.slice(offset, offset + 10));
      }
    }
  });

  it.each(filters)("can be read page by page with the last id, filtered by %s", async (_, filter) => {
    const ids = await idsOf(log, filter);
    const read: number[] = [];
    for (let before: number | null = null; ; ) {
      const { items, total } = await list(log, filter, { before, limit: 100 });
      expect(total).toBe(ids.length);
      read.push(...items.map((entry) => entry.id));
      before = read.at(-1) ?? null;
      if (items.length < 100) break;
    }
    expect(read).toEqual(ids);
  });

  it("has the pages before an id, with an offset, and for ids of no entry", async () => {
    const ids = (await idsOf(log, { siteId: id(1) })).filter((each) => each < blockSize + 7);
    const { items } = await list(log, { siteId: id(1) }, { before: blockSize + 7, offset: 3 });
    expect(items.map((entry) => entry.id)).toEqual(ids.slice(3, 13));
    expect((await list(log, {}, { before: 1 })).items).toEqual([]);
    expect((await list(log, {}, { before: Number.MAX_SAFE_INTEGER, limit: 1 })).items).toHaveLength(1);
  });

  it.each(filters)("has nothing beyond its end, filtered by %s", async (_, filter) => {
    const { total } = await list(log, filter);
    for (const offset of [total, total + 1, 2_147_483_647]) {
      expect(await list(log, filter, { offset })).toEqual({ items: [], total });
    }
    expect(await list(log, filter, { limit: 0, offset: 10_000 })).toEqual({ items: [], total });
  });

  it("accepts ids in upper case", async () => {
    const siteId = "ABCDEFAB-0000-4000-8000-000000000001";
    await sql`insert into activity (id, company_id, site_id, category, type) overriding system value
      values (9000000, ${notCounted.companyId}, ${siteId}, 'dns', 'cased')`.execute(log.own.database);
    expect((await list(notCounted, { siteId })).total).toBe(1);
    expect((await list(notCounted, { siteId, category: "dns" })).total).toBe(1);
    expect((await list(notCounted, { siteId, siteIds: [siteId.toLowerCase()] })).items).toHaveLength(1);
    await countActivity(log.own.database);
    expect((await list(notCounted, { siteId })).total).toBe(1);
    expect((await list(notCounted, { siteId, category: "dns" })).items).toHaveLength(1);
  });

  it("reads deep pages and combinations from indexes, without sorting", async () => {
    const many = { own: log.own, companyId: (await addCompany(log.own.database)).companyId };
    await insertEntries(many, 30_000, { first: 20 * blockSize });
    await sql`analyze activity`.execute(log.own.database);
    const explain = async (query: ReturnType<typeof sql>) => {
      const { rows } = await sql<{ "QUERY PLAN": string }>`explain ${query}`.execute(log.own.database);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    const deep = await explain(sql`select id from activity where company_id = ${many.companyId}
      and category = 'siteActions' and id < ${21 * blockSize} order by id desc offset 300 limit 10`);
    expect(deep).toMatch(/Index (Only )?Scan (Backward )?using activity_/);
    const combined = await explain(sql`select id from unnest(array[${id(1)}]::uuid[]) as c (combination), lateral (
      select id from activity where company_id = ${many.companyId}
        and activity_combination(site_id, category, user_id, api_key_id) = combination order by id desc limit 10) entries`);
    expect(combined).toContain("Index Scan using activity_combination");
    expect(`${deep}${combined}`).not.toMatch(/Sort|Seq Scan/);
  });
});

/** All counts are those of the table, whether or not changes have been added to them. */
async function expectExact(log: Log): Promise<void> {
  for (const counted of [false, true]) {
    if (counted) await countActivity(log.own.database);
    for (const [, filter] of filters) {
      const ids = await idsOf(log, filter);
      expect((await list(log, filter)).total).toBe(ids.length);
      const { items } = await list(log, filter, { offset: Math.max(0, ids.length - 4) });
      expect(items.map((entry) => entry.id)).toEqual(ids.slice(-4));
    }
  }
}

const remaining = async ({ own }: Log) => {
  const { rows } = await sql<{ rows: number }>`
    select (select count(*) from activity_changes) + (select count(*) from activity_counts)
      + (select count(*) from activity_combinations) as rows`.execute(own.database);
  return rows[0]?.rows;
};

describe("totals", () => {
  it("stay exact while many write, remove and count at once", async () => {
    const log = await createLog();
    await using own = log.own;
    const { database } = own;
    let isWriting = true;
    const write = async (writer: number) => {
      for (let count = 0; count < 25; count += 1) {
        await database.transaction().execute(async (transaction) => {
          const entry = { companyId: log.companyId, type: "addSite", parameters: {} };
          const actor = { ...systemActor, userId: id(4), apiKeyId: id(6 + (writer % 2)) };
          const more = { siteId: id(1 + (count % 3)), category: count % 2 === 0 ? "billing" : "siteActions", actor };
          const written = await recordActivity(transaction, { ...entry, ...more });
          if (count % 5 === 0) await transaction.deleteFrom("activity").where("id", "=", written).execute();
        });
        if (count % 6 === 0) {
          await sql`delete from activity where id = (select min(id) from activity)`.execute(database);
        }
      }
    };
    const countAll = async () => {
      while (isWriting) {
        await countActivity(database);
        const [read, rows] = await database
          .transaction()
          .setIsolationLevel("repeatable read")
          .execute(async (snapshot) => [
            await sql<{ total: number }>`select coalesce(sum(entries), 0)::bigint as total from (
              select entries from activity_counts where list = 'all' union all select entries from activity_changes) n
            `.execute(snapshot),
            await sql<{ total: number }>`select count(*) as total from activity`.execute(snapshot),
          ]);
        expect(read?.rows).toEqual(rows?.rows);
      }
    };
    const counting = [countAll(), countAll()];
    await Promise.all(Array.from({ length: 6 }, (_, writer) => write(writer)));
    isWriting = false;
    await Promise.all(counting);
    await expectExact(log);
  });

  it("follow entries that are removed, rolled back, or deleted with their company", async () => {
    const log = await createLog();
    await using own = log.own;
    await insertEntries(log, 500, { every: 400 });
    await expectExact(log);
    await sql`delete from activity where id < 60000`.execute(own.database);
    await sql`delete from activity where site_id = ${id(2)}`.execute(own.database);
    await insertEntries(log, 20, { first: 300_000 });
    await expectExact(log);
    const failing = own.database.transaction().execute(async (transaction) => {
      await sql`delete from activity`.execute(transaction);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await expectExact(log);
    expect(await remaining(log)).toBeGreaterThan(0);
    await sql`delete from users`.execute(own.database);
    expect(await deleteCompany(own.database, log.companyId)).toBe(true);
    await countActivity(own.database);
    expect(await remaining(log)).toBe(0);
  });

  it("do not include entries of the operator, or of other companies", async () => {
    const log = await createLog();
    await using own = log.own;
    const other = { own, companyId: (await addCompany(own.database)).companyId };
    await insertEntries(log, 30);
    await insertEntries(other, 20, { first: 31 });
    await sql`insert into activity (id, category, type) overriding system value
      values (9000000, 'operator', 'x')`.execute(own.database);
    await expectExact(log);
    await expectExact(other);
    expect((await list(other)).total).toBe(20);
  });
});

describe("counting", () => {
  it("leaves the work to another process that is counting", async () => {
    const log = await createLog();
    await using own = log.own;
    await insertEntries(log, 10);
    await own.database.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(4711051)`.execute(transaction);
      await countActivity(own.database);
      const { rows } = await sql`select from activity_counts`.execute(transaction);
      expect(rows).toEqual([]);
    });
    await countActivity(own.database);
    expect((await sql`select from activity_changes`.execute(own.database)).rows).toEqual([]);
  });
});
