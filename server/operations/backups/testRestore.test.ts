/** Test restores during other changes and failures, with the fake runtime, whose pages are always correct. */
import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { DiskFull, RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { removeBackupById } from "../../store/backups/backups.ts";
import { noteDamage, suspectedDamage } from "../../store/backups/damage.ts";
import { losePacks } from "../../store/backups/lostPacks.ts";
import { systemActor } from "../../store/company/activity.ts";
import { removeEnvironmentRows } from "../../store/sites/environments.ts";
import { backedUpSite } from "../../testing/backups.ts";
import { visit } from "../../testing/edge.ts";
import { leftOfTestRestore, testRestoreOf } from "../../testing/testRestores.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { StepFailure } from "../engine/operation.ts";
import { backUp } from "../steps/backup.ts";
import type { Services } from "../steps/services.ts";
import { type Candidate, TrialFailed } from "../steps/trial.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

let site: Awaited<ReturnType<typeof backedUpSite>>["site"];
let backupId: number;
let request: Awaited<ReturnType<typeof testRestoreOf>>;
beforeEach(async () => {
  const made = await backedUpSite(world);
  site = made.site;
  backupId = made.backup.id;
  request = await testRestoreOf(world, site, backupId);
});

/** Runs the test restore with some services replaced by `change`. */
async function runTestRestore(change: (services: Services) => Partial<Services> = () => ({})) {
  const services = { ...world.services, ...change(world.services) };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(request));
  expect(await leftOfTestRestore(world, request.input)).toEqual([]);
  return row;
}

async function shown() {
  const found = await makeBackupLists(world.own.pool).list(site.environment.id);
  const backup = found?.backups.find(({ id }) => id === backupId);
  return { proven: backup?.last_proven_restore, error: backup?.proof_error };
}

const facts = () =>
  world.own.database.selectFrom("backups").selectAll().where("id", "=", backupId).executeTakeFirstOrThrow();

const untouched = { proven: null, error: null };

async function setRowCounts(counts: Readonly<Record<string, number>> | null): Promise<void> {
  const row_counts = counts === null ? null : JSON.stringify(counts);
  await world.own.database.updateTable("backups").set({ row_counts }).where("id", "=", backupId).execute();
}

describe("a backup that can be restored", () => {
  test("is shown as proven, with the time", async () => {
    const began = Date.now();
    expect(await runTestRestore()).toMatchObject({ state: "succeeded", public_error: null });
    const { proven, error } = await shown();
    expect(proven).toBeGreaterThanOrEqual(began - 1_000);
    expect(error).toBeNull();
  });

  test("is checked by its front page and login page, at its address, in a scratch environment without network", async () => {
    const tried: Candidate[] = [];
    await runTestRestore(({ runTrial }) => ({
      runTrial: (candidate, signal) => {
        tried.push(candidate);
        return runTrial(candidate, signal);
      },
    }));
    expect(tried.map(({ page }) => page?.url)).toEqual(["/", "/wp-login.php"]);
    for (const candidate of tried) {
      const php = { runtime: "playground", version: "8.3" };
      expect(candidate).toMatchObject({ address: site.address, isOffline: true, isReadOnly: false, php });
      expect(candidate.environment).toEqual(request.input.scratch);
    }
  });

  test("is tried under the runtime that restored it, even if the environment has moved to another one", async () => {
    const { database } = world.own;
    await database
      .updateTable("environments")
      .set({ runtime: "other" })
      .where("id", "=", site.environment.id)
      .execute();
    const tried: Candidate[] = [];
    await runTestRestore(({ runTrial }) => ({
      runTrial: (candidate, signal) => {
        tried.push(candidate);
        return runTrial(candidate, signal);
      },
    }));
    expect(tried.map(({ php }) => php.runtime)).toEqual(["playground", "playground"]);
  });

  test("of a site without WordPress is checked by its front page", async () => {
    const { runtime } = world.services;
    const { environment, address } = site;
    await runtime.destroy(environment);
    await runtime.provision({ environment, phpVersion: "8.3", wordpress: null });
    const options = {
      environment,
      address,
      operationId: randomUUID(),
      type: "manual",
      name: "Then",
      note: null,
    } as const;
    await backUp(world.services, options, new AbortController().signal);
    const found = await makeBackupLists(world.own.pool).list(environment.id);
    backupId = found?.backups[0]?.id ?? 0;
    request = await testRestoreOf(world, site, backupId);
    const pages: (string | undefined)[] = [];
    const row = await runTestRestore(({ runTrial }) => ({
      runTrial: (candidate, signal) => {
        pages.push(candidate.page?.url);
        return runTrial(candidate, signal);
      },
    }));
    expect(row.state).toBe("succeeded");
    expect(pages).toEqual(["/"]);
  });

  test("is proven even if its rows were not counted", async () => {
    await setRowCounts(null);
    expect((await runTestRestore()).state).toBe("succeeded");
  });

  test("is proven after a failed test restore, which clears the error", async () => {
    await setRowCounts({ wp_posts: 7 });
    await runTestRestore();
    expect(await shown()).toEqual({ proven: null, error: expect.stringContaining("wp_options") });
    await setRowCounts({ wp_options: 2, wp_posts: 1, wp_users: 1 });
    request = await testRestoreOf(world, site, backupId);
    await runTestRestore();
    expect(await shown()).toEqual({ proven: expect.any(Number), error: null });
  });
});

