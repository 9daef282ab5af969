import { randomUUID } from "node:crypto";
import { expect, test as it } from "vitest";
import { beginBackup, findBackup, finishBackup } from "../store/backups/backups.ts";
import { keepDeletedEnvironments } from "../store/backups/deletedEnvironments.ts";
import { keepDeletedSite } from "../store/backups/deletedSites.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import { recordActivity, systemActor } from "../store/company/activity.ts";
import { insertOperation, type NewOperation } from "../store/operations.ts";
import { removeEnvironmentRows } from "../store/sites/environments.ts";
import { removeSiteRows } from "../store/sites/siteStates.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { expireBackups } from "./expireBackups.ts";

const test = useTestDatabase();
const day = 86_400_000;

/** Adds a site with one environment; returns their ids. */
async function addEnvironment() {
  const { companyId } = await addCompany(test.database);
  const { id: siteId, environmentId } = await addSite(test.database, companyId);
  return { companyId, siteId, environmentId };
}

/** Adds a finished backup that expires after `days`, with its own pack, of `place` or a new environment. */
async function addBackup(days: number, place?: Awaited<ReturnType<typeof addEnvironment>>) {
  const { companyId, siteId, environmentId } = place ?? (await addEnvironment());
  const operationId = await addOperation(companyId);
  const expiresAt = new Date(Date.now() + days * day);
  const facts = { name: "n", note: null, type: "manual", address: "http://x.localhost", expiresAt } as const;
  const backup = await beginBackup(test.database, { environmentId, operationId, ...facts });
  if (backup === null) throw new Error("There is no environment");
  const [index, pack] = [piecesFor(test.database, backup), randomUUID()];
  await index.beginPack(pack, Buffer.alloc(8));
  await index.addPack(pack, 1, []);
  await finishBackup(test.database, backup, { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 });
  return { ...backup, siteId, environmentId, operationId, pack };
}

/** Inserts a running operation; returns its id. */
function addOperation(companyId: string, of: Partial<Pick<NewOperation, "kind" | "input">> = {}): Promise<string> {
  return test.database.transaction().execute(async (transaction) => {
    const entry = { companyId, siteId: null, category: "siteActions", type: "deleteSite", parameters: {} } as const;
    const activityId = await recordActivity(transaction, { ...entry, actor: systemActor });
    const id = `sites:delete-${randomUUID()}`;
    const ids = { id, companyId, siteId: null, environmentId: null, activityId, referenceId: randomUUID() };
    const facts = { kind: "deleteSite", state: "running", stepsTotal: 1, input: {}, secret: null, ...of } as const;
    await insertOperation(transaction, { ...ids, ...facts });
    return id;
  });
}

/**
 * Adds a deleted site with two backups that expire after `days` and `otherDays`. It can be restored for `restorableDays`.
 */
async function addDeletedSite(days: number, otherDays: number, restorableDays = days) {
  const last = await addBackup(days);
  const { siteId, environmentId, operationId } = last;
  const other = { environmentId, operationId: randomUUID(), name: "n", note: null, type: "manual" } as const;
  const expiresAt = new Date(Date.now() + otherDays * day);
  const backup = await beginBackup(test.database, { ...other, address: "http://x.localhost", expiresAt });
  if (backup === null) throw new Error("There is no environment");
  await finishBackup(test.database, backup, { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 });
  await test.database.transaction().execute(async (transaction) => {
    await keepDeletedSite(transaction, siteId, { operationId, restorableDays });
    await removeSiteRows(transaction, siteId);
  });
  return { ...last, otherId: backup.id };
}

/** Adds an environment that was deleted without its site and can be restored for two days. */
async function addDeletedEnvironment() {
  const backup = await addBackup(2);
  const { environmentId, operationId } = backup;
  await test.database.transaction().execute(async (transaction) => {
    await keepDeletedEnvironments(transaction, [environmentId], {
      operationId,
      restorableDays: 2,
      wentWithSite: false,
    });
    await removeEnvironmentRows(transaction, environmentId);
  });
  return backup;
}

