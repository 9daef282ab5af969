import { randomUUID } from "node:crypto";
import { makeRolloutStart } from "@sitewright/server/app/rolloutStarts.ts";
import type { FailureKind } from "@sitewright/server/operations/operation.ts";
import { runRollouts } from "@sitewright/server/reconcilers/runRollouts.ts";
import { removeEnvironmentRows } from "@sitewright/server/store/environments.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { siteWish, testSettings, useTestServer } from "./testing/server.ts";

const test = useTestServer({
  packageSource: {
    url: new URL("https://packages.example/"),
    newest: async () => new Map(),
    cores: async () => [],
    find: async (_kind, slug) => ({
      slug,
      newest: "2.0",
      versions: [{ version: "2.0", url: new URL("https://packages.example/zip") }],
    }),
  },
});
const without = useTestServer({ packageSource: null });

/** A plugin that only one test knows. */
let name: string;
beforeEach(() => {
  name = `shop-${randomUUID()}`;
});

const pathOf = (id = "", server = test.current) =>
  `/v2/company/${server.company.company_id}/rollouts${id === "" ? "" : `/${id}`}`;

async function ask(body: object, server = test.current) {
  return server.call("POST", pathOf("", server), { body: { type: "plugin", name, ...body } });
}

const get = async (id: string) => (await test.current.call("GET", pathOf(id))).body.rollout;

/** Environments that have the plugin, by the name of their site. */
async function environments(count: number, version = "1.0", update_version: string | null = "2.0"): Promise<string[]> {
  const { addSite, call, database } = test.current;
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const siteId = await addSite({ display_name: `${at} ${randomUUID()}` });
    const id = (await call("GET", `/v2/sites/${siteId}`)).body.site.environments[0].id;
    await putPackages(database, id, [{ name, version }]);
    await database.updateTable("packages").set({ update_version }).where("environment_id", "=", id).execute();
    ids.push(id);
  }
  return ids;
}

/** One look of the control process at what there is to be done. */
function goOn(): Promise<void> {
  const { database, operations } = test.current;
  return runRollouts({
    database,
    begin: makeRolloutStart({ settings: testSettings, acceptOperation: operations.accept }),
  });
}

type Item = { id: string; state: string; operation_id: string; reason: string | null };

async function statesOf(id: string): Promise<string[]> {
  return (await get(id)).environments.map(({ state }: Item) => state);
}

/** Ends the updates that are under way. Gives how many there were. */
async function endRunning(
  id: string,
  fails: (environmentId: string) => boolean = () => false,
  kind: FailureKind = "refused",
): Promise<number> {
  const running = (await get(id)).environments.filter(({ state }: Item) => state === "running");
  for (const { id: environmentId, operation_id } of running) {
    if (fails(environmentId)) await test.current.fail(operation_id, "The site with the update does not answer.", kind);
    else await test.current.succeed(operation_id);
  }
  return running.length;
}

