import { randomUUID } from "node:crypto";
import { makeRolloutStart } from "@sitewright/server/app/packages/rolloutStarts.ts";
import { runRollouts } from "@sitewright/server/reconcilers/runRollouts.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { describe, expect, it } from "vitest";
import { type RolloutItem, useRollouts } from "../testing/rollouts.ts";
import { testSettings } from "../testing/server.ts";

const { test, plugin, ask, get, environments, goOn, statesOf, endRunning } = useRollouts();

describe("a rollout", () => {
  it("updates canaries first, then so many at a time as it may, and ends", async () => {
    await environments(6);
    const { id } = (await ask({ canaries: 1, concurrency: 3 })).body.rollout;
    const seen: string[][] = [];
    do {
      await goOn();
      seen.push((await statesOf(id)).map((state) => state.slice(0, 1)));
    } while ((await endRunning(id)) > 0);
    expect(seen.map((states) => states.join(""))).toEqual(["rwwwww", "urrrww", "uuuurr", "uuuuuu"]);
    const rollout = await get(id);
    expect(rollout).toMatchObject({ state: "ended", counts: { updated: 6 }, ended_at: expect.any(String) });
    expect(rollout.environments[0]).toMatchObject({ version: "1.0", update_version: "2.0", reason: null });
  });

  it("asks for ordinary updates, by whoever asked for it, that wait where a site is busy", async () => {
    const { database, operations } = test.current;
    const [busy = ""] = await environments(1);
    const { company_id, site_id } = await database
      .selectFrom("environments")
      .select(["company_id", "site_id"])
      .where("id", "=", busy)
      .executeTakeFirstOrThrow();
    const other = { companyId: company_id, siteId: site_id, environmentId: busy, locks: [busy] };
    await operations.submit({ kind: "clearCache", ...other });
    const { id } = (await ask({})).body.rollout;
    await goOn();
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

  it("goes on before the others where a canary is skipped, or is not there any more, with the next ones", async () => {
    const [own = "", gone = "", deleted = "", ...others] = await environments(6);
    const { database } = test.current;
    const { id } = (await ask({ environments: [own, gone, deleted, ...others], canaries: 2, concurrency: 3 })).body
      .rollout;
    const isCanary = async () => (await get(id)).environments.map((item: { is_canary: boolean }) => item.is_canary);
    expect(await isCanary()).toEqual([true, true, false, false, false, false]);
    await database.updateTable("packages").set({ is_elsewhere: true }).where("environment_id", "=", own).execute();
    await database.deleteFrom("packages").where("environment_id", "=", gone).execute();
    await goOn();
    expect(await statesOf(id)).toEqual(["skipped", "skipped", "running", "running", "waiting", "waiting"]);
    expect(await isCanary()).toEqual([true, true, true, true, false, false]);
    await database.deleteFrom("rollout_items").where("environment_id", "=", deleted).execute();
    await goOn();
    expect(await statesOf(id)).toEqual(["skipped", "skipped", "running", "running", "waiting"]);
    await endRunning(id, (environmentId) => environmentId === others[1]);
    await goOn();
    const { state, canaries, counts } = await get(id);
    expect([state, canaries]).toEqual(["stopped", 2]);
    expect(counts).toEqual({ waiting: 0, running: 0, updated: 1, failed: 1, skipped: 3 });
  });

  it("has only one canary after the other where only one may be updated at a time, and ends where there are too few", async () => {
    await environments(2);
    const { id } = (await ask({ canaries: 3, concurrency: 1 })).body.rollout;
    await goOn();
    expect(await statesOf(id)).toEqual(["running", "waiting"]);
    await endRunning(id);
    await goOn();
    expect(await statesOf(id)).toEqual(["updated", "running"]);
    await endRunning(id);
    await goOn();
    expect((await get(id)).state).toBe("ended");
  });

  it("updates a theme as it updates a plugin", async () => {
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
    const { rollout } = (await ask({ type: "theme", canaries: 0 })).body;
    expect(rollout).toMatchObject({ type: "theme", counts: { waiting: 3 } });
    await goOn();
    const operations = await database
      .selectFrom("operations")
      .select(["kind", "input"])
      .where("environment_id", "in", [id, ...others])
      .where("kind", "like", "update%")
      .execute();
    const input = { kind: "theme", updates: [{ name: plugin.name, file: plugin.name, from: "1.0", to: "2.0" }] };
    expect(operations).toMatchObject(Array.from({ length: 3 }, () => ({ kind: "updateTheme", input })));
    await endRunning(rollout.id);
    await goOn();
    expect(await get(rollout.id)).toMatchObject({ state: "ended", counts: { updated: 3 } });
  });

  it("begins nothing more after a canary that failed, whatever number of failures it would bear", async () => {
    await environments(4);
    const { id } = (await ask({ canaries: 2, concurrency: 2, stop_after_failures: 4 })).body.rollout;
    await goOn();
    const [first] = (await get(id)).environments;
    await endRunning(id, (environmentId) => environmentId === first.id);
    await goOn();
    const { state, counts, environments: items } = await get(id);
    expect([state, counts]).toEqual(["stopped", { waiting: 0, running: 0, updated: 1, failed: 1, skipped: 2 }]);
    expect(items[0].reason).toBe("The site with the update does not answer.");
    expect(items[2].reason).toMatch(/^Not begun, because/);
  });

  it("goes on until so many have failed as it bears, and lets those end that were begun", async () => {
    await environments(7);
    const { id } = (await ask({ canaries: 0, concurrency: 2, stop_after_failures: 2 })).body.rollout;
    const ids = (await get(id)).environments.map((item: RolloutItem) => item.id);
    const fails = (environmentId: string) => [ids[0], ids[2]].includes(environmentId);
    await goOn();
    await endRunning(id, fails);
    await goOn();
    const [third] = (await get(id)).environments.filter(({ state }: RolloutItem) => state === "running");
    await test.current.fail(third.operation_id, "No.");
    await goOn();
    expect(await get(id)).toMatchObject({
      state: "stopped",
      ended_at: null,
      counts: { failed: 2, running: 1, skipped: 3 },
    });
    await endRunning(id);
    await goOn();
    expect(await get(id)).toMatchObject({ state: "stopped", ended_at: expect.any(String), counts: { updated: 2 } });
  });

  it("does not count where somebody else was first when the update's turn came", async () => {
    await environments(3);
    const { id } = (await ask({ canaries: 1, concurrency: 1 })).body.rollout;
    await goOn();
    await endRunning(id, () => true, "superseded");
    await goOn();
    expect(await statesOf(id)).toEqual(["skipped", "running", "waiting"]);
    await endRunning(id, () => true);
    await goOn();
    expect(await statesOf(id)).toEqual(["skipped", "failed", "skipped"]);
  });

  it("leaves out those in which there is nothing to be done, and says why", async () => {
    const [updated = "", gone = "", own = "", single = "", last = ""] = await environments(5);
    const { database } = test.current;
    const { id } = (await ask({ environments: [updated, gone, own, single, last], canaries: 0, concurrency: 1 })).body
      .rollout;
    const at = (environmentId: string) => database.updateTable("packages").where("environment_id", "=", environmentId);
    await at(updated).set({ update_version: null }).execute();
    await database.deleteFrom("packages").where("environment_id", "=", gone).execute();
    await at(own).set({ is_elsewhere: true }).execute();
    await at(single).set({ file: "hello.php" }).execute();
    await goOn();
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

  it("goes on without an environment that is deleted meanwhile, and without an operation that nobody knows any more", async () => {
    const [deleted = ""] = await environments(3);
    const { database } = test.current;
    const { id } = (await ask({ canaries: 0, concurrency: 2, stop_after_failures: 9 })).body.rollout;
    await goOn();
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
    await goOn();
    expect(await statesOf(id)).toEqual(["failed", "running"]);
    await endRunning(id);
    await goOn();
    expect((await get(id)).state).toBe("ended");
  });

  it("begins each once, however many look at it at the same time", async () => {
    await environments(5);
    const { id } = (await ask({ canaries: 0, concurrency: 2 })).body.rollout;
    await Promise.all([goOn(), goOn(), goOn()]);
    expect(await statesOf(id)).toEqual(["running", "running", "waiting", "waiting", "waiting"]);
  });

  it("holds one environment at a time, so that whoever holds several never waits for it while it waits for them", async () => {
    await environments(3);
    const { id } = (await ask({ canaries: 0, concurrency: 3 })).body.rollout;
    const start = makeRolloutStart({ settings: testSettings, acceptOperation: test.current.operations.accept });
    const transactions = new Set<unknown>();
    const begin: typeof start = (transaction, ...rest) => {
      transactions.add(transaction);
      return start(transaction, ...rest);
    };
    await runRollouts({ database: test.current.database, begin });
    expect([transactions.size, await statesOf(id)]).toEqual([3, ["running", "running", "running"]]);
  });

  it("that can't go on keeps no other one from it", async () => {
    const [broken] = await environments(1);
    const { id: first } = (await ask({})).body.rollout;
    plugin.name = `shop-${randomUUID()}`;
    await environments(1);
    const { id: second } = (await ask({})).body.rollout;
    const start = makeRolloutStart({ settings: testSettings, acceptOperation: test.current.operations.accept });
    const begin: typeof start = (transaction, rollout, environmentId) =>
      environmentId === broken ? Promise.reject(new Error("No.")) : start(transaction, rollout, environmentId);
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toThrow(
      "Rollouts that could not continue: 1",
    );
    expect([await statesOf(first), await statesOf(second)]).toEqual([["waiting"], ["running"]]);
    await goOn();
  });

  it("is as it was where beginning fails", async () => {
    await environments(2);
    const { id } = (await ask({})).body.rollout;
    const begin = () => Promise.reject(new Error("The database is away"));
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toMatchObject({
      errors: [{ message: `Continuing the rollout ${id} failed`, cause: new Error("The database is away") }],
    });
    expect(await statesOf(id)).toEqual(["waiting", "waiting"]);
    await goOn();
    expect(await statesOf(id)).toEqual(["running", "waiting"]);
  });
});
