/** What scheduled backups of real WordPress read, and what they take over from the backup before. */
import { randomUUID } from "node:crypto";
import { open, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BackupType, findNewestBackup } from "../store/backups.ts";
import { playground } from "../testing/playground.ts";
import { liveSite } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { backUp } from "./backup.ts";
import { fetchBackup } from "./fetchBackup.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld(playground);
  await world.services.runtime.prepare(() => undefined);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

let site: Awaited<ReturnType<typeof liveSite>>;
let file: string;
beforeEach(async () => {
  site = await liveSite(world);
  const layout = await world.services.runtime.layout(site.environment);
  file = join(layout?.documentRoot ?? "", "picture.bin");
  await writeFile(file, "then");
  await setTime();
});

const { signal } = new AbortController();
const day = 86_400_000;
const longAgo = 1_700_000_000;

function setTime(): Promise<void> {
  return utimes(file, longAgo, longAgo);
}

/** Changes the content, and nothing else that can be seen from outside. */
async function changeSecretly(): Promise<void> {
  const facts = async () => {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return { ino, size, mtimeNs };
  };
  const before = await facts();
  const handle = await open(file, "r+");
  await handle.write("now!", 0);
  await handle.close();
  await setTime();
  expect(await facts()).toEqual(before);
}

/** Backs up, and gives what is in the file according to the backup, and when everything was last read. */
async function backUpNow(type: BackupType) {
  const { environment, address } = site;
  const wish = { environment, address, operationId: randomUUID(), type, name: type, note: null };
  await backUp(world.services, wish, signal);
  const backup = await findNewestBackup(world.services.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  const work = randomUUID();
  const folder = await fetchBackup(world.services, { backup, work }, signal);
  const content = await readFile(join(folder, "public", "picture.bin"), "utf8");
  await world.services.archives.removeWorkFolder(work);
  return { content, fullyReadAt: backup.fullyReadAt?.getTime() ?? 0 };
}

async function setFullyReadAt(fullyReadAt: number | null): Promise<void> {
  await world.own.database
    .updateTable("backups")
    .set({ fully_read_at: fullyReadAt === null ? null : new Date(fullyReadAt) })
    .where("environment_id", "=", site.environment.id)
    .execute();
}

test("what changed without being seen is missed, until a week later everything is read again", async () => {
  const first = await backUpNow("scheduled");
  expect(first.content).toBe("then");
  await changeSecretly();
  expect(await backUpNow("scheduled")).toEqual(first);
  const lastRead = Date.now() - 7 * day;
  await setFullyReadAt(lastRead);
  // Somebody waits for this one.
  expect(await backUpNow("manual")).toEqual({ content: "then", fullyReadAt: lastRead });
  const again = await backUpNow("scheduled");
  expect(again.content).toBe("now!");
  expect(again.fullyReadAt).toBeGreaterThanOrEqual(first.fullyReadAt);
  expect(await backUpNow("scheduled")).toEqual(again);
});

test.each([
  ["nobody knows when everything was last read", null],
  ["that was in the future, by a clock that was put back since", Date.now() + 400 * day],
])("where %s, everything is read again", async (_, lastRead) => {
  await backUpNow("scheduled");
  await changeSecretly();
  await setFullyReadAt(lastRead);
  expect((await backUpNow("scheduled")).content).toBe("now!");
});
