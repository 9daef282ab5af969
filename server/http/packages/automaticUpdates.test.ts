import { randomUUID } from "node:crypto";
import { makeAutomaticUpdate } from "@sitewright/server/app/packages/automaticUpdateStarts.ts";
import type { UpdatePackagesInput } from "@sitewright/server/operations/packages/updatePackages.ts";
import { versionKey } from "@sitewright/server/packages/versions.ts";
import { updateAutomatically } from "@sitewright/server/reconcilers/updateAutomatically.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { PackageKind } from "@sitewright/server/store/database.ts";
import {
  activateReading,
  addAdvisoryRanges,
  advisoryFeed,
  markVulnerable,
} from "@sitewright/server/store/packages/advisories.ts";
import {
  type AutomaticUpdateSettings,
  setAutomaticUpdates,
} from "@sitewright/server/store/packages/automaticUpdates.ts";
import { type NotedUpdates, notePackageUpdates } from "@sitewright/server/store/packages/packageUpdates.ts";
import { putPackages, type TestPackage } from "@sitewright/server/testing/packages.ts";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { testSettings, useTestServer } from "../testing/server.ts";

const test = useTestServer();

const window = { days: ["monday", "sunday"], start: "02:05", hours: 3, time_zone: "Europe/Berlin" };
const settings = { plugins: true, themes: false, vulnerable_within_hours: null, except: [], window };
const always = { ...window, days: [0, 1, 2, 3, 4, 5, 6], start_minute: 0, hours: 24, time_zone: "UTC" };
const stored: AutomaticUpdateSettings = {
  plugins: true,
  themes: true,
  vulnerable_within_hours: null,
  except_names: [],
  ...windowOf(always),
};

function windowOf({ days, start_minute, hours, time_zone }: typeof always) {
  return { days, start_minute, hours, time_zone };
}

const pathOf = (id: string) => `/v2/sites/environments/${id}/automatic-updates`;

async function environment(
  packages: readonly TestPackage[],
  updatable = packages.map(({ name }) => name),
): Promise<string> {
  const { addSiteWithEnvironment, database } = test.current;
  const { id } = await addSiteWithEnvironment();
  await putPackages(database, id, packages);
  const query = database.updateTable("packages").set({ update_version: "2.0" }).where("environment_id", "=", id);
  if (updatable.length > 0) await query.where("name", "in", [...updatable]).execute();
  return id;
}

async function configure(id: string, more: Partial<AutomaticUpdateSettings>): Promise<void> {
  const { database } = test.current;
  await database.transaction().execute((transaction) => setAutomaticUpdates(transaction, id, { ...stored, ...more }));
}

/** Runs the reconciler once. Returns the updates that it started. */
async function reconcile(now = new Date()) {
  const { database, operations } = test.current;
  const started: { id: string; kind: PackageKind; names: readonly string[] }[] = [];
  const start = makeAutomaticUpdate({ database, settings: testSettings, acceptOperation: operations.accept });
  const begin = async (id: string, kind: PackageKind, names: readonly string[]) => {
    started.push({ id, kind, names });
    await start(id, kind, names);
  };
  await updateAutomatically({ database, begin, now: () => now });
  return started;
}

const query = () => test.current.database.selectFrom("operations").where("state", "in", ["running", "waiting"]);

const updatesIn = sql<Pick<UpdatePackagesInput, "kind" | "updates">>`input`.as("input");

/** Ends all running updates, as the operations themselves do. */
async function endAll(became: NotedUpdates["became"]): Promise<void> {
  const { database, fail, succeed } = test.current;
  for (const { id, environment_id, input } of await query().select(["id", "environment_id", updatesIn]).execute()) {
    const { kind, updates } = input;
    const noted = updates.map(({ name, to }) => ({ name, to, key: versionKey(to) }));
    await notePackageUpdates(database, { environmentId: environment_id ?? "", kind, updates: noted, became });
    await (became === "updated" ? succeed(id) : fail(id, "No."));
  }
}

beforeEach(async () => {
  const { database } = test.current;
  await database.deleteFrom("automatic_updates").execute();
});

