import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import type { Fault } from "@sitewright/runtimes/fake/script.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordStart } from "../../store/operations.ts";
import { setLimits } from "../../store/sites/limits.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { runningWpCli } from "../../testing/wpCli.ts";
import { openWpCliResult } from "./runWpCli.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Runs a command, and returns its request, its row and its decrypted result. */
async function run(argv: readonly string[], faults: readonly Omit<Fault, "method">[] = []) {
  const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
  return withEngine(world, async (harness) => {
    const request = { ...(await runningWpCli.prepare(world)), secret: JSON.stringify(argv) };
    await script.setFaults(faults.map((fault) => ({ ...fault, method: "runWpCli" })));
    const row = await harness.submit(request);
    await script.setFaults([]);
    return { request, row, result: openWpCliResult(row.result, world.services.sealer, row.id) };
  });
}

/** The version of the environment's page cache. It rises when the cache is cleared. */
async function cacheVersion(environmentId: string | null | undefined): Promise<number> {
  const rows = world.own.database.selectFrom("environments").select("page_cache_epoch as epoch");
  return (await rows.where("id", "=", environmentId ?? "").executeTakeFirstOrThrow()).epoch;
}

test("the output of a command is stored encrypted", async () => {
  const { row, result } = await run(["option", "get", "blogname"]);
  expect(row).toMatchObject({ state: "succeeded", secret: null });
  expect(result).toMatchObject({ stdout: "option get blogname\n", stderr: "", exit_code: 0, ended_by: "itself" });
  expect(JSON.stringify(row)).not.toContain("option get blogname");
});

test("a command with an exit code other than 0 fails with WP-CLI's error, and keeps its output", async () => {
  const { row, result } = await run(["exit", "3"]);
  expect(row).toMatchObject({ state: "failed", public_error: "Error: This was meant to end with 3." });
  expect(result).toMatchObject({ exit_code: 3, stdout: "exit 3\n" });
});

describe("a command gets", () => {
  test("the limits of its environment", async () => {
    const quota = 50_000_000;
    const request = await runningWpCli.prepare(world);
    const row = world.own.database.selectFrom("environments").select(["id", "number"]);
    const environment = await row.where("id", "=", request.environmentId ?? "").executeTakeFirstOrThrow();
    await setLimits(world.own.database, [environment.id], { php_memory_mb: 512, disk_quota_bytes: quota });
    const ended = await withEngine(world, (harness) => harness.submit({ ...request, secret: '["share"]' }));
    const limits = openWpCliResult(ended.result, world.services.sealer, ended.id)?.stdout ?? "";
    const use = await world.services.runtime.diskUse(environment);
    expect(JSON.parse(limits)).toMatchObject({ memoryMb: 512, maySendMail: true });
    expect(JSON.parse(limits).diskLeftBytes).toBeLessThan(quota);
    const columns = ["disk_bytes", "disk_measured_at"] as const;
    const environments = world.own.database.selectFrom("environments").select(columns);
    const after = await environments.where("id", "=", environment.id).executeTakeFirstOrThrow();
    expect(after.disk_bytes).toBe((use?.files ?? 0) + (use?.database ?? 0));
    expect(after.disk_measured_at).not.toBeNull();
  });

  test("unlimited disk space without a quota, and the disk use is not measured", async () => {
    expect(JSON.parse((await run(["share"])).result?.stdout ?? "")).toMatchObject({
      memoryMb: 256,
      diskLeftBytes: null,
    });
  });
});

test.each([
  ["keeps", ["option", "get", "home"], 0],
  ["clears", ["option", "update", "blogname", "New"], 1],
])("a command %s the page cache: %j", async (_what, argv, cleared) => {
  const request = await runningWpCli.prepare(world);
  const before = await cacheVersion(request.environmentId);
  await withEngine(world, (harness) => harness.submit({ ...request, secret: JSON.stringify(argv) }));
  expect((await cacheVersion(request.environmentId)) - before).toBe(cleared);
});

test("transient errors before the command starts are retried", async () => {
  const { row, request } = await run(["option", "list"], [{ when: "before", kind: "slow", milliseconds: 5, times: 1 }]);
  expect(row.state).toBe("succeeded");
  expect(await runningWpCli.finished(world, request)).toEqual([]);
});

test("a command that was started by a process that died is not repeated, and the error says so; the cache is cleared", async () => {
  const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
  const { row, request, before } = await withEngine(world, async (harness) => {
    const prepared = await runningWpCli.prepare(world);
    const before = await cacheVersion(prepared.environmentId);
    const noted = Promise.withResolvers<boolean>();
    await script.setFaults([{ method: "runWpCli", when: "before", kind: "slow", milliseconds: 300, times: 1 }]);
    const ended = harness.submit(prepared, (id) => {
      // Notes the start, as the process that died would have. Retries until the operation's transaction has committed.
      const note = () =>
        recordStart(world.own.database, id).then((is) => (is ? noted.resolve(true) : setTimeout(note, 5)));
      void note();
    });
    await noted.promise;
    return { row: await ended, request: prepared, before };
  });
  expect(row.state).toBe("failed");
  expect(await cacheVersion(request.environmentId)).toBeGreaterThan(before);
  expect(row.public_error).toContain("It may have done a part of its work and was not repeated");
  expect(openWpCliResult(row.result, world.services.sealer, row.id)).toBeNull();
  expect(await runningWpCli.undone(world, request)).toEqual([]);
});

test("a second command at the same time fails because the environment is busy", async () => {
  const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
  await withEngine(world, async (harness) => {
    const request = await runningWpCli.prepare(world);
    await script.setFaults([{ method: "runWpCli", when: "middle", kind: "slow", milliseconds: 300, times: 1 }]);
    const first = harness.submit(request);
    const accepted = async () => {
      const locks = await world.own.database.selectFrom("environment_locks").selectAll().execute();
      return locks.some(({ environment_id: id }) => id === request.environmentId);
    };
    while (!(await accepted())) await new Promise(setImmediate);
    const second = await harness.submit(request);
    expect(second).toMatchObject({
      state: "failed",
      public_error: expect.stringContaining("blocked by another process"),
    });
    expect((await first).state).toBe("succeeded");
  });
  await script.setFaults([]);
});
