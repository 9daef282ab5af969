/** Scheduled backups while other operations change the same environment. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import type { Script } from "@sitewright/runtimes/fake/script.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { systemActor } from "../../store/company/activity.ts";
import type { OperationRow } from "../../store/operations.ts";
import { backingUp } from "../../testing/backups.ts";
import { deletingEnvironment, modifyingPhpVersion, notesOf, pushing } from "../../testing/environments.ts";
import type { Fault } from "../../testing/faults.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Harness } from "../faults/testing/crashHarness.ts";
import type { Services } from "../steps/services.ts";

let world: World;
let script: Script;
beforeEach(async () => {
  world = await makeWorld();
  script = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") }).script;
});
afterEach(() => world[Symbol.asyncDispose]());

/** A scheduled backup of the other operation's environment. */
function scheduled(other: OperationRequest): OperationRequest {
  const { site, environment } = notesOf(other);
  const isLive = other.environmentId === site.environment.id;
  const { id, number } = isLive ? site.environment : environment;
  const address = isLive ? site.address : environment.address;
  return {
    kind: "addScheduledBackup",
    companyId: site.companyId,
    siteId: site.siteId,
    environmentId: id,
    locks: [],
    input: { environment: { id, number }, address, isRetry: false, againAfter: 60_000 },
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { environmentName: "Live", siteName: site.name },
  };
}

/** Runs `meanwhile` while the first snapshot is paused halfway. Returns the backup's row. */
async function duringSnapshot(
  other: OperationRequest,
  meanwhile: (harness: Harness) => Promise<void>,
  fault: Fault = {},
): Promise<OperationRow> {
  const until = join(world.facts.dataFolder, "go-on");
  await script.setFaults([{ method: "snapshot", when: "middle", kind: "wait", until, times: 1 }]);
  return withEngine(
    world,
    async (harness) => {
      const backup = harness.submit(scheduled(other));
      await expect
        .poll(async () => (await script.calls()).at(-1))
        .toMatchObject({ method: "snapshot", when: "middle" });
      await meanwhile(harness);
      await writeFile(until, "");
      return backup;
    },
    fault,
  );
}

/** Runs the other operation just before or after the first backup is archived. Returns the backup's row. */
async function duringArchiving(when: "before" | "after", other: OperationRequest): Promise<OperationRow> {
  const [keeping, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pause = () => {
    keeping.resolve();
    return goOn.promise;
  };
  let isFirst = true;
  const { archives } = world.services;
  const keep: typeof archives.keep = async (...archive) => {
    const pauses = isFirst;
    isFirst = false;
    if (pauses && when === "before") await pause();
    const kept = await archives.keep(...archive);
    if (pauses && when === "after") await pause();
    return kept;
  };
  const services = { ...world.services, archives: { ...archives, keep } };
  return withEngine({ ...world, services }, async (harness) => {
    const backup = harness.submit(scheduled(other));
    await keeping.promise;
    expect((await harness.submit(other)).state).toBe("succeeded");
    goOn.resolve();
    return backup;
  });
}

const rowsOf = (environmentId: string | null) =>
  world.own.database.selectFrom("backups").selectAll().where("environment_id", "=", environmentId).execute();

const work = () => readdir(join(world.facts.dataFolder, "work")).catch(() => []);

async function expectNothingLeft(row: OperationRow): Promise<void> {
  expect((await rowsOf(row.environment_id)).filter(({ operation_id }) => operation_id === row.id)).toEqual([]);
  expect(await work()).toEqual([]);
  const activity = world.own.database.selectFrom("activity").selectAll().where("id", "=", row.activity_id);
  expect(await activity.executeTakeFirstOrThrow()).toMatchObject({
    type: "addScheduledBackup",
    is_done: true,
    has_failed: true,
    public_error: row.public_error,
  });
}

async function isBlocked(environmentId: string | null): Promise<boolean> {
  const row = world.own.database.selectFrom("environment_locks").select("operation_id");
  return (await row.where("environment_id", "=", environmentId).execute()).length > 0;
}

test("is listed with its type, and kept as long as that type", async () => {
  const other = await pushing("all", "all").prepare(world);
  const services = { ...world.services, backupDays: { manual: 1, scheduled: 30, "system-generated": 2 } };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(scheduled(other)));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  const listed = await makeBackupLists(world.own.pool).list(row.environment_id ?? "");
  expect(listed?.backups).toMatchObject([{ name: "Scheduled backup", type: "scheduled", note: null }]);
  const [backup] = listed?.backups ?? [];
  const days = ((backup?.expires_at ?? 0) - (backup?.created_at ?? 0)) / 86_400_000;
  expect(days).toBeCloseTo(30, 2);
});