describe("POST /company/{id}/rollouts", () => {
  it("begins with those that are named, in their order", async () => {
    const [first, second, third] = await environments(3);
    const answer = await ask({ environments: [third, first, second], canaries: 2 });
    expect(answer.status).toBe(201);
    expect(answer.body.rollout).toMatchObject({
      type: "plugin",
      name,
      update_version: null,
      concurrency: 4,
      canaries: 2,
      stop_after_failures: 1,
      state: "running",
      ended_at: null,
      counts: { waiting: 3, running: 0, updated: 0, failed: 0, skipped: 0 },
      environments: [
        { id: third, is_canary: true, state: "waiting", operation_id: null },
        { id: first, is_canary: true },
        { id: second, is_canary: false },
      ],
    });
  });

  it("takes all for which there is something newer where none are named, those that nobody visits first", async () => {
    const [live] = await environments(1);
    await environments(1, "2.0", null);
    const { addEnvironment, addSite, database } = test.current;
    const [own = "", single = ""] = await environments(2);
    const at = (id: string) => database.updateTable("packages").where("environment_id", "=", id);
    await at(own).set({ is_elsewhere: true }).execute();
    await at(single).set({ file: "hello.php" }).execute();
    const { id: staging } = await addEnvironment(await addSite());
    await putPackages(database, staging, [{ name }]);
    await database
      .updateTable("packages")
      .set({ update_version: "2.0" })
      .where("environment_id", "=", staging)
      .execute();
    const { rollout } = (await ask({})).body;
    expect(rollout.environments.map(({ id }: Item) => id)).toEqual([staging, live]);
    const { rollout: same } = (await ask({ update_version: "2.0" })).body;
    expect(same.environments.map(({ id }: Item) => id)).toEqual([staging, live]);
  });

  it("leaves out an environment that is deleted while it is asked for", async () => {
    const [deleted = "", left = ""] = await environments(2);
    const { database } = test.current;
    const waiting = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database,
      );
      return rows.length;
    };
    const asked = await database.transaction().execute(async (transaction) => {
      await removeEnvironmentRows(transaction, deleted);
      const answer = ask({ environments: [deleted, left] });
      await expect.poll(waiting).toBe(1);
      return { answer };
    });
    const { status, body } = await asked.answer;
    expect([status, body.rollout.environments.map(({ id }: Item) => id)]).toEqual([201, [left]]);
  });

  it("is seen in the activity log", async () => {
    await environments(2);
    await ask({});
    const { company, call } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs`);
    expect(JSON.stringify(body)).toContain(`Update “${name}” in 2 environments`);
  });

  it.each([
    ["nothing that is newer", {}, "nothing_to_update"],
    ["an environment that is not there", { environments: [randomUUID()] }, "unknown_environment"],
  ])("refuses %s", async (_, body, code) => {
    const answer = await ask(body);
    expect([answer.status, answer.body.data.code]).toEqual([400, code]);
  });

  it("refuses a version that is not offered, another company's environment, and everything without a source", async () => {
    const [id] = await environments(1);
    expect((await ask({ environments: [id], update_version: "3.0" })).body.data.code).toBe("version_not_offered");
    const { addSite, otherCompany, call } = test.current;
    const siteId = await addSite(siteWish(otherCompany.company_id), otherCompany.api_key);
    const { site } = (await call("GET", `/v2/sites/${siteId}`, { key: otherCompany.api_key })).body;
    expect((await ask({ environments: [site.environments[0].id] })).body.data.code).toBe("unknown_environment");
    expect((await ask({}, without.current)).body.data.code).toBe("no_package_source");
  });

  it.each([
    { type: "core" },
    { name: "" },
    { environments: [] },
    { environments: ["x"] },
    { concurrency: 0 },
    { concurrency: 21 },
    { canaries: -1 },
    { stop_after_failures: 0 },
    { update_version: "" },
  ])("refuses %j", async (body) => {
    expect((await ask(body)).status).toBe(400);
  });

  it("is for keys of the whole company that may change live sites", async () => {
    const [id] = await environments(1);
    const siteId = await test.current.addSite();
    for (const scopes of [["non-live"], [`site:${siteId}`], ["read"]]) {
      const { token } = await test.current.addKey({ scopes });
      const body = { type: "plugin", name, environments: [id] };
      expect((await test.current.call("POST", pathOf(), { body, key: token })).status).toBe(403);
    }
  });
});

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
      input: { kind: "plugin", updates: [{ name, from: "1.0", to: "2.0" }] },
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
      await putPackages(database, each, [{ name, kind: "theme", is_active: false }, { name }]);
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
    const input = { kind: "theme", updates: [{ name, file: name, from: "1.0", to: "2.0" }] };
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
    const ids = (await get(id)).environments.map((item: Item) => item.id);
    const fails = (environmentId: string) => [ids[0], ids[2]].includes(environmentId);
    await goOn();
    await endRunning(id, fails);
    await goOn();
    const [third] = (await get(id)).environments.filter(({ state }: Item) => state === "running");
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
    expect(items.map(({ state }: Item) => state)).toEqual(["skipped", "skipped", "skipped", "skipped", "running"]);
    expect(items.map(({ reason }: Item) => reason).slice(0, 4)).toEqual([
      `No newer version of ${name} than 1.0 is known to be offered for it.`,
      `The environment has no plugin ${name}.`,
      expect.stringContaining("has its updates elsewhere"),
      expect.stringContaining("is a single file"),
    ]);
  });

  it("goes on without an environment that is deleted meanwhile, and without an operation that nobody knows any more", async () => {
    const [deleted = ""] = await environments(3);
    const { database } = test.current;
    const { id } = (await ask({ canaries: 0, concurrency: 2, stop_after_failures: 9 })).body.rollout;
    await goOn();
    const items: Item[] = (await get(id)).environments;
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
    name = `shop-${randomUUID()}`;
    await environments(1);
    const { id: second } = (await ask({})).body.rollout;
    const start = makeRolloutStart({ settings: testSettings, acceptOperation: test.current.operations.accept });
    const begin: typeof start = (transaction, rollout, environmentId) =>
      environmentId === broken ? Promise.reject(new Error("No.")) : start(transaction, rollout, environmentId);
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toThrow("1 rollouts can't go on");
    expect([await statesOf(first), await statesOf(second)]).toEqual([["waiting"], ["running"]]);
    await goOn();
  });

  it("is as it was where beginning fails", async () => {
    await environments(2);
    const { id } = (await ask({})).body.rollout;
    const begin = () => Promise.reject(new Error("The database is away"));
    await expect(runRollouts({ database: test.current.database, begin })).rejects.toMatchObject({
      errors: [{ message: `The rollout ${id} can't go on`, cause: new Error("The database is away") }],
    });
    expect(await statesOf(id)).toEqual(["waiting", "waiting"]);
    await goOn();
    expect(await statesOf(id)).toEqual(["running", "waiting"]);
  });
});