function deletedRows(siteId: string) {
  const environments = test.database.selectFrom("deleted_environments").select("id").where("site_id", "=", siteId);
  return test.database
    .selectFrom("deleted_sites")
    .select("id")
    .where("id", "=", siteId)
    .unionAll(environments)
    .execute();
}

/** Adds a backup, and a newer one of the same environment that never expires. */
async function addFollowedBackup(days: number) {
  const place = await addEnvironment();
  const backup = await addBackup(days, place);
  await addBackup(10_000, place);
  return backup;
}

const isThere = async ({ id }: { readonly id: number }) => (await findBackup(test.database, id)) !== null;

/** Runs `expireBackups` as of `days` from now; returns the removed packs. */
async function sweep(days: number): Promise<readonly string[]> {
  const removed: string[] = [];
  const archives = {
    removePack: async ({ id }: { readonly id: string }) => {
      removed.push(id);
    },
  };
  await expireBackups({ database: test.database, archives, now: () => Date.now() + days * day });
  return removed;
}

it("an expired backup is removed, and packs that only it needed a day later", async () => {
  const short = await addFollowedBackup(2);
  const long = await addFollowedBackup(30);
  expect(await sweep(1)).toEqual([]);
  expect(await isThere(short)).toBe(true);
  expect(await sweep(3)).toEqual([]);
  expect(await isThere(short)).toBe(false);
  expect(await sweep(5)).toEqual([short.pack]);
  expect(await sweep(6)).toEqual([]);
  expect(await isThere(long)).toBe(true);
});

it("packs with timestamps from the future are also removed a day after the backups that needed them", async () => {
  const { pack } = await addFollowedBackup(2.5);
  const unused = (await addFollowedBackup(1)).pack;
  await sweep(2);
  const packs = test.database.updateTable("packs").set({ state_since: new Date(Date.now() + 400 * day) });
  await packs.where("id", "in", [pack, unused]).execute();
  const goneAt = async (days: number) => (await sweep(days)).filter((id) => id === pack || id === unused);
  expect(await goneAt(3)).toEqual([]);
  expect(await goneAt(5)).toEqual([unused]);
  expect(await goneAt(7)).toEqual([pack]);
});

it("a pack whose removal failed is removed in the next run", async () => {
  const { pack } = await addFollowedBackup(2);
  await sweep(3);
  const failing = { removePack: () => Promise.reject(new Error("unreachable")) };
  const now = () => Date.now() + 5 * day;
  await expect(expireBackups({ database: test.database, archives: failing, now })).rejects.toThrow("unreachable");
  expect(await sweep(6)).toContain(pack);
});

it("nothing is removed if the clock is set back", async () => {
  const backup = await addFollowedBackup(2);
  expect(await sweep(-400)).toEqual([]);
  expect(await isThere(backup)).toBe(true);
});

it("the newest backup of an environment is kept, however old, until there is a newer one", async () => {
  const place = await addEnvironment();
  const { environmentId } = place;
  const first = await addBackup(1, place);
  const second = await addBackup(2, place);
  await sweep(5_000);
  expect([await isThere(first), await isThere(second)]).toEqual([false, true]);
  // An unfinished backup does not replace it.
  const facts = {
    name: "n",
    note: null,
    type: "manual",
    address: "http://x.localhost",
    expiresAt: new Date(),
  } as const;
  await beginBackup(test.database, { environmentId, operationId: randomUUID(), ...facts });
  await sweep(5_000);
  expect(await isThere(second)).toBe(true);
  await addBackup(1, place);
  await sweep(5_000);
  expect(await isThere(second)).toBe(false);
});