describe("during a push", () => {
  test("that finishes during the snapshot, it fails and leaves nothing behind, and the push succeeds", async () => {
    const subject = pushing("all", "all");
    const request = await subject.prepare(world);
    const row = await duringSnapshot(request, async (harness) => {
      expect(await isBlocked(request.environmentId)).toBe(false);
      expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
    });
    expect(row).toMatchObject({ state: "failed", public_error: "The environment was replaced meanwhile." });
    expect(await subject.finished(world, request)).toEqual([]);
    await expectNothingLeft(row);
    const again = await withEngine(world, (harness) => harness.submit(scheduled(request)));
    expect(again.state).toBe("succeeded");
  });

  test("that removes the release of the snapshot, it fails and leaves nothing behind", async () => {
    const subject = pushing("all", "all");
    const request = await subject.prepare(world);
    const { input } = request;
    if (typeof input !== "object" || input === null || !("token" in input)) throw new Error("It has no token");
    const second = { ...request, input: { ...input, token: "second" } };
    const row = await duringSnapshot(request, async (harness) => {
      for (const each of [request, second]) expect((await harness.submit(each)).state).toBe("succeeded");
    });
    expect(row).toMatchObject({ state: "failed", public_error: "The environment was replaced meanwhile." });
    await expectNothingLeft(row);
    expect(await rowsOf(request.environmentId)).toHaveLength(2);
  });

  test("that switches while the backup is archived, it fails, because the releases may share files", async () => {
    const request = await pushing("none", "all").prepare(world);
    const row = await duringArchiving("before", request);
    expect(row).toMatchObject({
      state: "failed",
      public_error: "The environment was replaced while it was backed up.",
    });
    await expectNothingLeft(row);
    expect(await rowsOf(request.environmentId)).toMatchObject([{ type: "system-generated" }]);
  });

  test("that is undone, it succeeds", async () => {
    const subject = pushing("all", "all");
    const request = await subject.prepare(world);
    const meanwhile = async (harness: Harness) => {
      expect((await harness.submit(request)).state).toBe("failed");
    };
    const row = await duringSnapshot(request, meanwhile, { failAt: "run switch:after" });
    expect(row).toMatchObject({ state: "succeeded", public_error: null });
    expect(await work()).toEqual([]);
    expect(await rowsOf(request.environmentId)).toMatchObject([{ operation_id: row.id }]);
  });
});

describe("during a deletion", () => {
  const gone = "The environment was being deleted while it was backed up.";

  test("that finishes during the snapshot, it fails and leaves nothing behind", async () => {
    const request = await deletingEnvironment.prepare(world);
    const row = await duringSnapshot(request, async (harness) => {
      expect(await isBlocked(request.environmentId)).toBe(false);
      expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
    });
    expect(row).toMatchObject({ state: "failed", public_error: gone });
    expect(await deletingEnvironment.finished(world, request)).toEqual([]);
    await expectNothingLeft(row);
  });

  test.each(["before", "after"] as const)(
    "%s the backup is archived, it fails and leaves nothing behind",
    async (when) => {
      const request = await deletingEnvironment.prepare(world);
      const row = await duringArchiving(when, request);
      expect(row).toMatchObject({ state: "failed", public_error: gone });
      await expectNothingLeft(row);
    },
  );

  test("that is undone, it fails, because the files were moved aside for a moment, and can be repeated", async () => {
    const request = await deletingEnvironment.prepare(world);
    const meanwhile = async (harness: Harness) => {
      expect((await harness.submit(request)).state).toBe("failed");
    };
    const row = await duringSnapshot(request, meanwhile, { failAt: "run retire:after" });
    expect(row).toMatchObject({ state: "failed", public_error: gone });
    expect(await deletingEnvironment.undone(world, request)).toEqual([]);
    await expectNothingLeft(row);
    const again = await withEngine(world, (harness) => harness.submit(scheduled(request)));
    expect(again.state).toBe("succeeded");
  });
});

