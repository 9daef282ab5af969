/** What a restore is called afterwards, and what becomes of one whose backup goes while it is fetched. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BackupDamaged } from "../../archives/load.ts";
import { findNewestBackup, removeBackupById, removeExpiredBackups } from "../../store/backups/backups.ts";
import { restoringBackup, restoringWithoutBackup } from "../../testing/backups.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { backUp } from "../steps/backup.ts";
import type { Services } from "../steps/services.ts";
import { type Candidate, frontPageOrMaintenance } from "../steps/trial.ts";
import type { RestoreBackupInput } from "./restoreBackup.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The same wish, but for this, as somebody would ask for it again. */
function restoreAs(request: OperationRequest, change: Partial<RestoreBackupInput>): OperationRequest {
  const input: RestoreBackupInput = Object(request.input);
  return { ...request, input: { ...input, token: randomUUID(), ...change } };
}

const bypassHint =
  ' To restore it all the same, and lose what the environment is now, send { "without_backup": true } with backup_id.';

function run(request: OperationRequest, change: Partial<Services> = {}) {
  const services = { ...world.services, ...change };
  return withEngine({ ...world, services }, (table) => table.submit(request));
}

describe("the backup before a restore", () => {
  test.each([
    ["Daily", "Before a restore of Daily"],
    ["Before a restore of Daily", "Before the restore of Daily was undone"],
    ["Before the restore of Daily was undone", "Before a restore of Daily"],
    ["Before a push from Staging", "Before a restore of Before a push from Staging"],
  ])("of %s is called so that no name grows", async (restored, name) => {
    const request = await restoringBackup.prepare(world);
    expect(await run(restoreAs(request, { backupName: restored }))).toMatchObject({ state: "succeeded" });
    const newest = world.own.database
      .selectFrom("backups")
      .select(["name", "note"])
      .where("environment_id", "=", request.environmentId)
      .orderBy("id", "desc");
    expect(await newest.executeTakeFirst()).toEqual({ name, note: name });
  });
});

describe("where what the environment is now can't be backed up", () => {
  test.each(["fail", "break"] as const)(
    "(%s) a restore changes nothing and names the way out, which restores",
    async (what) => {
      const request = await restoringBackup.prepare(world);
      const message = "A database is damaged, so that it can't be copied.";
      const ofWorld = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") }).script;
      await ofWorld.setFaults([{ method: "snapshot", when: "before", what, message }]);
      const row = await run(request);
      const begins = what === "fail" ? message : "Something went wrong on the server. The operator finds the cause";
      expect(row).toMatchObject({ state: "failed", public_error: expect.stringMatching(begins) });
      expect(row.public_error?.endsWith(bypassHint)).toBe(true);
      expect(await restoringBackup.cleanSlate(world, request)).toEqual([]);
      expect(await run(restoreAs(request, { withoutBackup: true }))).toMatchObject({ state: "succeeded" });
      await ofWorld.setFaults([]);
      expect(await restoringWithoutBackup.finished(world, request)).toEqual([]);
    },
  );
});

describe("with a disk quota, a restore", () => {
  const quotaBytes = 1_000_000;

  /** A backup with so much in a folder of its own, beside what the site has. */
  async function backupWith(folder: string, bytes: number) {
    const request = await restoringBackup.prepare(world);
    const { target, address }: RestoreBackupInput = Object(request.input);
    const { runtime } = world.services;
    const snapshot: typeof runtime.snapshot = async (environment, place) => {
      await runtime.snapshot(environment, place);
      await mkdir(join(place, folder), { recursive: true });
      await writeFile(join(place, folder, "large.bin"), randomBytes(bytes));
    };
    const services = { ...world.services, runtime: { ...runtime, snapshot } };
    const wish = { environment: target, address, operationId: randomUUID(), type: "manual", name: "n" } as const;
    await backUp(services, { ...wish, note: null }, new AbortController().signal);
    const backup = await findNewestBackup(world.own.database, target.id);
    return restoreAs(request, { backupId: backup?.id ?? 0 });
  }

  test("is refused where the site would be larger", async () => {
    const row = await run(await backupWith("public/large", quotaBytes), { diskQuotaBytes: quotaBytes });
    expect(row.public_error).toBe(
      "The restore would make the environment 2 MB large, and its disk quota is 1 MB. Nothing was changed.",
    );
  });

  test("is not refused because of WordPress's own code, which the backup has with it", async () => {
    const row = await run(await backupWith("core/wp-includes", quotaBytes), { diskQuotaBytes: quotaBytes });
    expect(row).toMatchObject({ state: "succeeded", public_error: null });
  });

  test("of a backup whose list of files is damaged says that", async () => {
    const request = await backupWith("public/large", 10);
    const { archives } = world.services;
    const sizes: typeof archives.sizes = async () => {
      throw new BackupDamaged(
        "This backup can't be restored: what it needs for its list of files is missing or damaged.",
      );
    };
    const row = await run(request, { diskQuotaBytes: quotaBytes, archives: { ...archives, sizes } });
    expect(row.public_error).toMatch(/^This backup can't be restored: /);
  });
});

describe("a restore", () => {
  test("whose backup is removed while it is fetched says that, and leaves everything as it was", async () => {
    const request = await restoringBackup.prepare(world);
    const { archives } = world.services;
    const restore: typeof archives.restore = async (backup, ...order) => {
      await removeBackupById(world.own.database, backup.id);
      return archives.restore(backup, ...order);
    };
    const row = await run(request, { archives: { ...archives, restore } });
    expect(row).toMatchObject({ state: "failed", public_error: "The backup no longer exists." });
  });

  test("keeps its backup from expiring meanwhile, although what that is of is not held", async () => {
    const request = await restoringBackup.prepare(world);
    const { database } = world.own;
    const { backupId }: RestoreBackupInput = Object(request.input);
    const { archives } = world.services;
    const row = database.selectFrom("backups").select("environment_id").where("id", "=", backupId);
    const of = await row.executeTakeFirstOrThrow();
    // As if it were of another environment, one that is not there any more.
    const elsewhere = "00000000-0000-4000-8000-000000000000";
    await database.updateTable("backups").set({ environment_id: elsewhere }).where("id", "=", backupId).execute();
    const left: number[] = [];
    const restore: typeof archives.restore = async (...order) => {
      await removeExpiredBackups(database, new Date(Date.now() + 10_000 * 86_400_000));
      const found = await database.selectFrom("backups").select("id").where("id", "=", backupId).execute();
      left.push(...found.map(({ id }) => id));
      return archives.restore(...order);
    };
    expect(await run(request, { archives: { ...archives, restore } })).toMatchObject({ state: "succeeded" });
    expect(left).toEqual([backupId]);
    await database.updateTable("backups").set(of).where("id", "=", backupId).execute();
  });

  test("is tried out as what was closed for maintenance may be, too", async () => {
    const request = await restoringBackup.prepare(world);
    const tried: Candidate[] = [];
    const { tryOut } = world.services;
    const row = await run(request, {
      tryOut: (candidate, signal) => {
        tried.push(candidate);
        return tryOut(candidate, signal);
      },
    });
    expect(row.state).toBe("succeeded");
    expect(tried.map(({ page }) => page)).toEqual([frontPageOrMaintenance]);
  });
});