describe("a backup that can't be restored", () => {
  const page = new TrialFailed("The restored site failed its check: its front page has the status 500.", null);

  test.each<[string, Partial<Services["runtime"]> | null, Services["runTrial"] | null, string]>([
    ["whose page fails", null, () => Promise.reject(page), page.message],
    [
      "whose database is damaged",
      { clone: () => Promise.reject(new RuntimeFailure("A database is damaged, so it can't be copied.")) },
      null,
      "A database is damaged, so it can't be copied.",
    ],
    [
      "that has different rows",
      { countRows: async () => ({ wp_options: 2, wp_users: 1 }) },
      null,
      "The table wp_posts had 1 row when it was backed up, and did not exist when it was restored.",
    ],
  ])("%s is shown with the error, and the operation fails with it", async (_, runtime, runTrial, message) => {
    const row = await runTestRestore((services) => ({
      ...(runtime && { runtime: { ...services.runtime, ...runtime } }),
      ...(runTrial && { runTrial }),
    }));
    const public_error = `The test restore failed. ${message}`;
    expect(row).toMatchObject({ state: "failed", public_error });
    expect(await shown()).toEqual({ proven: null, error: message });
    const activity = world.own.database.selectFrom("activity").selectAll().where("id", "=", row.activity_id);
    expect(await activity.executeTakeFirst()).toMatchObject({ has_failed: true, is_done: true, public_error });
  });

  test("because a piece is missing makes the next backup store that piece again", async () => {
    const packs = join(world.facts.dataFolder, "archives", "packs", site.companyId);
    for (const name of await readdir(packs)) await rm(join(packs, name));
    const row = await runTestRestore();
    const sentence = /This backup can't be restored: what it needs for .+ is missing or damaged\.$/;
    expect(row.public_error).toMatch(sentence);
    expect((await shown()).error).toMatch(sentence);
    const { environment, address } = site;
    const options = {
      environment,
      address,
      operationId: randomUUID(),
      type: "manual",
      name: "Next",
      note: null,
    } as const;
    await backUp(world.services, options, new AbortController().signal);
    const found = await makeBackupLists(world.own.pool).list(environment.id);
    backupId = found?.backups[0]?.id ?? 0;
    request = await testRestoreOf(world, site, backupId);
    expect((await runTestRestore()).state).toBe("succeeded");
  });
});

describe("the backup is not blamed for", () => {
  test.each<[string, (services: Services) => Partial<Services>, string]>([
    [
      "a full disk",
      ({ runtime }) => ({
        runtime: { ...runtime, clone: () => Promise.reject(new DiskFull("There is not enough room.")) },
      }),
      "There is not enough room.",
    ],
    [
      "too little disk space",
      ({ runtime }) => ({
        runtime: {
          ...runtime,
          diskUse: async () => ({ files: 1, database: 1, temporary: 0 }),
          freeDisk: async () => 1e6,
        },
      }),
      "The test restore needs about 51 MB on the server's disk, but only 1 MB are free for sites. Nothing was changed.",
    ],
    [
      "PHP that could not be started",
      () => ({ runTrial: () => Promise.reject(new TrialFailed("PHP could not be started for it.", "unavailable")) }),
      "PHP could not be started for it.",
    ],
    [
      "an unexpected error",
      ({ archives }) => ({ archives: { ...archives, restore: () => Promise.reject(new Error("?")) } }),
      "Something went wrong on the server.",
    ],
  ])("%s", async (_, change, message) => {
    const row = await runTestRestore(change);
    expect(row.state).toBe("failed");
    expect(row.public_error).toContain(message);
    expect(await shown()).toEqual(untouched);
  });

  test.each([
    ["an edge that is unavailable for a moment", () => new EdgeUnavailable("It is starting.")],
    ["PHP that is busy for a moment", () => new TrialFailed("No PHP process was free for it.", "busy")],
  ])("%s, which is retried", async (_, failure) => {
    let tries = 0;
    const row = await runTestRestore(({ runTrial }) => ({
      runTrial: async (...candidate) => {
        tries += 1;
        if (tries === 1) throw failure();
        return runTrial(...candidate);
      },
    }));
    expect(row.state).toBe("succeeded");
    expect(tries).toBe(3);
  });

  test("PHP that crashes again and again: the backup is blamed", async () => {
    const message = "PHP crashed while it rendered the front page.";
    await runTestRestore(() => ({ runTrial: () => Promise.reject(new TrialFailed(message, "crashed")) }));
    expect(await shown()).toEqual({ proven: null, error: message });
  });
});

