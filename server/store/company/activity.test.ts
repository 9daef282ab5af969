import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany } from "../testing/rows.ts";
import { type ActivityFilter, endActivity, listActivity, recordActivity, systemActor } from "./activity.ts";

const test = useTestDatabase();
let companyId: string;

function filterOf(more: Partial<ActivityFilter> = {}): ActivityFilter {
  const none = { category: null, siteId: null, userId: null, apiKeyId: null, siteIds: null };
  return { companyId, ...none, limit: 10, offset: 0, ...more };
}

const record = (more: { readonly siteId?: string; readonly category?: string } = {}) =>
  test.database.transaction().execute((transaction) =>
    recordActivity(transaction, {
      companyId,
      siteId: null,
      category: "siteActions",
      type: "addSite",
      parameters: { siteName: "Demo" },
      actor: systemActor,
      ...more,
    }),
  );

beforeAll(async () => {
  companyId = (await addCompany(test.database)).companyId;
});

describe("an entry", () => {
  it("ends once: the first result stays", async () => {
    const id = await record();
    const end = (hasFailed: boolean, publicError: string | null) =>
      test.database.transaction().execute((transaction) => endActivity(transaction, id, { hasFailed, publicError }));
    await end(true, "The disk is full.");
    await end(false, null);
    const { items } = await listActivity(test.database, filterOf({ limit: 1 }));
    expect(items[0]).toMatchObject({ id, is_done: true, has_failed: true, public_error: "The disk is full." });
    expect(items[0]?.parameters).toEqual({ siteName: "Demo" });
    expect(items[0]?.id).toBeTypeOf("number");
  });
});

describe("the list", () => {
  it("counts all matches, whichever page is read", async () => {
    const siteId = randomUUID();
    for (let number = 0; number < 5; number += 1) await record({ siteId });
    await record({ siteId, category: "billing" });
    expect((await listActivity(test.database, filterOf({ siteId, limit: 2, offset: 4 }))).total).toBe(6);
    expect((await listActivity(test.database, filterOf({ siteId, category: "billing" }))).total).toBe(1);
    expect((await listActivity(test.database, filterOf({ siteIds: [siteId], limit: 0 }))).total).toBe(6);
    expect((await listActivity(test.database, filterOf({ siteIds: [] }))).total).toBe(0);
  });

  it("reads a page of many entries from an index, without sorting", async () => {
    await sql`insert into activity (company_id, category, type)
      select ${companyId}::uuid, 'billing', 'bulk' from generate_series(1, 20000)`.execute(test.database);
    await sql`analyze activity`.execute(test.database);
    const { rows } = await sql<{ "QUERY PLAN": string }>`explain select * from activity
      where company_id = ${companyId} and category = 'billing' order by id desc limit 10`.execute(test.database);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("Index Scan");
    expect(plan).not.toMatch(/Sort|Seq Scan/);
    expect((await listActivity(test.database, filterOf({ category: "billing" }))).total).toBe(20_001);
  });
});
