import { randomUUID } from "node:crypto";
import { makeRolloutStart } from "@sitewright/server/app/packages/rolloutStarts.ts";
import { runRollouts } from "@sitewright/server/reconcilers/runRollouts.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { describe, expect, it } from "vitest";
import { type RolloutItem, useRollouts } from "../testing/rollouts.ts";
import { testSettings } from "../testing/server.ts";

const { test, plugin, create, get, environments, reconcile, statesOf, endRunning } = useRollouts();

describe("a rollout", () => {
  it("updates canaries first, then up to `concurrency` environments at a time, and ends", async () => {
    await environments(6);
    const { id } = (await create({ canaries: 1, concurrency: 3 })).body.rollout;
    const seen: string[][] = [];
    do {
      await reconcile();
      seen.push((await statesOf(id)).map((state) => state.slice(0, 1)));
    } while ((await endRunning(id)) > 0);
    expect(seen.map((states) => states.join(""))).toEqual(["rwwwww", "urrrww", "uuuurr", "uuuuuu"]);
    const rollout = await get(id);
    expect(rollout).toMatchObject({ state: "ended", counts: { updated: 6 }, ended_at: expect.any(String) });
    expect(rollout.environments[0]).toMatchObject({ version: "1.0", update_version: "2.0", reason: null });
  });

  it("starts ordinary updates by the same user, which wait for busy sites", async () => {
    const { database, operations } = test.current;
    const [busy = ""] = await environments(1);
    const { company_id, site_id } = await database
      .selectFrom("environments")
      .select(["company_id", "site_id"])
      .where("id", "=", busy)
      .executeTakeFirstOrThrow();
    const other = { companyId: company_id, siteId: site_id, environmentId: busy, locks: [busy] };
    await operations.submit({ kind: "clearCache", ...other });
    const { id } = (await create({})).body.rollout;
    await reconcile();
    const [{ operation_id }] = (await get(id)).environments;
    const row = await database
      .selectFrom("operations")
      .innerJoin("activity", "activity.id", "operations.activity_id")
      .select(["kind", "state", "input", "api_key_name"])
      .where("operations.id", "=", operation_id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      kind: "updatePlugin",
      state: "waiting",
      input: { kind: "plugin", updates: [{ name: plugin.name, from: "1.0", to: "2.0" }] },
      api_key_name: expect.any(String),
    });
  });

  it("replaces canaries that are skipped or deleted before it continues", async () => {
    const [own = "", gone = "", deleted = "", ...others] = await environments(6);
    const { database } = test.current;
    const { id } = (await create({ environments: [own, gone, deleted, ...others], canaries: 2, concurrency: 3 })).body
      .rollout;
    const isCanary = async () => (await get(id)).environments.map((item: { is_canary: boolean }) => item.is_canary);
    expect(await isCanary()).toEqual([true, true, false, false, false, false]);
    await database.updateTable("packages").set({ is_elsewhere: true }).where("environment_id", "=", own).execute();
    await database.deleteFrom("packages").where("environment_id", "=", gone).execute();
    await reconcile();
    expect(await statesOf(id)).toEqual(["skipped", "skipped", "running", "running", "waiting", "waiting"]);
    expect(await isCanary()).toEqual([true, true, true, true, false, false]);
    await database.deleteFrom("rollout_items").where("environment_id", "=", deleted).execute();
    await reconcile();
    expect(await statesOf(id)).toEqual(["skipped", "skipped", "running", "running", "waiting"]);
    await endRunning(id, (environmentId) => environmentId === others[1]);
    await reconcile();
    const { state, canaries, counts } = await get(id);
    expect([state, canaries]).toEqual(["stopped", 2]);
    expect(counts).toEqual({ waiting: 0, running: 0, updated: 1, failed: 1, skipped: 3 });
  });

  it("updates canaries one by one with concurrency 1, and ends if there are too few", async () => {
    await environments(2);
    const { id } = (await create({ canaries: 3, concurrency: 1 })).body.rollout;
    await reconcile();
    expect(await statesOf(id)).toEqual(["running", "waiting"]);
    await endRunning(id);
    await reconcile();
    expect(await statesOf(id)).toEqual(["updated", "running"]);
    await endRunning(id);
    await reconcile();
    expect((await get(id)).state).toBe("ended");
  });

  it("updates themes like plugins", async () => {
    const [id = "", ...others] = await environments(3);
    const { database } = test.current;
    for (const each of [id, ...others]) {
      await putPackages(database, each, [
        { name: plugin.name, kind: "theme", is_active: false },
        { name: plugin.name },
      ]);
      await database
        .updateTable("packages")
        .set({ update_version: "2.0" })
        .where("environment_id", "=", each)
        .execute();
    }
    const { rollout } = (await create({ type: "theme", canaries: 0 })).body;
    expect(rollout).toMatchObject({ type: "theme", counts: { waiting: 3 } });
    await reconcile();
    const operations = await database
      .selectFrom("operations")
      .select(["kind", "input"])
      .where("environment_id", "in", [id, ...others])
      .where("kind", "like", "update%")
      .execute();
    const input = { kind: "theme", updates: [{ name: plugin.name, file: plugin.name, from: "1.0", to: "2.0" }] };
    expect(operations).toMatchObject(Array.from({ length: 3 }, () => ({ kind: "updateTheme", input })));
    await endRunning(rollout.id);
    await reconcile();
    expect(await get(rollout.id)).toMatchObject({ state: "ended", counts: { updated: 3 } });
  });

  it("stops after a failed canary, even below `stop_after_failures`", async () => {
    await environments(4);
    const { id } = (await create({ canaries: 2, concurrency: 2, stop_after_failures: 4 })).body.rollout;
    await reconcile();
    const [first] = (await get(id)).environments;
    await endRunning(id, (environmentId) => environmentId === first.id);
    await reconcile();
    const { state, counts, environments: items } = await get(id);
    expect([state, counts]).toEqual(["stopped", { waiting: 0, running: 0, updated: 1, failed: 1, skipped: 2 }]);
    expect(items[0].reason).toBe("The site with the update does not answer.");
    expect(items[2].reason).toMatch(/^Not started, because/);
  });

  it("stops at `stop_after_failures` and lets running updates finish", async () => {
    await environments(7);
    const { id } = (await create({ canaries: 0, concurrency: 2, stop_after_failures: 2 })).body.rollout;
    const ids = (await get(id)).environments.map((item: RolloutItem) => item.id);
    const fails = (environmentId: string) => [ids[0], ids[2]].includes(environmentId);
    await reconcile();
    await endRunning(id, fails);
    await reconcile();
    const [third] = (await get(id)).environments.filter(({ state }: RolloutItem) => state === "running");
    await test.current.fail(third.operation_id, "No.");
    await reconcile();
    expect(await get(id)).toMatchObject({
      state: "stopped",
      ended_at: null,
      counts: { failed: 2, running: 1, skipped: 3 },
    });
    await endRunning(id);
    await reconcile();
    expect(await get(id)).toMatchObject({ state: "stopped", ended_at: expect.any(String), counts: { updated: 2 } });
  });

  it("does not count an update that was superseded as a failure", async () => {
    await environments(3);
    const { id } = (await create({ canaries: 1, concurrency: 1 })).body.rollout;
    await reconcile();
    await endRunning(id, () => true, "superseded");
    await reconcile();
    expect(await statesOf(id)).toEqual(["skipped", "running", "waiting"]);
    await endRunning(id, () => true);
    await reconcile();
    expect(await statesOf(id)).toEqual(["skipped", "failed", "skipped"]);
  });

  it("skips environments that need no update or can't be updated, and says why", async () => {
    const [updated = "", gone = "", own = "", single = "", last = ""] = await environments(5);
    const { database } = test.current;
    const { id } = (await create({ environments: [updated, gone, own, single, last], canaries: 0, concurrency: 1 }))
      .body.rollout;
    const packagesOf = (environmentId: string) =>
      database.updateTable("packages").where("environment_id", "=", environmentId);
    await packagesOf(updated).set({ update_version: null }).execute();
    await database.deleteFrom("packages").where("environment_id", "=", gone).execute();
    await packagesOf(own).set({ is_elsewhere: true }).execute();
    await packagesOf(single).set({ file: "hello.php" }).execute();
    await reconcile();
    const { environments: items } = await get(id);
    expect(items.map(({ state }: RolloutItem) => state)).toEqual([
      "skipped",
      "skipped",
      "skipped",
      "skipped",
      "running",
    ]);
    expect(items.map(({ reason }: RolloutItem) => reason).slice(0, 4)).toEqual([
      `No version of ${plugin.name} newer than 1.0 is available.`,
      `The plugin ${plugin.name} is not installed.`,
      expect.stringContaining("gets its updates from another source"),
      expect.stringContaining("is a single file"),
    ]);
  });

  it("continues if an environment or an operation has been deleted", async () => {
    const [deleted = ""] = await environments(3);
    const { database } = test.current;
    const { id } = (await create({ canaries: 0, concurrency: 2, stop_after_failures: 9 })).body.rollout;
    await reconcile();
    const items: RolloutItem[] = (await get(id)).environments;
    await database
      .deleteFrom("environment_locks")
      .where("operation_id", "=", items[1]?.operation_id ?? "")
      .execute();
    await database
      .deleteFrom("operations")
      .where("id", "=", items[1]?.operation_id ?? "")
      .execute();
    await database.deleteFrom("rollout_items").where("environment_id", "=", deleted).execute();
    await reconcile();
    expect(await statesOf(id)).toEqual(["failed", "running"]);
    await endRunning(id);
    await reconcile();
    expect((await get(id)).state).toBe("ended");
  });

  it("starts each update once if several processes run the reconciler", async () => {
    await environments(5);
    const { id } = (await create({ canaries: 0, concurrency: 2 })).body.rollout;
    await Promise.all([reconcile(), reconcile(), reconcile()]);
    expect(await statesOf(id)).toEqual(["running", "running", "waiting", "waiting", "waiting"]);
  });

  it("locks one environment per transaction, to avoid deadlocks", async () => {
    await environments(3);
    const { id } = (await create({ canaries: 0, concurrency: 3 })).body.rollout;
    const start = makeRolloutStart({ settings: testSettings, acceptOperation: test.current.operations.accept });
    const transactions = new Set<unknown>();
    const begin: typeof start = (transaction, ...rest) => {
      transactions.add(transaction);
      return start(transaction, ...rest);
    };
    await runRollouts({ database: test.current.database, begin });
    expect([transactions.size, await statesOf(id)]).toEqual([3, ["running", "running", "running"]]);
  });

  it("that fails to start an update does not block other rollouts", async () => {
    const [broken] = await environments(1);
    const { id: first } = (await create({})).body.rollout;
    plugin.name = `shop-${randomUUID()}`;
    await environments(1);
    const { id: second } = (await create({})).body.rollout;
    const start = makeRolloutStart({ settings: testSettings, acceptOperation: test.current.operations.accept });
    const begin: typeof start = (transaction, rollout, environmentId) =>
      environmentId === broken ? Promise.reject(new Error("No.")) : start(transaction, rollout, environmentId);
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toThrow(
      "Rollouts that could not continue: 1",
    );
    expect([await statesOf(first), await statesOf(second)]).toEqual([["waiting"], ["running"]]);
    await reconcile();
  });

  it("is unchanged if an update can't be started", async () => {
    await environments(2);
    const { id } = (await create({})).body.rollout;
    const begin = () => Promise.reject(new Error("The database is away"));
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toMatchObject({
      errors: [{ message: `Continuing the rollout ${id} failed`, cause: new Error("The database is away") }],
    });
    expect(await statesOf(id)).toEqual(["waiting", "waiting"]);
    await reconcile();
    expect(await statesOf(id)).toEqual(["running", "waiting"]);
  });
});
