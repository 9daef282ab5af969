import { randomUUID } from "node:crypto";
import { noteSourceCheck } from "@sitewright/server/store/packages/packageChecks.ts";
import { removeEnvironmentRows } from "@sitewright/server/store/sites/environments.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type RolloutItem, useRollouts } from "../testing/rollouts.ts";
import { siteFields, useTestServer } from "../testing/server.ts";

const { test, plugin, pathOf, create, get, environments, reconcile, endRunning } = useRollouts();
const without = useTestServer({ packageSource: null });

describe("POST /company/{id}/rollouts", () => {
  it("lists the named environments in their order", async () => {
    const [first, second, third] = await environments(3);
    const answer = await create({ environments: [third, first, second], canaries: 2 });
    expect(answer.status).toBe(201);
    expect(answer.body.rollout).toMatchObject({
      type: "plugin",
      name: plugin.name,
      update_version: null,
      concurrency: 4,
      canaries: 2,
      stop_after_failures: 1,
      state: "running",
      ended_at: null,
      counts: { waiting: 3, running: 0, updated: 0, failed: 0, skipped: 0 },
      environments: [
        { id: third, site_id: expect.any(String), is_canary: true, state: "waiting", operation_id: null },
        { id: first, is_canary: true },
        { id: second, is_canary: false },
      ],
    });
  });

  it("takes all environments with an available update by default, live ones last", async () => {
    const [live] = await environments(1);
    await environments(1, "2.0", null);
    const { addSiteWithEnvironment, database } = test.current;
    const [own = "", single = ""] = await environments(2);
    const packagesOf = (id: string) => database.updateTable("packages").where("environment_id", "=", id);
    await packagesOf(own).set({ is_elsewhere: true }).execute();
    await packagesOf(single).set({ file: "hello.php" }).execute();
    const { id: staging } = await addSiteWithEnvironment();
    await putPackages(database, staging, [{ name: plugin.name }]);
    await database
      .updateTable("packages")
      .set({ update_version: "2.0" })
      .where("environment_id", "=", staging)
      .execute();
    const { rollout } = (await create({})).body;
    expect(rollout.environments.map(({ id }: RolloutItem) => id)).toEqual([staging, live]);
    const { rollout: same } = (await create({ update_version: "2.0" })).body;
    expect(same.environments.map(({ id }: RolloutItem) => id)).toEqual([staging, live]);
  });

  it("omits an environment that is deleted at the same time", async () => {
    const [deleted = "", left = ""] = await environments(2);
    const { database } = test.current;
    const waitingQueries = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database,
      );
      return rows.length;
    };
    const pending = await database.transaction().execute(async (transaction) => {
      await removeEnvironmentRows(transaction, deleted);
      const answer = create({ environments: [deleted, left] });
      await expect.poll(waitingQueries).toBe(1);
      return { answer };
    });
    const { status, body } = await pending.answer;
    expect([status, body.rollout.environments.map(({ id }: RolloutItem) => id)]).toEqual([201, [left]]);
  });

  it("is recorded in the activity log", async () => {
    await environments(2);
    await create({});
    const { company, call } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs`);
    expect(JSON.stringify(body)).toContain(`Update “${plugin.name}” in 2 environments`);
  });

  it("says if updates have not been checked yet", async () => {
    await environments(1, "1.0", null);
    await test.current.database.deleteFrom("package_source").execute();
    expect((await create({})).body).toMatchObject({
      message: expect.stringContaining("Updates have not been checked yet."),
      data: { code: "updates_not_checked" },
    });
  });

  it.each([
    ["a plugin without available updates", {}, "nothing_to_update"],
    ["an unknown environment", { environments: [randomUUID()] }, "unknown_environment"],
  ])("refuses %s", async (_, body, code) => {
    await noteSourceCheck(test.current.database, null);
    const answer = await create(body);
    expect([answer.status, answer.body.data.code]).toEqual([400, code]);
  });

  it("refuses unavailable versions and other companies' environments, and needs a package source", async () => {
    const [id] = await environments(1);
    expect((await create({ environments: [id], update_version: "3.0" })).body.data.code).toBe("version_not_offered");
    const { addSite, otherCompany, call } = test.current;
    const siteId = await addSite(siteFields(otherCompany.company_id), otherCompany.api_key);
    const { site } = (await call("GET", `/v2/sites/${siteId}`, { key: otherCompany.api_key })).body;
    expect((await create({ environments: [site.environments[0].id] })).body.data.code).toBe("unknown_environment");
    expect((await create({}, without.current)).body.data.code).toBe("no_package_source");
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
    expect((await create(body)).status).toBe(400);
  });

  it("is forbidden for non-live keys, keys for some sites, and read-only keys", async () => {
    const [id] = await environments(1);
    const siteId = await test.current.addSite();
    for (const scopes of [["non-live"], [`site:${siteId}`], ["read"]]) {
      const { token } = await test.current.addKey({ scopes });
      const body = { type: "plugin", name: plugin.name, environments: [id] };
      expect((await test.current.call("POST", pathOf(), { body, key: token })).status).toBe(403);
    }
  });
});

describe("POST /company/{id}/rollouts/{rollout_id}/cancel", () => {
  it("starts no further updates and lets running ones finish", async () => {
    await environments(3);
    const { id } = (await create({ canaries: 0, concurrency: 1 })).body.rollout;
    await reconcile();
    const { rollout } = (await test.current.call("POST", `${pathOf(id)}/cancel`)).body;
    expect(rollout).toMatchObject({ state: "cancelled", ended_at: null, counts: { running: 1, skipped: 2 } });
    await endRunning(id);
    await reconcile();
    const ended = await get(id);
    expect(ended).toMatchObject({ state: "cancelled", ended_at: expect.any(String), counts: { updated: 1 } });
    const again = await test.current.call("POST", `${pathOf(id)}/cancel`);
    expect([again.status, again.body.rollout]).toEqual([200, ended]);
  });
});

describe("keys for some sites", () => {
  it("can't see or cancel rollouts", async () => {
    await environments(1);
    const { id } = (await create({})).body.rollout;
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
  it("lists the company's rollouts, newest first, with paging", async () => {
    await environments(1);
    const [older, newer] = [(await create({})).body.rollout.id, (await create({})).body.rollout.id];
    const list = async (query: string) => (await test.current.call("GET", `${pathOf()}${query}`)).body.company.rollouts;
    const { items, total } = await list("?limit=2");
    expect(items.map(({ id }: RolloutItem) => id)).toEqual([newer, older]);
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
