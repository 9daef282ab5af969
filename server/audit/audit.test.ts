import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endActivity, recordActivity, recordOperatorAction, systemActor } from "../store/company/activity.ts";
import { operatorChain, whileNotSealing } from "../store/company/activitySeals.ts";
import { addCompany } from "../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { headsFileName, readHeads } from "./heads.ts";
import { pruneActivity } from "./prune.ts";
import { sealActivity } from "./seal.ts";
import { type ChainReport, verifyActivity } from "./verify.ts";

let own: TestDatabase;
let data: string;
let companyId: string;

beforeEach(async () => {
  own = await createTestDatabase();
  data = await mkdtemp(join(tmpdir(), "sitewright-audit-"));
  companyId = (await addCompany(own.database)).companyId;
});

afterEach(async () => {
  await own.drop();
  await rm(data, { recursive: true });
});

const seal = () => sealActivity({ database: own.database, data });

function begin(more: { readonly siteName?: string } = {}): Promise<number> {
  const { siteName = "Demo" } = more;
  const entry = { companyId, siteId: null, category: "siteActions", type: "addSite", parameters: { siteName } };
  return own.database
    .transaction()
    .execute((transaction) => recordActivity(transaction, { ...entry, actor: systemActor }));
}

function end(id: number, publicError: string | null = null): Promise<void> {
  const outcome = { hasFailed: publicError !== null, publicError };
  return own.database.transaction().execute((transaction) => endActivity(transaction, id, outcome));
}

/** Writes and seals entries that are done. */
async function sealed(count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const id = await begin();
    await end(id);
    ids.push(id);
  }
  await seal();
  return ids;
}

async function reportOf(chain = companyId): Promise<ChainReport> {
  const reports = await verifyActivity(own.database, await readHeads(data));
  const found = reports.find((report) => (report.companyId ?? operatorChain) === chain);
  if (found === undefined) throw new Error(`No report on ${chain}`);
  return found;
}

const change = (statement: ReturnType<typeof sql>) => statement.execute(own.database);

/** Computes the whole chain again, as someone with only the database could. */
async function forge(): Promise<void> {
  await change(sql`delete from activity_seals where chain = ${companyId}`);
  await change(sql`update activity set is_sealed = false where company_id = ${companyId}`);
  const elsewhere = await mkdtemp(join(tmpdir(), "sitewright-forged-"));
  await sealActivity({ database: own.database, data: elsewhere });
  await rm(elsewhere, { recursive: true });
}

describe("an untouched log", () => {
  it("verifies, with every entry sealed once or, if its end came later, twice", async () => {
    const id = await begin();
    await seal();
    await sealed(2);
    await end(id, "The disk is full.");
    await seal();
    expect(await reportOf()).toMatchObject({ seals: 4, waiting: 0, broken: null });
    const { rows } = await sql<{ stage: string }>`select stage from activity_seals order by sequence`.execute(
      own.database,
    );
    expect(rows.map(({ stage }) => stage)).toEqual(["begun", "whole", "whole", "ended"]);
  });

  it("verifies while entries wait to be sealed", async () => {
    await sealed(1);
    await begin();
    expect(await reportOf()).toMatchObject({ seals: 1, waiting: 1, broken: null });
  });

  it("has a chain for each company and one for the operator", async () => {
    await sealed(1);
    await own.database.transaction().execute((transaction) =>
      recordOperatorAction(transaction, {
        type: "createCompany",
        parameters: { companyName: "B" },
        actor: systemActor,
      }),
    );
    await seal();
    expect(await reportOf()).toMatchObject({ seals: 1, broken: null });
    expect(await reportOf(operatorChain)).toMatchObject({ companyId: null, seals: 1, broken: null });
  });

  it("verifies after a crash between the commit of seals and the file of heads", async () => {
    await sealed(2);
    const before = await readFile(join(data, headsFileName), "utf8");
    await sealed(3);
    await writeFile(join(data, headsFileName), before);
    expect(await reportOf()).toMatchObject({ seals: 5, broken: null });
    await sealed(1);
    expect(await reportOf()).toMatchObject({ seals: 6, broken: null });
    expect((await readHeads(data)).get(companyId)?.head.sequence).toBe(6);
  });

  it("is sealed without waiting for a transaction that ends an entry", async () => {
    const [id] = [await begin(), await begin()];
    const ending = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const transaction = own.database.transaction().execute(async (open) => {
      await endActivity(open, id, { hasFailed: false });
      ending.resolve();
      await mayCommit.promise;
    });
    await ending.promise;
    await seal();
    expect(await reportOf()).toMatchObject({ seals: 1, waiting: 1, broken: null });
    mayCommit.resolve();
    await transaction;
    await seal();
    expect(await reportOf()).toMatchObject({ seals: 2, waiting: 0, broken: null });
  });
});

