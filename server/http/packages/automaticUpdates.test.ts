import { randomUUID } from "node:crypto";
import { makeAutomaticUpdate } from "@sitewright/server/app/packages/automaticUpdateStarts.ts";
import type { UpdatePackagesInput } from "@sitewright/server/operations/packages/updatePackages.ts";
import { versionKey } from "@sitewright/server/packages/versions.ts";
import { updateAutomatically } from "@sitewright/server/reconcilers/updateAutomatically.ts";
import { nobody } from "@sitewright/server/store/company/activity.ts";
import type { PackageKind } from "@sitewright/server/store/database.ts";
import {
  addAdvisoryRanges,
  advisoryFeed,
  markVulnerable,
  putInForce,
} from "@sitewright/server/store/packages/advisories.ts";
import { type AutomaticUpdateWish, setAutomaticUpdates } from "@sitewright/server/store/packages/automaticUpdates.ts";
import { type NotedUpdates, notePackageUpdates } from "@sitewright/server/store/packages/packageUpdates.ts";
import { type PackageWish, putPackages } from "@sitewright/server/testing/packages.ts";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { testSettings, useTestServer } from "../testing/server.ts";

const test = useTestServer();

const window = { days: ["monday", "sunday"], start: "02:05", hours: 3, time_zone: "Europe/Berlin" };
const wish = { plugins: true, themes: false, vulnerable_within_hours: null, except: [], window };
const always = { ...window, days: [0, 1, 2, 3, 4, 5, 6], start_minute: 0, hours: 24, time_zone: "UTC" };
const stored: AutomaticUpdateWish = {
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
  wishes: readonly PackageWish[],
  updatable = wishes.map(({ name }) => name),
): Promise<string> {
  const { addEnvironment, addSite, database } = test.current;
  const { id } = await addEnvironment(await addSite());
  await putPackages(database, id, wishes);
  const query = database.updateTable("packages").set({ update_version: "2.0" }).where("environment_id", "=", id);
  if (updatable.length > 0) await query.where("name", "in", [...updatable]).execute();
  return id;
}

async function wishFor(id: string, more: Partial<AutomaticUpdateWish>): Promise<void> {
  const { database } = test.current;
  await database.transaction().execute((transaction) => setAutomaticUpdates(transaction, id, { ...stored, ...more }));
}

/** One look of the control process. Returns what it has begun. */
async function goOn(now = new Date()) {
  const { database, operations } = test.current;
  const begun: { id: string; kind: PackageKind; names: readonly string[] }[] = [];
  const start = makeAutomaticUpdate({ database, settings: testSettings, acceptOperation: operations.accept });
  const begin = async (id: string, kind: PackageKind, names: readonly string[]) => {
    begun.push({ id, kind, names });
    await start(id, kind, names);
  };
  await updateAutomatically({ database, begin, now: () => now });
  return begun;
}

const query = () => test.current.database.selectFrom("operations").where("state", "in", ["running", "waiting"]);

const updatesIn = sql<Pick<UpdatePackagesInput, "kind" | "updates">>`input`.as("input");