test("during a PHP change, both backups are made", async () => {
  const request = await modifyingPhpVersion.prepare(world);
  const row = await duringSnapshot(request, async (harness) => {
    expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
  });
  expect(row.state).toBe("succeeded");
  const types = (await rowsOf(row.environment_id)).map(({ type }) => type);
  expect(types.toSorted()).toEqual(["scheduled", "system-generated"]);
});

test("fails at once if another operation has locked the environment just before", async () => {
  const other = await pushing("all", "all").prepare(world);
  const manual = await backingUp.prepare(world);
  const row = await withEngine(world, async (harness) => {
    // An accepted operation that no engine runs.
    const holder = "backups:add-manual-00000000-0000-0000-0000-000000000000";
    const { id: activityId } = await world.own.database
      .insertInto("activity")
      .values({ company_id: manual.companyId, category: "siteActions", type: manual.kind, parameters: "{}" })
      .returning("id")
      .executeTakeFirstOrThrow();
    const facts = { company_id: manual.companyId, activity_id: activityId, state: "waiting", steps_total: 1 } as const;
    const ids = { id: holder, kind: manual.kind, reference_id: "00000000-0000-0000-0000-000000000000" };
    await world.own.database
      .insertInto("operations")
      .values({ ...ids, ...facts, input: "{}" })
      .execute();
    const lock = { environment_id: other.environmentId ?? "", operation_id: holder };
    await world.own.database.insertInto("environment_locks").values(lock).execute();
    return harness.submit(scheduled(other));
  });
  expect(row).toMatchObject({
    state: "failed",
    public_error: "Another operation on the environment has just started.",
  });
  await expectNothingLeft(row);
});

describe("if it fails", () => {
  async function failing(change: (services: Services) => Partial<Services>) {
    const other = await pushing("all", "all").prepare(world);
    const services = { ...world.services, ...change(world.services) };
    return withEngine({ ...world, services }, (harness) => harness.submit(scheduled(other)));
  }

  test("for lack of disk space, the activity log has the numbers, and nothing is started", async () => {
    const row = await failing(({ runtime }) => ({
      runtime: {
        ...runtime,
        diskUse: async () => ({ files: 5e9, database: 0, temporary: 0 }),
        freeDisk: async () => 1e9,
      },
    }));
    expect(row.public_error).toMatch(
      /^The scheduled backup needs about 5050 MB .+, but only 1000 MB are free for sites\./,
    );
    await expectNothingLeft(row);
  });

  test("the activity log has the reason, and a retry is scheduled", async () => {
    const row = await failing(({ archives }) => ({
      archives: { ...archives, keep: () => Promise.reject(new StepFailure("The store is closed.")) },
    }));
    expect(row).toMatchObject({ state: "failed", public_error: "The store is closed." });
    await expectNothingLeft(row);
    const environment = await world.own.database
      .selectFrom("environments")
      .select(["backup_failures", "backup_due_at"])
      .where("id", "=", row.environment_id)
      .executeTakeFirstOrThrow();
    expect(environment.backup_failures).toBe(1);
    const pause = (environment.backup_due_at?.getTime() ?? 0) - (row.finished_at?.getTime() ?? 0);
    expect(Math.round(pause / 10_000)).toBe(6);
  });
});
