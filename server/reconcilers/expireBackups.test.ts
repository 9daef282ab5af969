import { randomUUID } from "node:crypto";
import { expect, test as it } from "vitest";
import { beginBackup, findBackup, finishBackup } from "../store/backups.ts";
import { piecesFor } from "../store/pieces.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { expireBackups } from "./expireBackups.ts";

const test = useTestDatabase();
const day = 86_400_000;

/** A finished backup that is kept for so many days, with a pack of its own. */
async function addBackup(days: number) {
  const { companyId } = await addCompany(test.database);
  const { environmentId } = await addSite(test.database, companyId);
  const expiresAt = new Date(Date.now() + days * day);
  const facts = { name: "n", note: null, type: "manual", address: "http://x.localhost", expiresAt } as const;
  const backup = await beginBackup(test.database, { environmentId, operationId: randomUUID(), ...facts });
  if (backup === null) throw new Error("There is no environment");
  const [index, pack] = [piecesFor(test.database, backup), randomUUID()];
  await index.beginPack(pack);
  await index.addPack(pack, 1, []);
  await finishBackup(test.database, backup, { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 });
  return { ...backup, pack };
}

/** A sweep so many days from now, and which packs it removed. */
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

it("a backup goes when it is kept no longer, and what only it needed a day after that", async () => {
  const short = await addBackup(2);
  const long = await addBackup(30);
  expect(await sweep(1)).toEqual([]);
  expect(await findBackup(test.database, short.id)).not.toBeNull();
  expect(await sweep(3)).toEqual([]);
  expect(await findBackup(test.database, short.id)).toBeNull();
  expect(await sweep(5)).toEqual([short.pack]);
  expect(await sweep(6)).toEqual([]);
  expect(await findBackup(test.database, long.id)).not.toBeNull();
});

it("a pack that could not be removed is removed the next time", async () => {
  const { pack } = await addBackup(2);
  await sweep(3);
  const full = { removePack: () => Promise.reject(new Error("unreachable")) };
  const now = () => Date.now() + 5 * day;
  await expect(expireBackups({ database: test.database, archives: full, now })).rejects.toThrow("unreachable");
  expect(await sweep(6)).toContain(pack);
});

it("a clock that was put back removes nothing", async () => {
  const { id } = await addBackup(2);
  expect(await sweep(-400)).toEqual([]);
  expect(await findBackup(test.database, id)).not.toBeNull();
});