/** Ends what is under way, as the operations themselves do. */
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
  it("keeps what is wished, and shows it", async () => {
    const id = await environment([]);
    const { call } = test.current;
    const usual = (await call("GET", pathOf(id))).body.environment.automatic_updates;
    expect(usual).toMatchObject({ plugins: false, themes: false, vulnerable_within_hours: null, except: [] });
    const body = { ...wish, vulnerable_within_hours: 24, except: ["shop", "shop", "leaf"] };
    const answer = await call("PUT", pathOf(id), { body });
    const kept = { ...body, except: ["shop", "leaf"], window: { ...window, days: ["sunday", "monday"] } };
    expect([answer.status, answer.body.environment]).toEqual([200, { id, automatic_updates: kept }]);
    expect((await call("GET", pathOf(id))).body.environment).toEqual({ id, automatic_updates: kept });
    await call("PUT", pathOf(id), { body: wish });
    expect((await call("GET", pathOf(id))).body.environment.automatic_updates.except).toEqual([]);
  });

  it("shows in the lists of plugins what is updated by us", async () => {
    const wishes = [
      { name: "shop" },
      { name: "left", is_auto_updated: true },
      { name: "own", is_elsewhere: true },
      { name: "leaf", kind: "theme" },
    ] as const;
    const id = await environment(wishes);
    const { call, company, database } = test.current;
    await call("PUT", pathOf(id), { body: { ...wish, except: ["left"] } });
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
    await call("PUT", pathOf(id), { body: { ...wish, plugins: false } });
    expect(await types("wp-plugins")).toEqual({ new: "disabled", shop: "disabled" });
  });

  it.each([
    { ...wish, window: { ...window, start: "24:00" } },
    { ...wish, window: { ...window, start: "2:00" } },
    { ...wish, window: { ...window, days: [] } },
    { ...wish, window: { ...window, days: ["someday"] } },
    { ...wish, window: { ...window, hours: 0 } },
    { ...wish, window: { ...window, hours: 25 } },
    { ...wish, vulnerable_within_hours: 0 },
    { ...wish, plugins: "yes" },
    { ...wish, except: [""] },
    { plugins: true },
  ])("refuses %j", async (body) => {
    expect((await test.current.call("PUT", pathOf(await environment([])), { body })).status).toBe(400);
  });

  it("refuses a time zone of which nothing is known", async () => {
    const body = { ...wish, window: { ...window, time_zone: "Mars/Olympus" } };
    const answer = await test.current.call("PUT", pathOf(await environment([])), { body });
    expect([answer.status, answer.body.data.code]).toEqual([400, "unknown_time_zone"]);
  });
});

