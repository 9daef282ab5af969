import { setTimeout as delay } from "node:timers/promises";
import type { PackageFacts } from "@sitewright/server/app/packages/packages.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { activateReading, noteChecked } from "@sitewright/server/store/packages/advisories.ts";
import { noteSourceCheck } from "@sitewright/server/store/packages/packageChecks.ts";
import type { ToRead } from "@sitewright/server/store/packages/packages.ts";
import { putPackages, type TestPackage } from "@sitewright/server/testing/packages.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";
import { asPlugin, asTheme, bodyOf, write } from "./companyPackages.ts";

/** The packages that reading an unread environment finds, by environment. */
const unread = new Map<string, readonly TestPackage[]>();

/** A package in an environment, as it is stored. */
const entry = {
  name: "a",
  file: "a/a.php",
  title: "A",
  description: "",
  version: "1",
  version_key: "1",
  update_version: null,
  update_status: "failed",
  is_active: true,
  is_vulnerable: false,
  is_update_vulnerable: false,
  is_auto_updated: true,
  is_managed: false,
} as const;

const test = useTestServer({
  readPackages: (database) => async (environments: readonly ToRead[]) => {
    for (const { id } of environments) await putPackages(database, id, unread.get(id) ?? []);
  },
});

const without = useTestServer({ packageSource: null, hasAdvisories: false });

/** Adds an environment whose packages have not been read yet. */
async function unreadEnvironment(key?: string): Promise<{ id: string; siteId: string }> {
  const { addSiteWithEnvironment, database } = test.current;
  const { id, siteId } = await addSiteWithEnvironment(key);
  await database.updateTable("environments").set({ wordpress_version: "7.1.1" }).where("id", "=", id).execute();
  return { id, siteId };
}

async function environment(packages: readonly TestPackage[], key?: string): Promise<{ id: string; siteId: string }> {
  const created = await unreadEnvironment(key);
  await putPackages(test.current.database, created.id, packages);
  return created;
}

const setUpdate = (database: Database, environmentId: string, name: string, update_version: string) =>
  database
    .updateTable("packages")
    .set({ update_version })
    .where("environment_id", "=", environmentId)
    .where("name", "=", name)
    .execute();

const pluginsOf = async (id: string, query = "") =>
  (await test.current.call("GET", `/v2/sites/environments/${id}/wp-plugins${query}`)).body.environment.plugins;
const slugs = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