describe("tampering", () => {
  it.each([
    ["text", sql`update activity set parameters = '{"siteName": "Other"}'`],
    ["address", sql`update activity set ip_address = '203.0.113.9'`],
    ["outcome", sql`update activity set has_failed = true`],
    ["time", sql`update activity set created_at = created_at - interval '1 day'`],
    ["company", sql`update activity set company_id = null`],
  ])("with an entry's %s is found at that entry", async (_, statement) => {
    const [, second = 0] = await sealed(3);
    await change(sql`${statement} where id = ${second}`);
    const { broken } = await reportOf();
    expect(broken).toMatchObject({ sequence: 2, activityId: second, reason: expect.stringContaining("changed") });
  });

  it("by deleting an entry is found", async () => {
    const [, second = 0] = await sealed(3);
    await change(sql`delete from activity where id = ${second}`);
    expect((await reportOf()).broken).toMatchObject({ sequence: 2, reason: "the entry was deleted" });
  });

  it("by deleting an entry with its seal is found", async () => {
    const [, second = 0] = await sealed(3);
    await change(sql`delete from activity_seals where activity_id = ${second}`);
    await change(sql`delete from activity where id = ${second}`);
    expect((await reportOf()).broken).toMatchObject({ sequence: 2, activityId: null });
  });

  it("by cutting off the newest entries is found, also after further ones", async () => {
    const [, , third = 0] = await sealed(3);
    await change(sql`delete from activity_seals where activity_id = ${third}`);
    await change(sql`delete from activity where id = ${third}`);
    expect((await reportOf()).broken).toMatchObject({ sequence: 3, reason: expect.stringContaining("missing") });
    await sealed(1);
    expect((await reportOf()).broken).toMatchObject({ sequence: 3, activityId: null });
  });

  it("by computing the whole chain again is found, also after further entries", async () => {
    const [first = 0] = await sealed(3);
    await change(sql`update activity set ip_address = '203.0.113.9' where id = ${first}`);
    await forge();
    expect((await reportOf()).broken).toMatchObject({ sequence: 3, reason: expect.stringContaining("computed again") });
    await sealed(2);
    expect((await reportOf()).broken).toMatchObject({ sequence: 4 });
  });

  it("by inserting an entry that claims to be sealed is found", async () => {
    await sealed(2);
    await change(sql`insert into activity (company_id, category, type, is_done, is_sealed)
      values (${companyId}, 'siteActions', 'addSite', true, true)`);
    expect((await reportOf()).broken?.reason).toContain("inserted");
  });

  it("by inserting an entry into the past is found", async () => {
    await sealed(2);
    await change(sql`insert into activity (company_id, category, type, is_done, created_at)
      values (${companyId}, 'siteActions', 'addSite', true, now() - interval '1 day')`);
    await seal();
    expect((await reportOf()).broken?.reason).toContain("inserted later");
  });

  it("by removing a company's whole log is found, unless the operator deleted the company", async () => {
    await sealed(2);
    await change(sql`delete from activity_seals`);
    await change(sql`delete from activity`);
    expect((await reportOf()).broken).toMatchObject({ sequence: 1 });
    await own.database
      .transaction()
      .execute((transaction) =>
        recordOperatorAction(transaction, { type: "deleteCompany", parameters: { companyId }, actor: systemActor }),
      );
    expect((await reportOf()).broken).toBeNull();
    await seal();
    expect((await readHeads(data)).has(companyId)).toBe(false);
  });
});