describe("PUT /sites/environments/{env_id}/automatic-updates", () => {
  it("stores and returns the settings", async () => {
    const id = await environment([]);
    const { call } = test.current;
    const defaults = (await call("GET", pathOf(id))).body.environment.automatic_updates;
    expect(defaults).toMatchObject({ plugins: false, themes: false, vulnerable_within_hours: null, except: [] });
    const body = { ...settings, vulnerable_within_hours: 24, except: ["shop", "shop", "leaf"] };
    const answer = await call("PUT", pathOf(id), { body });
    const kept = { ...body, except: ["shop", "leaf"], window: { ...window, days: ["sunday", "monday"] } };
    expect([answer.status, answer.body.environment]).toEqual([200, { id, automatic_updates: kept }]);
    expect((await call("GET", pathOf(id))).body.environment).toEqual({ id, automatic_updates: kept });
    await call("PUT", pathOf(id), { body: settings });
    expect((await call("GET", pathOf(id))).body.environment.automatic_updates.except).toEqual([]);
  });

  it("is shown in the lists of plugins and themes", async () => {
    const packages = [
      { name: "shop" },
      { name: "left", is_auto_updated: true },
      { name: "own", is_elsewhere: true },
      { name: "leaf", kind: "theme" },
    ] as const;
    const id = await environment(packages);
    const { call, company, database } = test.current;
    await call("PUT", pathOf(id), { body: { ...settings, except: ["left"] } });
    const types = async (path: string) => {
      const { environment: found } = (await call("GET", `/v2/sites/environments/${id}/${path}`)).body;
      const [items] = Object.values<{ items: { name: string; auto_update_type: string }[] }>(found);
      return Object.fromEntries((items?.items ?? []).map(({ name, auto_update_type: type }) => [name, type]));
    };
    const plugins = { left: "WordPress", own: "disabled", shop: "Provider Automatic Update" };
    expect([await types("wp-plugins"), await types("wp-themes")]).toEqual([plugins, { leaf: "disabled" }]);
    const all = (await call("GET", `/v2/company/${company.company_id}/wp-plugins?search=shop`)).body.company.plugins;
    const entry = all.items[0].environments.find((each: { id: string }) => each.id === id);
    expect(entry.auto_update_type).toBe("Provider Automatic Update");
    await putPackages(database, id, [{ name: "shop" }, { name: "new" }]);
    expect(await types("wp-plugins")).toEqual({ new: "Provider Automatic Update", shop: "Provider Automatic Update" });
    await call("PUT", pathOf(id), { body: { ...settings, plugins: false } });
    expect(await types("wp-plugins")).toEqual({ new: "disabled", shop: "disabled" });
  });

  it.each([
    { ...settings, window: { ...window, start: "24:00" } },
    { ...settings, window: { ...window, start: "2:00" } },
    { ...settings, window: { ...window, days: [] } },
    { ...settings, window: { ...window, days: ["someday"] } },
    { ...settings, window: { ...window, hours: 0 } },
    { ...settings, window: { ...window, hours: 25 } },
    { ...settings, vulnerable_within_hours: 0 },
    { ...settings, plugins: "yes" },
    { ...settings, except: [""] },
    { plugins: true },
  ])("refuses %j", async (body) => {
    expect((await test.current.call("PUT", pathOf(await environment([])), { body })).status).toBe(400);
  });

  it("refuses an unknown time zone", async () => {
    const body = { ...settings, window: { ...window, time_zone: "Mars/Olympus" } };
    const answer = await test.current.call("PUT", pathOf(await environment([])), { body });
    expect([answer.status, answer.body.data.code]).toEqual([400, "unknown_time_zone"]);
  });
});