it("no backup of an environment is removed during an operation, because its new backup may be undone", async () => {
  const place = await addEnvironment();
  const { companyId, siteId, environmentId } = place;
  const backup = await addBackup(2, place);
  await addBackup(10_000, place);
  const ids = { company_id: companyId, site_id: siteId };
  const activity = await test.database
    .insertInto("activity")
    .values({ ...ids, category: "siteActions", type: "addScheduledBackup", parameters: "{}" })
    .returning("id")
    .executeTakeFirstOrThrow();
  const id = `backups:add-scheduled-${randomUUID()}`;
  const operation = { id, kind: "addScheduledBackup", ...ids, environment_id: environmentId, steps_total: 2 } as const;
  const more = { activity_id: activity.id, state: "running", input: "{}", reference_id: randomUUID() } as const;
  await test.database
    .insertInto("operations")
    .values({ ...operation, ...more })
    .execute();
  await sweep(3);
  expect(await isThere(backup)).toBe(true);
  await test.database.updateTable("operations").set({ state: "succeeded" }).where("id", "=", id).execute();
  await sweep(3);
  expect(await isThere(backup)).toBe(false);
});

it("a deleted site is forgotten with all its backups when it can no longer be restored", async () => {
  const { id, otherId, siteId } = await addDeletedSite(2, 30);
  await sweep(1);
  expect(await deletedRows(siteId)).toHaveLength(2);
  expect(await findBackup(test.database, id)).not.toBeNull();
  await sweep(3);
  expect(await deletedRows(siteId)).toEqual([]);
  expect(await findBackup(test.database, otherId)).toBeNull();
});

it("the last backup of a deleted site is kept while the site can be restored; the others expire as usual", async () => {
  const { id, otherId, siteId } = await addDeletedSite(1, 2, 10);
  await sweep(3);
  expect(await findBackup(test.database, id)).not.toBeNull();
  expect(await findBackup(test.database, otherId)).toBeNull();
  await sweep(9);
  expect(await deletedRows(siteId)).toHaveLength(2);
  expect(await findBackup(test.database, id)).not.toBeNull();
  await sweep(11);
  expect(await deletedRows(siteId)).toEqual([]);
  expect(await findBackup(test.database, id)).toBeNull();
});

it("a deleted site can be restored even if its only backups have expired", async () => {
  const { id, siteId } = await addDeletedSite(-3, -3, 10);
  await sweep(9);
  expect(await deletedRows(siteId)).toHaveLength(2);
  expect(await findBackup(test.database, id)).not.toBeNull();
});

it("a deleted site is not forgotten while it is being restored", async () => {
  const { id, environmentId, operationId, siteId } = await addDeletedSite(2, 2);
  const lock = { environment_id: environmentId, operation_id: operationId };
  await test.database.insertInto("environment_locks").values(lock).execute();
  await sweep(3);
  expect(await deletedRows(siteId)).toHaveLength(2);
  expect(await findBackup(test.database, id)).not.toBeNull();
  await test.database.deleteFrom("environment_locks").execute();
  await sweep(3);
  expect(await deletedRows(siteId)).toEqual([]);
});

it.each([
  ["restored", "restoreBackup", (backupId: number) => ({ backupId })],
  ["packed for download", "addDownloadableBackup", (id: number) => ({ backup: { id, name: "n" } })],
] as const)(
  "a backup that is being %s elsewhere is kept, and so is its deleted site or environment",
  async (_, kind, inputOf) => {
    const expired = await addFollowedBackup(2);
    const site = await addDeletedSite(2, 2);
    const alone = await addDeletedEnvironment();
    const backups = [expired, site, alone];
    const ids = [];
    for (const { id, companyId } of backups) ids.push(await addOperation(companyId, { kind, input: inputOf(id) }));
    await sweep(3);
    expect(await Promise.all(backups.map(isThere))).toEqual([true, true, true]);
    expect([...(await deletedRows(site.siteId)), ...(await deletedRows(alone.siteId))]).toHaveLength(3);
    await test.database.updateTable("operations").set({ state: "failed" }).where("id", "in", ids).execute();
    await sweep(3);
    expect(await Promise.all(backups.map(isThere))).toEqual([false, false, false]);
  },
);

it("an environment that was deleted without its site is forgotten when it can no longer be restored", async () => {
  const { id, siteId } = await addDeletedEnvironment();
  await sweep(1);
  expect(await deletedRows(siteId)).toHaveLength(1);
  await sweep(3);
  expect(await deletedRows(siteId)).toEqual([]);
  expect(await findBackup(test.database, id)).toBeNull();
});
