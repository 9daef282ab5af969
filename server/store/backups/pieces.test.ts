/** Which pieces a backup can use, and that nothing is removed while a backup uses it. */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, test as it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { beginBackup, removeBackupById } from "./backups.ts";
import type { BackupRef } from "./finishedBackup.ts";
import { clampFutureTimes, findUnusedPacks, markUnusedPacks, removePack } from "./packs.ts";
import { piecesFor } from "./pieces.ts";

const test = useTestDatabase();

const later = () => new Date(Date.now() + 60_000);
const keyOf = (name: Buffer) => name.toString("base64");

/** Starts a backup of a new site. */
async function begin(companyId: string): Promise<BackupRef> {
  const { environmentId } = await addSite(test.database, companyId);
  const facts = { name: "n", note: null, type: "manual", address: "http://x.localhost", expiresAt: later() } as const;
  const backup = await beginBackup(test.database, { environmentId, operationId: randomUUID(), ...facts });
  if (backup === null) throw new Error("No such environment");
  return backup;
}

/** Starts a backup and adds a pack of `count` pieces. */
async function withPack(companyId: string, count = 2) {
  const backup = await begin(companyId);
  const pieces = Array.from({ length: count }, (_, at) => ({ name: randomBytes(32), start: at * 10, length: 10 }));
  const [index, pack] = [piecesFor(test.database, backup), randomUUID()];
  await index.beginPack(pack, Buffer.alloc(8));
  await index.addPack(pack, count * 10, pieces);
  return { backup, index, pack, names: pieces.map(({ name }) => name), pieces };
}

it("pieces of kept packs are found by name, only within their company", async () => {
  const { companyId } = await addCompany(test.database);
  const { index, pack, names, pieces } = await withPack(companyId);
  const unknown = randomBytes(32);
  expect(await index.claim([...names, unknown])).toEqual(new Set(names.map(keyOf)));
  expect([...(await index.locate([...names, unknown])).values()]).toEqual(
    expect.arrayContaining(pieces.map((piece) => ({ ...piece, pack, isLost: false }))),
  );
  expect(await index.neededPacks()).toMatchObject(new Map([[pack, expect.objectContaining({ bytes: 20 })]]));
  const foreignIndex = piecesFor(test.database, await begin((await addCompany(test.database)).companyId));
  expect(await foreignIndex.claim(names)).toEqual(new Set());
});

it("packs count as unread after another pack of the company is lost, until they are read again", async () => {
  const { companyId } = await addCompany(test.database);
  const [one, other] = [await withPack(companyId), await withPack(companyId)];
  const foreign = await withPack((await addCompany(test.database)).companyId);
  const readAt = async ({ index, pack }: typeof one) => (await index.neededPacks()).get(pack)?.readAt;
  await other.index.markLost([other.pack]);
  expect(await readAt(one)).toBeNull();
  expect(await readAt(foreign)).toBeInstanceOf(Date);
  await one.index.noteRead(one.pack);
  expect(await readAt(one)).toBeInstanceOf(Date);
});

it("the same holds if the clock was ahead when the other pack was lost", async () => {
  const { companyId } = await addCompany(test.database);
  const [one, other] = [await withPack(companyId), await withPack(companyId)];
  await other.index.markLost([other.pack]);
  const packs = test.database.updateTable("packs").set({ state_since: new Date(Date.now() + 1e10) });
  await packs.where("id", "=", other.pack).execute();
  await clampFutureTimes(test.database, new Date());
  expect((await one.index.neededPacks()).get(one.pack)?.readAt).toBeNull();
  await one.index.noteRead(one.pack);
  expect((await one.index.neededPacks()).get(one.pack)?.readAt).toBeInstanceOf(Date);
});

it("a pack that is being written can't be used yet", async () => {
  const { companyId } = await addCompany(test.database);
  const index = piecesFor(test.database, await begin(companyId));
  const pack = randomUUID();
  await index.beginPack(pack, Buffer.alloc(8));
  expect(await index.neededPacks()).toEqual(new Map());
  expect(await markUnusedPacks(test.database, later())).toBeGreaterThan(0);
  const piece = { name: randomBytes(32), start: 0, length: 1 };
  await expect(index.addPack(pack, 1, [piece])).rejects.toThrow("was marked as unused");
  expect(await index.claim([piece.name])).toEqual(new Set());
});

it("a pack stays as long as a backup needs it", async () => {
  const { companyId } = await addCompany(test.database);
  const first = await withPack(companyId);
  const second = await begin(companyId);
  expect((await piecesFor(test.database, second).claim(first.names)).size).toBe(2);
  await removeBackupById(test.database, first.backup.id);
  const unused = async () => (await findUnusedPacks(test.database, later())).map(({ id }) => id);
  await markUnusedPacks(test.database, later());
  expect(await unused()).not.toContain(first.pack);
  await removeBackupById(test.database, second.id);
  await markUnusedPacks(test.database, new Date(Date.now() - 60_000));
  expect(await unused()).not.toContain(first.pack);
  await markUnusedPacks(test.database, later());
  expect(await unused()).toContain(first.pack);
});

it("an unused pack can't be claimed, and is removed with its pieces", async () => {
  const { companyId } = await addCompany(test.database);
  const { backup, pack, names } = await withPack(companyId);
  await removePack(test.database, pack);
  await removeBackupById(test.database, backup.id);
  await markUnusedPacks(test.database, later());
  const next = piecesFor(test.database, await begin(companyId));
  expect(await next.claim(names)).toEqual(new Set());
  await removePack(test.database, pack);
  const remaining = await test.database.selectFrom("pieces").select("name").where("pack_id", "=", pack).execute();
  expect(remaining).toEqual([]);
});

it("claiming a pack and marking it as unused at once never both succeed", async () => {
  const { companyId } = await addCompany(test.database);
  for (let round = 0; round < 20; round += 1) {
    const { backup, pack, names } = await withPack(companyId, 1);
    const next = piecesFor(test.database, await begin(companyId));
    await removeBackupById(test.database, backup.id);
    const [claimed] = await Promise.all([next.claim(names), markUnusedPacks(test.database, later())]);
    const [row] = await test.database.selectFrom("packs").select("state").where("id", "=", pack).execute();
    expect(row?.state).toBe(claimed.size === 1 ? "kept" : "unused");
    expect((await next.neededPacks()).has(pack)).toBe(claimed.size === 1);
  }
});

it("a piece that two backups added at once is found for each in its own pack", async () => {
  const { companyId } = await addCompany(test.database);
  const name = randomBytes(32);
  const both = await Promise.all(
    [0, 1].map(async () => {
      const backup = await begin(companyId);
      const [index, pack] = [piecesFor(test.database, backup), randomUUID()];
      await index.beginPack(pack, Buffer.alloc(8));
      await index.addPack(pack, 10, [{ name, start: 0, length: 10 }]);
      return { index, pack };
    }),
  );
  for (const { index, pack } of both) expect((await index.locate([name])).get(keyOf(name))?.pack).toBe(pack);
});

it("a lost pack can't be claimed, but stays among the packs that backups need", async () => {
  const { companyId } = await addCompany(test.database);
  const { index: earlier, pack, names } = await withPack(companyId);
  const index = piecesFor(test.database, await begin(companyId));
  await index.claim(names);
  await index.markLost([pack]);
  expect([(await index.neededPacks()).size, await index.claim(names)]).toEqual([1, new Set()]);
  await index.release([pack]);
  expect(await index.neededPacks()).toEqual(new Map());
  expect(await earlier.neededPacks()).toMatchObject(new Map([[pack, expect.objectContaining({ bytes: 20 })]]));
});