describe("what is updated by itself", () => {
  it("is asked for as an ordinary update, by nobody, once", async () => {
    const id = await environment([{ name: "a" }, { name: "b" }, { name: "current" }], ["a", "b"]);
    await wishFor(id, {});
    expect(await goOn()).toEqual([{ id, kind: "plugin", names: ["a", "b"] }]);
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
    expect(await goOn()).toEqual([]);
    await endAll("updated");
  });

  it("waits for the window, and is nothing where nobody wishes it, of what is left out, elsewhere or a single file", async () => {
    await environment([{ name: "unwished" }]);
    const wishes = [{ name: "out" }, { name: "own", is_elsewhere: true }, { name: "single", file: "hello.php" }];
    const id = await environment([...wishes, { name: "leaf", kind: "theme" }]);
    await wishFor(id, { except_names: ["out"], themes: false });
    expect(await goOn()).toEqual([]);
    await wishFor(id, { except_names: ["out"], themes: true, days: [1], start_minute: 120, hours: 1 });
    expect(await goOn(new Date("2026-11-23T01:59:00Z"))).toEqual([]);
    expect(await goOn(new Date("2026-11-23T02:00:00Z"))).toEqual([{ id, kind: "theme", names: ["leaf"] }]);
    await endAll("updated");
  });

  it("is tried one by one where it is refused together, and then left alone until there is another version", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "a" }, { name: "b" }]);
    await wishFor(id, {});
    const tried: (readonly string[])[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      tried.push(...(await goOn()).map(({ names }) => names));
      await endAll("refused");
    }
    expect(tried).toEqual([["a", "b"], ["a"], ["b"]]);
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    await packages.where("name", "=", "b").set({ update_version: "3.0" }).execute();
    expect((await goOn()).map(({ names }) => names)).toEqual([["b"]]);
    await endAll("updated");
    await packages
      .where("name", "=", "a")
      .set({ failed_at: new Date(Date.now() - 8 * 86_400_000) })
      .execute();
    await packages.where("name", "=", "b").set({ update_version: null }).execute();
    expect((await goOn()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("updated");
  });

  it("is tried again in an hour where it fails for a reason that says nothing of the version, one by one", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "a" }, { name: "b" }]);
    await wishFor(id, {});
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    const triedMinutesAgo = (minutes: number) =>
      packages.set({ hindered_at: new Date(Date.now() - minutes * 60_000) }).execute();
    expect((await goOn()).map(({ names }) => names)).toEqual([["a", "b"]]);
    await endAll("failed");
    expect(await goOn()).toEqual([]);
    await triedMinutesAgo(59);
    expect(await goOn()).toEqual([]);
    // One of them may be the reason: it does not keep the other waiting for ever.
    await triedMinutesAgo(61);
    expect((await goOn()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("failed");
    expect((await goOn()).map(({ names }) => names)).toEqual([["b"]]);
    await endAll("updated");
    await packages.where("name", "=", "b").set({ update_version: null }).execute();
    expect(await goOn()).toEqual([]);
    await triedMinutesAgo(61);
    expect((await goOn()).map(({ names }) => names)).toEqual([["a"]]);
    await endAll("updated");
  });

  it.each([
    ["sooner where the hours within which it is wished are over by then", 2, 11, 1],
    ["not at once then, either", 2, 9, 0],
    ["in an hour where there is time for that", 4, 11, 0],
  ])("is tried again %s", async (_, within, minutesAgo, count) => {
    const id = await environment([{ name: "bad" }]);
    await wishFor(id, { vulnerable_within_hours: within });
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const facts = { is_vulnerable: true, vulnerable_since: ago(90), hindered_at: ago(minutesAgo) };
    await test.current.database.updateTable("packages").set(facts).where("environment_id", "=", id).execute();
    expect(await goOn()).toHaveLength(count);
    await endAll("updated");
  });

  it("is of four environments at a time", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await environment([{ name: "a" }]));
    for (const id of ids) await wishFor(id, {});
    expect((await goOn()).map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(await goOn()).toEqual([]);
    await endAll("updated");
  });

  it("does not wait for updates that somebody has asked for, however many there are", async () => {
    const { database, operations } = test.current;
    const asked = await environment([{ name: "a" }]);
    const { company_id, site_id } = await database
      .selectFrom("environments")
      .select(["company_id", "site_id"])
      .where("id", "=", asked)
      .executeTakeFirstOrThrow();
    const actor = { ...nobody, apiKeyId: randomUUID() };
    const request = { kind: "updatePlugin", companyId: company_id, siteId: site_id, environmentId: asked } as const;
    const input = { kind: "plugin", updates: [] };
    for (let count = 0; count < 5; count += 1) {
      await operations.submit({ ...request, locks: [asked], whenBusy: "queue", actor, input });
    }
    const id = await environment([{ name: "a" }]);
    await wishFor(id, {});
    expect((await goOn()).map((one) => one.id)).toEqual([id]);
    await endAll("updated");
  });

  it("goes on elsewhere where an environment's can't be begun, because nobody knows its time zone any more", async () => {
    const [broken, id] = [await environment([{ name: "a" }]), await environment([{ name: "a" }])];
    for (const each of [broken, id]) await wishFor(each, {});
    await wishFor(broken, { time_zone: "Mars/Olympus" });
    await expect(goOn()).rejects.toMatchObject({
      errors: [
        { message: `Starting the automatic update of environment ${broken} failed`, cause: expect.any(RangeError) },
      ],
    });
    const begun = await query().select("environment_id").execute();
    expect(begun.map(({ environment_id }) => environment_id)).toContain(id);
    await endAll("updated");
  });

  it("comes before the window where it is vulnerable and would come too late, and only to what is not", async () => {
    const { database } = test.current;
    const id = await environment([{ name: "bad" }, { name: "worse" }, { name: "fine" }]);
    const never = { plugins: false, themes: false, days: [0], start_minute: 0, hours: 1 };
    await wishFor(id, { ...never, vulnerable_within_hours: 2 });
    expect(await goOn(new Date("2026-11-23T12:00:00Z"))).toEqual([]);
    const { reading } = await advisoryFeed(database);
    const range = { from_key: null, is_from_included: true, is_to_included: true, affected: "any – 1.0", cve: null };
    const facts = { ...range, patched: "2.0", title: "Bad", score: 9, reference: null };
    await addAdvisoryRanges(database, reading + 1, [
      { advisory_id: "1", kind: "plugin", slug: "bad", to_key: versionKey("1.0"), ...facts },
      { advisory_id: "2", kind: "plugin", slug: "worse", to_key: null, ...facts },
    ]);
    await putInForce(database, { reading: reading + 1, mark: null, records: 2, skipped: 0 });
    await markVulnerable(database, null);
    const packages = database.updateTable("packages").where("environment_id", "=", id);
    await packages.where("name", "=", "worse").set({ is_update_vulnerable: true }).execute();
    await packages
      .set({ vulnerable_since: new Date("2026-11-23T11:00:00Z") })
      .where("is_vulnerable", "=", true)
      .execute();
    expect(await goOn(new Date("2026-11-23T12:00:00Z"))).toEqual([{ id, kind: "plugin", names: ["bad"] }]);
    await endAll("updated");
  });
});