describe("removing old entries", () => {
  const age = (ids: readonly number[]) =>
    change(sql`update activity set created_at = now() - interval '100 days' where id = any(${ids}::bigint[])`);
  const prune = () => pruneActivity({ database: own.database, data, days: 90 });
  const ids = async () =>
    (await own.database.selectFrom("activity").select("id").orderBy("id").execute()).map(({ id }) => id);

  it("keeps the rest verifiable, and finds tampering with it", async () => {
    const old = [await begin(), await begin()];
    await age(old);
    for (const id of old) await end(id);
    await seal();
    const [third = 0, fourth = 0] = await sealed(2);
    await prune();
    expect(await ids()).toEqual([third, fourth]);
    expect(await reportOf()).toMatchObject({ seals: 2, broken: null });
    await change(sql`delete from activity_seals where activity_id = ${third}`);
    await change(sql`delete from activity where id = ${third}`);
    expect((await reportOf()).broken).toMatchObject({ sequence: 3 });
  });

  it("lets new entries be sealed between batches", async () => {
    await end(await begin());
    await own.database
      .transaction()
      .execute((transaction) =>
        recordOperatorAction(transaction, { type: "createCompany", parameters: { companyId }, actor: systemActor }),
      );
    const all = await ids();
    await age(all);
    await seal();
    const reading = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const first = own.database.transaction().execute(async (transaction) => {
      await sql`select from activity_seals for update`.execute(transaction);
      held.resolve();
      await reading.promise;
    });
    await held.promise;
    const pruning = prune();
    const isWaiting = async (type: string) => {
      const { rows } = await sql`select from pg_locks where not granted and locktype = ${type}`.execute(own.database);
      return rows.length > 0;
    };
    await vi.waitUntil(() => isWaiting("transactionid"));
    const between = whileNotSealing(own.database, ids);
    await vi.waitUntil(() => isWaiting("advisory"));
    reading.resolve();
    await Promise.all([first, pruning]);
    expect(await between).toHaveLength(all.length - 1);
    await prune();
    expect(await ids()).toEqual([]);
  });

  it("stops at a break, which stays visible", async () => {
    const old = [await begin(), await begin()];
    await age(old);
    for (const id of old) await end(id);
    await sealed(1);
    await change(sql`update activity set has_failed = true where id = ${old[0] ?? 0}`);
    await prune();
    expect(await ids()).toHaveLength(3);
    expect((await reportOf()).broken).toMatchObject({ sequence: 1 });
  });

  it("continues after a crash between the file of heads and the deletion", async () => {
    const old = [await begin()];
    await age(old);
    for (const id of old) await end(id);
    await sealed(1);
    const rows = await own.database.selectFrom("activity_seals").selectAll().where("sequence", "=", 1).execute();
    const entries = await own.database
      .selectFrom("activity")
      .selectAll()
      .where("id", "=", old[0] ?? 0)
      .execute();
    await prune();
    for (const { parameters, ...entry } of entries) {
      await sql`insert into activity (id, company_id, category, type, parameters, is_done, is_sealed, created_at)
        overriding system value values (${entry.id}, ${entry.company_id}, ${entry.category}, ${entry.type},
          ${JSON.stringify(parameters)}, true, true, ${entry.created_at})`.execute(own.database);
    }
    await own.database.insertInto("activity_seals").values(rows).execute();
    expect(await reportOf()).toMatchObject({ seals: 1, broken: null });
  });
});