describe("an automatic update", () => {
  it("is started once, as an ordinary update without a user", async () => {
    const id = await environment([{ name: "a" }, { name: "b" }, { name: "current" }], ["a", "b"]);
    await configure(id, {});
    expect(await reconcile()).toEqual([{ id, kind: "plugin", names: ["a", "b"] }]);
    const row = await query()
      .innerJoin("activity", "activity.id", "operations.activity_id")
      .select(["kind", "input", "user_id"])
      .where("operations.environment_id", "=", id)
      .executeTakeFirstOrThrow();
    const updates = ["a", "b"].map((name) => ({
      name,
      from: "1.0",
      to: "2.0",
      slug: name,
      file: `${name}/${name}.php`,
    }));
    expect(row).toMatchObject({ kind: "updatePlugins", user_id: null, input: { kind: "plugin", updates } });
    expect(await reconcile()).toEqual([]);
    await endAll("updated");
  });

  it("waits for the window, and skips exceptions, other sources, single files and other environments", async () => {
    await environment([{ name: "not-configured" }]);
    const plugins = [{ name: "out" }, { name: "own", is_elsewhere: true }, { name: "single", file: "hello.php" }];
    const id = await environment([...plugins, { name: "leaf", kind: "theme" }]);
    await configure(id, { except_names: ["out"], themes: false });
    expect(await reconcile()).toEqual([]);
    await configure(id, { except_names: ["out"], themes: true, days: [1], start_minute: 120, hours: 1 });
    expect(await reconcile(new Date("2026-11-23T01:59:00Z"))).toEqual([]);
    expect(await reconcile(new Date("2026-11-23T02:00:00Z"))).toEqual([{ id, kind: "theme", names: ["leaf"] }]);
    await endAll("updated");
  });

  it("is retried one by one if it is refused together, and then only for another version", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "a" }, { name: "b" }]);
    await configure(id, {});
    const tried: (readonly string[])[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      tried.push(...(await reconcile()).map(({ names }) => names));
      await endAll("refused");
    }
    expect(tried).toEqual([["a", "b"], ["a"], ["b"]]);
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    await packages.where("name", "=", "b").set({ update_version: "3.0" }).execute();
    expect((await reconcile()).map(({ names }) => names)).toEqual([["b"]]);
    await endAll("updated");
    await packages
      .where("name", "=", "a")
      .set({ failed_at: new Date(Date.now() - 8 * 86_400_000) })
      .execute();
    await packages.where("name", "=", "b").set({ update_version: null }).execute();
    expect((await reconcile()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("updated");
  });

  it("is retried after an hour, one by one, if it fails for another reason than the version", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "a" }, { name: "b" }]);
    await configure(id, {});
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    const triedMinutesAgo = (minutes: number) =>
      packages.set({ hindered_at: new Date(Date.now() - minutes * 60_000) }).execute();
    expect((await reconcile()).map(({ names }) => names)).toEqual([["a", "b"]]);
    await endAll("failed");
    expect(await reconcile()).toEqual([]);
    await triedMinutesAgo(59);
    expect(await reconcile()).toEqual([]);
    // One of them may be the cause, which must not hold up the other.
    await triedMinutesAgo(61);
    expect((await reconcile()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("failed");
    expect((await reconcile()).map(({ names }) => names)).toEqual([["b"]]);
    await endAll("updated");
    await packages.where("name", "=", "b").set({ update_version: null }).execute();
    expect(await reconcile()).toEqual([]);
    await triedMinutesAgo(61);
    expect((await reconcile()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("updated");
  });

  it.each([
    ["earlier if the vulnerability deadline would pass", 2, 11, 1],
    ["but not at once", 2, 9, 0],
    ["after an hour if the deadline allows it", 4, 11, 0],
  ])("is retried %s", async (_, within, minutesAgo, count) => {
    const id = await environment([{ name: "bad" }]);
    await configure(id, { vulnerable_within_hours: within });
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const facts = { is_vulnerable: true, vulnerable_since: ago(90), hindered_at: ago(minutesAgo) };
    await test.current.database.updateTable("packages").set(facts).where("environment_id", "=", id).execute();
    expect(await reconcile()).toHaveLength(count);
    await endAll("updated");
  });

  it("runs in four environments at a time", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await environment([{ name: "a" }]));
    for (const id of ids) await configure(id, {});
    expect((await reconcile()).map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(await reconcile()).toEqual([]);
    await endAll("updated");
  });

  it("does not wait for updates that users requested", async () => {
    const { database, operations } = test.current;
    const requestedId = await environment([{ name: "a" }]);
    const { company_id, site_id } = await database
      .selectFrom("environments")
      .select(["company_id", "site_id"])
      .where("id", "=", requestedId)
      .executeTakeFirstOrThrow();
    const actor = { ...systemActor, apiKeyId: randomUUID() };
    const request = {
      kind: "updatePlugin",
      companyId: company_id,
      siteId: site_id,
      environmentId: requestedId,
    } as const;
    const input = { kind: "plugin", updates: [] };
    for (let count = 0; count < 5; count += 1) {
      await operations.submit({ ...request, locks: [requestedId], whenBusy: "queue", actor, input });
    }
    const id = await environment([{ name: "a" }]);
    await configure(id, {});
    expect((await reconcile()).map((one) => one.id)).toEqual([id]);
    await endAll("updated");
  });

  it("is started in other environments if one has a time zone that is no longer known", async () => {
    const [broken, id] = [await environment([{ name: "a" }]), await environment([{ name: "a" }])];
    for (const each of [broken, id]) await configure(each, {});
    await configure(broken, { time_zone: "Mars/Olympus" });
    await expect(reconcile()).rejects.toMatchObject({
      errors: [
        { message: `Starting the automatic update of environment ${broken} failed`, cause: expect.any(RangeError) },
      ],
    });
    const running = await query().select("environment_id").execute();
    expect(running.map(({ environment_id }) => environment_id)).toContain(id);
    await endAll("updated");
  });

  it("of a vulnerable plugin runs before a window that would be too late, if the new version is safe", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "bad" }, { name: "worse" }, { name: "fine" }]);
    const never = { plugins: false, themes: false, days: [0], start_minute: 0, hours: 1 };
    await configure(id, { ...never, vulnerable_within_hours: 2 });
    expect(await reconcile(new Date("2026-11-23T12:00:00Z"))).toEqual([]);
    const { reading } = await advisoryFeed(database);
    const range = { from_key: null, is_from_included: true, is_to_included: true, affected: "any – 1.0", cve: null };
    const facts = { ...range, patched: "2.0", title: "Bad", score: 9, reference: null };
    await addAdvisoryRanges(database, reading + 1, [
      { advisory_id: "1", kind: "plugin", slug: "bad", to_key: versionKey("1.0"), ...facts },
      { advisory_id: "2", kind: "plugin", slug: "worse", to_key: null, ...facts },
    ]);
    await activateReading(database, { reading: reading + 1, mark: null, records: 2, skipped: 0 });
    await markVulnerable(database, null);
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    await packages.where("name", "=", "worse").set({ is_update_vulnerable: true }).execute();
    await packages
      .set({ vulnerable_since: new Date("2026-11-23T11:00:00Z") })
      .where("is_vulnerable", "=", true)
      .execute();
    expect(await reconcile(new Date("2026-11-23T12:00:00Z"))).toEqual([{ id, kind: "plugin", names: ["bad"] }]);
    await endAll("updated");
  });
});
