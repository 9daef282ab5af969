import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { makeBackupLists } from "./backupList.ts";

let own: TestDatabase;
let environmentId: string;
beforeEach(async () => {
  own = await createTestDatabase();
  const { companyId } = await addCompany(own.database);
  ({ environmentId } = await addSite(own.database, companyId));
  return own.drop;
});

/** Adds `count` finished backups. */
async function addBackups(count: number): Promise<void> {
  await sql`
    insert into backups (company_id, site_id, environment_id, name, type, operation_id, address, expires_at, manifest,
      bytes, verified_at)
    select company_id, site_id, id, 'Backup ' || nth, 'manual', ${randomUUID()} || nth, 'http://a.localhost',
      now(), decode('00', 'hex'), nth, now()
    from environments, generate_series(1, ${count}::integer) nth where id = ${environmentId}`.execute(own.database);
}

const readFresh = () => makeBackupLists(own.pool).list(environmentId);

/** Returns the names of the prepared statements that `work` runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(own.pool, "query");
  try {
    await work();
    return query.mock.calls.map(([statement]: readonly unknown[]) => nameOf(statement));
  } finally {
    query.mockRestore();
  }
}

function nameOf(statement: unknown): string {
  return typeof statement === "object" && statement !== null && "name" in statement ? String(statement.name) : "";
}

test("an unchanged long list is not read again", async () => {
  await addBackups(150);
  const lists = makeBackupLists(own.pool);
  const first = await lists.list(environmentId);
  expect(first?.backups.map(({ name }) => name).slice(0, 2)).toEqual(["Backup 150", "Backup 149"]);
  expect(first?.backups).toHaveLength(150);
  expect(await statementsOf(() => lists.list(environmentId))).toEqual(["version-of-backups"]);
  expect(await lists.list(environmentId)).toEqual(first);
});

test("a short list is read with one statement each time", async () => {
  await addBackups(3);
  const lists = makeBackupLists(own.pool);
  await lists.list(environmentId);
  expect(await statementsOf(() => lists.list(environmentId))).toEqual(["list-backups"]);
});

describe("a cached list shows at once", () => {
  test.each<[string, (newest: number) => Promise<unknown>]>([
    ["a new backup", () => addBackups(1)],
    ["a removed backup", (id) => own.database.deleteFrom("backups").where("id", "=", id).execute()],
    ["damage", (id) => set(id, { damage: "It lacks a.jpg." })],
    ["a successful test restore", (id) => set(id, { last_proven_restore: new Date() })],
    ["a backup that is no longer finished", (id) => set(id, { manifest: null })],
    ["a new name of the environment", () => renameEnvironment()],
    ["swapped values of two backups", (id) => swap(id)],
  ])("%s", async (_what, change) => {
    await addBackups(120);
    const lists = makeBackupLists(own.pool);
    const before = await lists.list(environmentId);
    await change(before?.backups[0]?.id ?? 0);
    const after = await lists.list(environmentId);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await readFresh());
  });

  test("that the environment is gone", async () => {
    await addBackups(120);
    const lists = makeBackupLists(own.pool);
    await lists.list(environmentId);
    await own.database.updateTable("environments").set({ state: "adding" }).where("id", "=", environmentId).execute();
    expect(await lists.list(environmentId)).toBeNull();
  });
});

function set(id: number, values: { damage?: string; last_proven_restore?: Date; manifest?: null }) {
  return own.database.updateTable("backups").set(values).where("id", "=", id).execute();
}

function renameEnvironment() {
  return own.database
    .updateTable("environments")
    .set({ display_name: "Shop" })
    .where("id", "=", environmentId)
    .execute();
}

function swap(newest: number) {
  const bytes = sql<number>`case when id = ${newest} then 1 else 2 end`;
  return own.database
    .updateTable("backups")
    .set({ bytes })
    .where("id", "in", [newest, newest - 1])
    .execute();
}