describe("POST /company/{id}/rollouts/{rollout_id}/cancel", () => {
  it("begins nothing more, and lets those end that were begun", async () => {
    await environments(3);
    const { id } = (await ask({ canaries: 0, concurrency: 1 })).body.rollout;
    await goOn();
    const { rollout } = (await test.current.call("POST", `${pathOf(id)}/cancel`)).body;
    expect(rollout).toMatchObject({ state: "cancelled", ended_at: null, counts: { running: 1, skipped: 2 } });
    await endRunning(id);
    await goOn();
    const ended = await get(id);
    expect(ended).toMatchObject({ state: "cancelled", ended_at: expect.any(String), counts: { updated: 1 } });
    const again = await test.current.call("POST", `${pathOf(id)}/cancel`);
    expect([again.status, again.body.rollout]).toEqual([200, ended]);
  });
});

describe("keys that are limited to a site", () => {
  it("can't see rollouts, and cancel none", async () => {
    await environments(1);
    const { id } = (await ask({})).body.rollout;
    const { addKey, addSite, call } = test.current;
    const { token: key } = await addKey({ scopes: [`site:${await addSite()}`] });
    for (const [method, path] of [
      ["GET", pathOf()],
      ["GET", pathOf(id)],
      ["POST", `${pathOf(id)}/cancel`],
    ] as const) {
      expect((await call(method, path, { key })).status).toBe(403);
    }
    expect((await get(id)).state).toBe("running");
  });
});

describe("GET /company/{id}/rollouts", () => {
  it("shows the company's own, the newest first and some at a time", async () => {
    await environments(1);
    const [older, newer] = [(await ask({})).body.rollout.id, (await ask({})).body.rollout.id];
    const list = async (query: string) => (await test.current.call("GET", `${pathOf()}${query}`)).body.company.rollouts;
    const { items, total } = await list("?limit=2");
    expect(items.map(({ id }: Item) => id)).toEqual([newer, older]);
    expect(items[0]).not.toHaveProperty("environments");
    expect((await list("?limit=1&offset=1")).items[0].id).toBe(older);
    expect((await list("?limit=0")).items).toEqual([]);
    expect(total).toBeGreaterThan(1);
    const { otherCompany, call } = test.current;
    const foreign = `/v2/company/${otherCompany.company_id}/rollouts`;
    const answer = await call("GET", foreign, { key: otherCompany.api_key });
    expect(answer.body.company.rollouts).toEqual({ items: [], total: 0 });
    for (const path of [`${foreign}/${older}`, `${foreign}/${randomUUID()}`]) {
      expect((await call("GET", path, { key: otherCompany.api_key })).status).toBe(404);
    }
  });
});
