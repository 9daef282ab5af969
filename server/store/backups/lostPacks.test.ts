/** A pack is lost while a backup that needs it is finished: the backup must end up marked as damaged. */
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test as it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { beginBackup, finishBackup } from "./backups.ts";
import { suspectedDamage } from "./damage.ts";
import type { BackupRef } from "./finishedBackup.ts";
import { losePacks } from "./lostPacks.ts";
import { piecesFor } from "./pieces.ts";

const test = useTestDatabase();
const content = { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 };

/** Creates a pack and two unfinished backups that need it. */
async function twoOnOnePack() {
  const { companyId } = await addCompany(test.database);
  const { environmentId } = await addSite(test.database, companyId);
  const begin = async () => {
    const facts = { name: "n", note: null, type: "manual", address: "http://x.localhost" } as const;
    const backupFacts = { environmentId, operationId: randomUUID(), expiresAt: new Date(Date.now() + 1e9), ...facts };
    const backup = await beginBackup(test.database, backupFacts);
    if (backup === null) throw new Error("No such environment");
    return backup;
  };
  const [first, second, pack, name] = [await begin(), await begin(), randomUUID(), randomBytes(32)];
  const index = piecesFor(test.database, first);
  await index.beginPack(pack, Buffer.alloc(8));
  await index.addPack(pack, 10, [{ name, start: 0, length: 10 }]);
  await piecesFor(test.database, second).claim([name]);
  return { first, second, pack };
}

const factsOf = ({ id }: BackupRef) =>
  test.database.selectFrom("backups").select(["damage", "examine_at"]).where("id", "=", id).executeTakeFirstOrThrow();

const countLockWaits = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(test.database);
  return rows[0]?.count;
};

it("a backup that is finished while its pack is being lost is marked as damaged", async () => {
  const { first, second, pack } = await twoOnOnePack();
  await finishBackup(test.database, first, content);
  const losing = await test.database.transaction().execute(async (transaction) => {
    // Until this transaction ends, `losePacks` can't mark the first backup, so it can't commit.
    await transaction.selectFrom("backups").select("id").where("id", "=", first.id).forUpdate().execute();
    const work = losePacks(test.database, [pack]);
    await expect.poll(countLockWaits).toBe(1);
    await finishBackup(test.database, second, content);
    return { work };
  });
  await losing.work;
  for (const backup of [first, second]) {
    expect(await factsOf(backup)).toEqual({ damage: suspectedDamage, examine_at: expect.any(Date) });
  }
});

it("a finished backup is not marked for a lost pack that it no longer needs", async () => {
  const { first, second, pack } = await twoOnOnePack();
  await losePacks(test.database, [pack]);
  await piecesFor(test.database, first).release([pack]);
  for (const backup of [first, second]) await finishBackup(test.database, backup, content);
  expect(await factsOf(first)).toEqual({ damage: null, examine_at: null });
  expect(await factsOf(second)).toEqual({ damage: suspectedDamage, examine_at: expect.any(Date) });
});