describe("during a test restore", () => {
  test("other operations run, and visitors see the site", async () => {
    const { environment, address, companyId, siteId } = site;
    const backup: OperationRequest = {
      kind: "addManualBackup",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input: { environment, address, note: null },
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: {},
    };
    const isTrying = Promise.withResolvers<void>();
    const isBackedUp = Promise.withResolvers<void>();
    const runTrial: Services["runTrial"] = async (...candidate) => {
      isTrying.resolve();
      await isBackedUp.promise;
      return world.services.runTrial(...candidate);
    };
    await withEngine({ ...world, services: { ...world.services, runTrial } }, async (harness) => {
      const proof = harness.submit(request);
      await isTrying.promise;
      expect((await visit(world.facts.edgePort, address)).status).toBe(200);
      expect((await harness.submit(backup)).state).toBe("succeeded");
      isBackedUp.resolve();
      expect((await proof).state).toBe("succeeded");
    });
  });

  /** Runs `work` after the backup was restored, before its rows are compared. */
  const testWhile = (work: () => Promise<void>) =>
    runTestRestore(({ runtime }) => ({
      runtime: {
        ...runtime,
        countRows: async (...what) => {
          await work();
          return runtime.countRows(...what);
        },
      },
    }));

  test("newly found damage stays noted, and the backup is examined again", async () => {
    const packs = world.own.database.selectFrom("backup_packs").select("pack_id").where("backup_id", "=", backupId);
    const ids = (await packs.execute()).map(({ pack_id }) => pack_id);
    const row = await testWhile(() => losePacks(world.own.database, ids));
    expect(row.state).toBe("succeeded");
    expect(await facts()).toMatchObject({ damage: suspectedDamage, examine_at: expect.any(Date), proof_error: null });
  });

  test("earlier noted damage is cleared, and `verified_at` is when the reading started", async () => {
    await noteDamage(world.own.database, backupId, { damage: "It is damaged.", again: "later" });
    const readFrom = Promise.withResolvers<number>();
    const row = await runTestRestore(({ archives }) => ({
      archives: {
        ...archives,
        restore: async (...what) => {
          readFrom.resolve(Date.now());
          return archives.restore(...what);
        },
      },
    }));
    expect(row.state).toBe("succeeded");
    const { damage, examine_at, verified_at } = await facts();
    expect([damage, examine_at]).toEqual([null, null]);
    expect(verified_at?.getTime()).toBeLessThanOrEqual(await readFrom.promise);
  });

  test("the backup can be removed", async () => {
    expect((await testWhile(() => removeBackupById(world.own.database, backupId))).state).toBe("succeeded");
  });

  test("its environment can be removed, and the error says so", async () => {
    const { id } = site.environment;
    const row = await testWhile(() =>
      world.own.database.transaction().execute((transaction) => removeEnvironmentRows(transaction, id)),
    );
    expect(row).toMatchObject({ state: "failed", public_error: "The environment no longer exists." });
  });

  test("the backup can be removed before it is read, and the error says so", async () => {
    const row = await runTestRestore(({ archives }) => ({
      archives: {
        ...archives,
        restore: async (...what) => {
          await removeBackupById(world.own.database, backupId);
          return archives.restore(...what);
        },
      },
    }));
    expect(row).toMatchObject({ state: "failed", public_error: "The backup was removed before its test restore." });
  });
});

test("fails if the backup was removed", async () => {
  await removeBackupById(world.own.database, backupId);
  const row = await runTestRestore();
  expect(row).toMatchObject({ state: "failed", public_error: "The backup was removed before its test restore." });
});

describe("the rows of a backup", () => {
  const rowCounts = async () => {
    const row = world.own.database.selectFrom("backups").select("row_counts").where("id", "=", backupId);
    return (await row.executeTakeFirstOrThrow()).row_counts;
  };

  test("are counted", async () => {
    expect(await rowCounts()).toEqual({ wp_options: 2, wp_posts: 1, wp_users: 1 });
  });

  test.each(["hang", "fail", "break"] as const)(
    "are optional: the backup succeeds if counting should %s",
    async (kind) => {
      const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
      await script.setFaults([{ method: "countRows", when: "before", kind, times: 1 }]);
      ({
        site,
        backup: { id: backupId },
      } = await backedUpSite(world));
      expect(await rowCounts()).toBeNull();
    },
  );
});

test("a failure that tells nothing about the backup keeps its earlier result", async () => {
  await setRowCounts({ wp_posts: 7, wp_options: 2, wp_users: 1 });
  await runTestRestore();
  const before = await shown();
  request = await testRestoreOf(world, site, backupId);
  await runTestRestore(() => ({ runTrial: () => Promise.reject(new StepFailure("Elsewhere.")) }));
  expect(await shown()).toEqual(before);
});
