/** Full and incremental scheduled backups of real WordPress. */
import { randomUUID } from "node:crypto";
import { open, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { systemActor } from "../../store/company/activity.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import { fetchBackup } from "../steps/fetchBackup.ts";

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
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

/** Changes the content, but not the file's size, inode and modification time. */
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

/** Runs the operation, and returns the file's content in the backup and the time of the last full read. */
async function backUpNow(kind: "addScheduledBackup" | "addManualBackup", isRetry = false) {
  const { environment, address, companyId, siteId } = site;
  const input = { environment, address, isRetry, againAfter: null, note: null };
  const ids = { companyId, siteId, environmentId: environment.id, locks: [] };
  const more = { whenBusy: "fail", actor: systemActor, activityParameters: {} } as const;
  const row = await withEngine(world, (harness) => harness.submit({ kind, input, ...ids, ...more }));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
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

test("changes that keep a file's metadata are missed until the weekly full read", async () => {
  const first = await backUpNow("addScheduledBackup");
  expect(first.content).toBe("then");
  await changeSecretly();
  expect(await backUpNow("addScheduledBackup")).toEqual(first);
  const lastRead = Date.now() - 7 * day;
  await setFullyReadAt(lastRead);
  // Neither manual backups nor retries do a full read.
  expect(await backUpNow("addManualBackup")).toEqual({ content: "then", fullyReadAt: lastRead });
  expect(await backUpNow("addScheduledBackup", true)).toEqual({ content: "then", fullyReadAt: lastRead });
  const again = await backUpNow("addScheduledBackup");
  expect(again.content).toBe("now!");
  expect(again.fullyReadAt).toBeGreaterThanOrEqual(first.fullyReadAt);
  expect(await backUpNow("addScheduledBackup")).toEqual(again);
});

test.each([
  ["unknown", null],
  ["in the future, because the clock was set back", Date.now() + 400 * day],
])("does a full read if the time of the last one is %s", async (_, lastRead) => {
  await backUpNow("addScheduledBackup");
  await changeSecretly();
  await setFullyReadAt(lastRead);
  expect((await backUpNow("addScheduledBackup")).content).toBe("now!");
});