describe("GET /sites/environments/{env_id}/wp-plugins", () => {
  it("lists all plugins by slug, without themes", async () => {
    const { id } = await environment([
      { name: "b", version: "1.2", title: "Bee", description: "Hums.", is_active: false, is_auto_updated: true },
      { name: "a" },
      { name: "t", kind: "theme" },
    ]);
    await setUpdate(test.current.database, id, "b", "1.3");
    const { items, problem } = await pluginsOf(id);
    expect(problem).toBeNull();
    expect(slugs(items)).toEqual(["a", "b"]);
    expect(items[1]).toEqual({
      name: "b",
      title: "Bee",
      description: "Hums.",
      status: "inactive",
      version: "1.2",
      update: "available",
      update_version: "1.3",
      update_status: null,
      is_version_vulnerable: false,
      is_update_version_vulnerable: false,
      auto_update_type: "WordPress",
    });
    expect(items[0]).toMatchObject({ update: "none", update_version: null, auto_update_type: "disabled" });
  });

  it("filters by query and by body; the query takes precedence", async () => {
    const { call } = test.current;
    const { id } = await environment([{ name: "a" }, { name: "b", is_active: false }, { name: "c" }]);
    await setUpdate(test.current.database, id, "c", "2");
    expect(slugs((await pluginsOf(id, "?status=inactive")).items)).toEqual(["b"]);
    expect(slugs((await pluginsOf(id, "?column=updatesAvailable")).items)).toEqual(["c"]);
    expect(slugs((await pluginsOf(id, "?column=vulnerable")).items)).toEqual([]);
    const path = `/v2/sites/environments/${id}/wp-plugins`;
    const byBody = await call("GET", path, { body: { status: "inactive" } });
    expect(slugs(byBody.body.environment.plugins.items)).toEqual(["b"]);
    const both = await call("GET", `${path}?status=active`, { body: { status: "inactive" } });
    expect(slugs(both.body.environment.plugins.items)).toEqual(["a", "c"]);
    const themes = await call("GET", path.replace("plugins", "themes"), { body: { column: "updatesAvailable" } });
    expect(themes.body.environment.themes.items).toEqual([]);
  });

  it.each(["status=live", "column=name", "status="])("refuses %s", async (query) => {
    const { id } = await environment([]);
    const { status } = await test.current.call("GET", `/v2/sites/environments/${id}/wp-plugins?${query}`);
    expect(status).toBe(400);
  });

  it("reads an environment that has not been read yet", async () => {
    const { id } = await unreadEnvironment();
    unread.set(id, [{ name: "fresh" }]);
    expect(slugs((await pluginsOf(id)).items)).toEqual(["fresh"]);
  });

  it("says when the environment was read, and what could not be read", async () => {
    const { database } = test.current;
    const { id } = await unreadEnvironment();
    const before = Date.now();
    await putPackages(database, id, [{ name: "a" }], "The site's database is damaged.");
    const { last_updated_at, problem } = await pluginsOf(id);
    expect(Math.abs(Date.parse(last_updated_at) - before)).toBeLessThan(60_000);
    expect((await pluginsOf(id)).last_updated_at).toBe(last_updated_at);
    expect(problem).toBe("The site's database is damaged.");
    await delay(2);
    await putPackages(database, id, [{ name: "b" }]);
    const later = await pluginsOf(id);
    expect(Date.parse(later.last_updated_at)).toBeGreaterThan(Date.parse(last_updated_at));
    expect([later.problem, slugs(later.items)]).toEqual([null, ["b"]]);
  });
});

describe("the field `checks`", () => {
  const checksOf = async (id: string) =>
    (await test.current.call("GET", `/v2/sites/environments/${id}/wp-plugins`)).body.environment.plugins.checks;

  it("says when updates and vulnerabilities were last checked", async () => {
    const { database, company, call } = test.current;
    const { id } = await unreadEnvironment();
    expect(await checksOf(id)).toEqual({
      updates: { checked_at: null, problem: null },
      vulnerabilities: { checked_at: null, problem: null },
    });
    await noteSourceCheck(database, "The package source did not answer.");
    await noteChecked(database, "The feed could not be read.");
    const failedChecks = {
      updates: { checked_at: null, problem: "The package source did not answer." },
      vulnerabilities: { checked_at: null, problem: "The feed could not be read." },
    };
    expect(await checksOf(id)).toEqual(failedChecks);
    const ofCompany = await call("GET", `/v2/company/${company.company_id}/wp-plugins`);
    expect(ofCompany.body.company.plugins.checks).toEqual(failedChecks);
    await noteSourceCheck(database, null);
    await activateReading(database, { reading: 7, mark: null, records: 1, skipped: 0 });
    const now = { checked_at: expect.stringMatching(/^20\d\d-/), problem: null };
    expect(await checksOf(id)).toEqual({ updates: now, vulnerabilities: now });
  });

  it("names the missing setting", async () => {
    const server = without.current;
    const { id } = await server.addSiteWithEnvironment();
    const { body } = await server.call("GET", `/v2/sites/environments/${id}/wp-themes`);
    const { updates, vulnerabilities } = body.environment.themes.checks;
    expect([updates.problem, vulnerabilities.problem]).toEqual([
      expect.stringContaining("SITEWRIGHT_WPORG_URL"),
      expect.stringContaining("SITEWRIGHT_ADVISORIES"),
    ]);
  });
});

