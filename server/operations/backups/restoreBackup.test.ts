/** Restores of backups: names, quotas, restores without a backup, and backups that are removed meanwhile. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BackupDamaged } from "../../archives/load.ts";
import { findNewestBackup, removeBackupById, removeExpiredBackups } from "../../store/backups/backups.ts";
import { restoringBackup, restoringFile, restoringWithoutBackup } from "../../testing/backups.ts";
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

/** A new request for the same restore, with changes. */
function restoreAs(request: OperationRequest, change: Partial<RestoreBackupInput>): OperationRequest {
  const input: RestoreBackupInput = Object(request.input);
  return { ...request, input: { ...input, token: randomUUID(), ...change } };
}

const bypassHint = ' To restore it anyway and lose the current state, send { "without_backup": true } with backup_id.';

function run(request: OperationRequest, change: Partial<Services> = {}) {
  const services = { ...world.services, ...change };
  return withEngine({ ...world, services }, (harness) => harness.submit(request));
}

describe("the backup before a restore", () => {
  test.each([
    ["Daily", "Before a restore of Daily"],
    ["Before a restore of Daily", "Before the restore of Daily was undone"],
    ["Before the restore of Daily was undone", "Before a restore of Daily"],
    ["Before a push from Staging", "Before a restore of Before a push from Staging"],
  ])("of %s has a name that does not grow", async (restored, name) => {
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

describe("if the current state can't be backed up", () => {
  test.each(["fail", "break"] as const)(
    "(%s) a restore changes nothing and says how to skip the backup, which works",
    async (kind) => {
      const request = await restoringBackup.prepare(world);
      const message = "A database is damaged, so it can't be copied.";
      const ofWorld = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") }).script;
      await ofWorld.setFaults([{ method: "snapshot", when: "before", kind, message }]);
      const row = await run(request);
      const start = kind === "fail" ? message : "Something went wrong on the server. The operator finds the cause";
      expect(row).toMatchObject({ state: "failed", public_error: expect.stringMatching(start) });
      expect(row.public_error?.endsWith(bypassHint)).toBe(true);
      expect(await restoringBackup.undone(world, request)).toEqual([]);
      expect(await run(restoreAs(request, { withoutBackup: true }))).toMatchObject({ state: "succeeded" });
      await ofWorld.setFaults([]);
      expect(await restoringWithoutBackup.finished(world, request)).toEqual([]);
    },
  );
});

describe("with a disk quota, a restore", () => {
  const quotaBytes = 1_000_000;

  /** A request to restore a backup with an additional folder of this size. */
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
    const options = { environment: target, address, operationId: randomUUID(), type: "manual", name: "n" } as const;
    await backUp(services, { ...options, note: null }, new AbortController().signal);
    const backup = await findNewestBackup(world.own.database, target.id);
    return restoreAs(request, { backupId: backup?.id ?? 0 });
  }

  test("is rejected if the site would exceed the quota", async () => {
    const row = await run(await backupWith("public/large", quotaBytes), { diskQuotaBytes: quotaBytes });
    expect(row.public_error).toBe(
      "The restore would grow the environment to 2 MB, but its disk quota is 1 MB. Nothing was changed.",
    );
  });

  test("does not count WordPress's own code, which is part of the backup", async () => {
    const row = await run(await backupWith("core/wp-includes", quotaBytes), { diskQuotaBytes: quotaBytes });
    expect(row).toMatchObject({ state: "succeeded", public_error: null });
  });

  test("reports that the backup's list of files is damaged", async () => {
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
  test("fails if its backup is removed while it is fetched", async () => {
    const request = await restoringBackup.prepare(world);
    const { archives } = world.services;
    const restore: typeof archives.restore = async (backup, ...order) => {
      await removeBackupById(world.own.database, backup.id);
      return archives.restore(backup, ...order);
    };
    const row = await run(request, { archives: { ...archives, restore } });
    expect(row).toMatchObject({ state: "failed", public_error: "The backup no longer exists." });
  });

  test("prevents its backup from expiring, even if the backup is of an environment that is not locked", async () => {
    const request = await restoringBackup.prepare(world);
    const { database } = world.own;
    const { backupId }: RestoreBackupInput = Object(request.input);
    const { archives } = world.services;
    const row = database.selectFrom("backups").select("environment_id").where("id", "=", backupId);
    const of = await row.executeTakeFirstOrThrow();
    // Assigns the backup to an environment that does not exist.
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

  test("accepts a site in maintenance mode", async () => {
    const request = await restoringBackup.prepare(world);
    const tried: Candidate[] = [];
    const { runTrial } = world.services;
    const row = await run(request, {
      runTrial: (candidate, signal) => {
        tried.push(candidate);
        return runTrial(candidate, signal);
      },
    });
    expect(row.state).toBe("succeeded");
    expect(tried.map(({ page }) => page)).toEqual([frontPageOrMaintenance]);
  });
});

test("a restore of one file replaces it, and leaves the site's other files and its database as they are", async () => {
  const request = await restoringFile.prepare(world);
  const { target }: RestoreBackupInput = Object(request.input);
  const layout = await world.services.runtime.layout(target);
  await writeFile(join(layout?.documentRoot ?? "", "new.txt"), "later");
  expect(await run(request)).toMatchObject({ state: "succeeded", public_error: null });
  expect(await restoringFile.finished(world, request)).toEqual([]);
  const restored = await world.services.runtime.layout(target);
  expect(await readFile(join(restored?.documentRoot ?? "", "new.txt"), "utf8")).toBe("later");
});

test("a restore of a file that the backup lacks names it and changes nothing", async () => {
  const request = restoreAs(await restoringFile.prepare(world), { some: { files: ["none.txt"], database: "none" } });
  expect(await run(request)).toMatchObject({
    state: "failed",
    public_error: expect.stringContaining('"none.txt" can\'t be copied: the source has no such file'),
  });
  expect(await restoringFile.undone(world, request)).toEqual([]);
});