describe("the lists in their old format", () => {
  it("have the main fields, and a link to the successor", async () => {
    const { id } = await environment([{ name: "a" }, { name: "t", kind: "theme" }]);
    for (const [what, field, slug] of [
      ["plugins", "wp_plugins", "a"],
      ["themes", "wp_themes", "t"],
    ] as const) {
      const { body, headers } = await test.current.call("GET", `/v2/sites/environments/${id}/${what}`);
      expect(body.environment.id).toBe(id);
      expect(body.environment.container_info[field].data).toEqual([
        {
          name: slug,
          title: `The ${slug}`,
          status: "active",
          version: "1.0",
          update: "none",
          update_version: null,
          update_status: null,
        },
      ]);
      expect(headers.deprecation).toBe("true");
      expect(headers.link).toBe(`</v2/sites/environments/${id}/wp-${what}>; rel="successor-version"`);
    }
  });
});

describe("GET /company/{id}/wp-plugins", () => {
  let one: { id: string; siteId: string };
  let other: { id: string; siteId: string };
  let key: string;
  let path: string;

  beforeAll(async () => {
    const { addKey, company, database, otherCompany } = test.current;
    one = await environment([
      { name: "zz-both", version: "1.9" },
      { name: "zz-one", title: "A Needle", is_active: false },
      { name: "zz-look", kind: "theme" },
    ]);
    other = await environment([{ name: "zz-both", version: "1.10", is_active: false, title: "The newer" }]);
    await setUpdate(database, one.id, "zz-both", "2.0");
    await environment([{ name: "zz-foreign" }], otherCompany.api_key);
    key = (await addKey({ scopes: [`site:${one.siteId}`, `site:${other.siteId}`] })).token;
    path = `/v2/company/${company.company_id}`;
  });

  async function list(query: string, what = "plugins", withKey = key) {
    const { body } = await test.current.call("GET", `${path}/wp-${what}${query}`, { key: withKey });
    return body.company[what];
  }

  it("lists each plugin once, with the environments that have it", async () => {
    const { items, total } = await list("");
    expect(total).toBe(2);
    expect(slugs(items)).toEqual(["zz-both", "zz-one"]);
    expect(items[0]).toMatchObject({
      title: "The newer",
      latest_version: "1.10",
      is_latest_version_vulnerable: false,
      environment_count: 2,
      update_count: 1,
    });
    expect(items[0].environments.find(({ id }: { id: string }) => id === one.id)).toEqual({
      id: one.id,
      site_id: one.siteId,
      site_display_name: expect.stringMatching(/^Site /),
      display_name: expect.any(String),
      plugin_status: "active",
      plugin_update: "available",
      plugin_version: "1.9",
      is_plugin_version_vulnerable: false,
      plugin_update_version: "2.0",
      is_plugin_update_version_vulnerable: false,
      plugin_update_status: null,
      auto_update_type: "disabled",
    });
  });

  it("is serialised exactly like its body", () => {
    const newest = { ...entry, title: 'Quoted "A"', description: "\u2028 ünï" };
    const environment = { id: "i", site_id: "s", site_display_name: 'S"', display_name: "D" };
    const item = {
      name: "a",
      searched: [],
      newest,
      update_count: 0,
      latest_version: "2",
      is_latest_version_vulnerable: true,
    };
    // All differ from each other, except that the last equals the first.
    const others = [
      { ...entry, version: "1.8" },
      { ...entry, update_version: null },
      { ...entry, update_version: '2.1"' },
      { ...entry, update_status: "updating" as const },
      ...(["is_active", "is_vulnerable", "is_update_vulnerable", "is_managed", "is_auto_updated"] as const).map(
        (flag) => ({ ...entry, [flag]: !entry[flag] }),
      ),
      { ...entry },
    ];
    const unchecked = { checked_at: null, problem: null };
    const page = (holders: readonly object[]) => ({
      total: 2,
      last_updated_at: "2026-11-23T08:00:00.000Z",
      checks: { updates: unchecked, vulnerabilities: unchecked },
      // New holders each time, because serialised lists are cached for one kind of package.
      items: holders.map(() => ({
        ...item,
        holders: [entry, ...others].map((one) => ({ environment, entry: one })),
      })),
    });
    function check<Fields extends object>(named: (facts: PackageFacts) => Fields, of: ReturnType<typeof page>): void {
      for (let round = 0; round < 2; round += 1) {
        expect(Buffer.concat(write(of, "plugins", named)).toString()).toBe(
          JSON.stringify({ company: { plugins: bodyOf(of, named) } }),
        );
      }
    }
    for (const holders of [[], [{}], [{}, {}]]) {
      check(asPlugin, page(holders));
      check(asTheme, page(holders));
    }
  });

  it("exists for themes too", async () => {
    const { items, total } = await list("", "themes");
    expect(total).toBe(1);
    expect(items).toMatchObject([{ name: "zz-look", environments: [{ id: one.id, theme_version: "1.0" }] }]);
  });

  it.each([
    ["?search=NEEDLE", ["zz-one"]],
    ["?search=-both", ["zz-both"]],
    ["?search=%25", []],
    ["?status=inactive", ["zz-both", "zz-one"]],
    ["?status=active", ["zz-both"]],
    ["?column=updatesAvailable", ["zz-both"]],
    ["?column=vulnerable", []],
    ["?order_by[field]=name&order_by[order]=descend", ["zz-one", "zz-both"]],
    [`?order_by=${encodeURIComponent('{"field":"environments","order":"descend"}')}`, ["zz-both", "zz-one"]],
    ["?order_by[field]=environments", ["zz-one", "zz-both"]],
    ["?order_by[field]=updates&order_by[order]=descend", ["zz-both", "zz-one"]],
  ])("answers %s", async (query, expected) => {
    const { items, total } = await list(query);
    expect(slugs(items)).toEqual(expected);
    expect(total).toBe(expected.length);
  });

  it("has the total number of matches on every page", async () => {
    expect(await list("?limit=1")).toMatchObject({ total: 2, items: [{ name: "zz-both" }] });
    expect(await list("?limit=1&offset=1")).toMatchObject({ total: 2, items: [{ name: "zz-one" }] });
    expect(await list("?limit=0")).toMatchObject({ total: 2, items: [] });
    expect(await list("?offset=9")).toMatchObject({ total: 2, items: [] });
  });

  it("accepts all parameters in a body", async () => {
    const body = { search: "zz-", order_by: { field: "name", order: "descend" }, limit: 1 };
    const answer = await test.current.call("GET", `${path}/wp-plugins`, { key, body });
    expect(slugs(answer.body.company.plugins.items)).toEqual(["zz-one"]);
    const themes = await test.current.call("GET", `${path}/wp-themes`, { key, body: { status: "inactive" } });
    expect(themes.body.company.themes).toMatchObject({ total: 0, items: [] });
    const both = await test.current.call("GET", `${path}/wp-themes?status=active`, {
      key,
      body: { status: "inactive" },
    });
    expect(slugs(both.body.company.themes.items)).toEqual(["zz-look"]);
  });

  it.each(["order_by=name", "order_by[field]=title", "order_by[order]=ascend", "limit=-1", "status=x", "column=name"])(
    "refuses %s",
    async (query) => {
      const { status } = await test.current.call("GET", `${path}/wp-plugins?${query}`, { key });
      expect(status).toBe(400);
    },
  );

  it("omits other companies' packages, and sites outside the key's scope", async () => {
    const all = await list("?search=zz-", "plugins", test.current.company.api_key);
    expect(slugs(all.items)).not.toContain("zz-foreign");
    const narrow = (await test.current.addKey({ scopes: [`site:${other.siteId}`] })).token;
    const { items } = await list("", "plugins", narrow);
    expect(items).toMatchObject([{ name: "zz-both", environment_count: 1, environments: [{ id: other.id }] }]);
  });

  it("has the earliest time at which one of its environments was read", async () => {
    const readAt = new Date(Date.now() - 3_600_000);
    const { database } = test.current;
    await database.updateTable("environments").set({ packages_read_at: readAt }).where("id", "=", one.id).execute();
    expect((await list("")).last_updated_at).toBe(readAt.toISOString());
  });
});
