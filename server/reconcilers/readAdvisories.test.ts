import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { applyOffers } from "../packages/applyOffers.ts";
import { feedOf, feedRecord, type TestRecord } from "../packages/testing/feed.ts";
import { advisoryFeed, listVulnerabilities } from "../store/packages/advisories.ts";
import { packagesOf } from "../store/packages/packages.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { putPackages, type TestPackage } from "../testing/packages.ts";
import { checkForUpdates } from "./checkForUpdates.ts";
import { readAdvisories } from "./readAdvisories.ts";

const world = useTestDatabase();
const { signal } = new AbortController();
let companyId: string;
let file: string;
let changed = 0;

beforeEach(async () => {
  const { database } = world;
  await database.deleteFrom("sites").execute();
  await database.deleteFrom("advisory_ranges").execute();
  await database.deleteFrom("package_offers").execute();
  await database
    .updateTable("advisory_feed")
    .set({ mark: null, checked_at: null, read_at: null, problem: null })
    .execute();
  ({ companyId } = await addCompany(database));
  const folder = await mkdtemp(path.join(tmpdir(), "feed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  file = path.join(folder, "feed.json");
});

async function write(text: string): Promise<void> {
  await writeFile(file, text);
  changed += 1;
  await utimes(file, changed, changed);
}
const put = (...wishes: readonly TestRecord[]) => write(feedOf(wishes.map(feedRecord)));
const run = (place = file) => readAdvisories({ database: world.database, place }, signal);

async function environment(wishes: readonly TestPackage[]): Promise<string> {
  const { environmentId } = await addSite(world.database, companyId);
  await putPackages(world.database, environmentId, wishes);
  return environmentId;
}

async function vulnerableIn(environmentId: string): Promise<readonly string[]> {
  const all = (["plugin", "theme"] as const).map(
    async (kind) => (await packagesOf(world.database, environmentId, kind))?.packages ?? [],
  );
  return (await Promise.all(all))
    .flat()
    .filter((one) => one.is_vulnerable)
    .map(({ name, version }) => `${name} ${version}`);
}

describe("an installed package is vulnerable", () => {
  test.each<[version: string, options: TestRecord, isVulnerable: boolean]>([
    ["1.9", {}, true],
    ["1.10", {}, false],
    ["0.1", {}, true],
    ["1.9", { isToIncluded: false }, false],
    ["1.8.9", { isToIncluded: false }, true],
    ["1.0", { from: "1.0" }, true],
    ["1.0", { from: "1.0", isFromIncluded: false }, false],
    ["1.0.1", { from: "1.0", isFromIncluded: false }, true],
    ["0.9", { from: "1.0" }, false],
    ["99", { to: "*" }, true],
    ["1.9", { slug: "SHOP" }, true],
    ["1.9", { type: "theme" }, false],
    ["1.9", { slug: "shop-2" }, false],
    ["1.9-beta1", { to: "1.9", isToIncluded: false }, true],
  ])("in version %s with the advisory %o: %s", async (version, options, isVulnerable) => {
    const id = await environment([{ name: "shop", version }]);
    await put(options);
    await run();
    expect(await vulnerableIn(id)).toEqual(isVulnerable ? [`shop ${version}`] : []);
  });

  test("also if it was installed, or changed, after the feed was read", async () => {
    await put({});
    await run();
    const id = await environment([{ name: "shop", version: "1.0" }]);
    await applyOffers(world.database, [id]);
    expect(await vulnerableIn(id)).toEqual(["shop 1.0"]);
    await putPackages(world.database, id, [{ name: "shop", version: "2.0" }]);
    await applyOffers(world.database, [id]);
    expect(await vulnerableIn(id)).toEqual([]);
  });

  test("only until the feed no longer lists it", async () => {
    const id = await environment([{ name: "shop" }, { name: "leaf", kind: "theme" }]);
    await put({}, { slug: "leaf", type: "theme" });
    await run();
    expect(await vulnerableIn(id)).toEqual(["shop 1.0", "leaf 1.0"]);
    await put({ slug: "leaf", type: "theme" });
    await run();
    expect(await vulnerableIn(id)).toEqual(["leaf 1.0"]);
  });

  test("and so may be the version it would be updated to", async () => {
    const id = await environment([{ name: "shop" }]);
    await world.database.updateTable("environments").set({ wordpress_version: "7.1.1" }).execute();
    await put({ to: "2.0" });
    await run();
    const offers = (version: string) => ({
      newest: async () => new Map([["shop/shop.php", { slug: "shop", version, php: null, wordpress: null }]]),
    });
    for (const [version, isVulnerable] of [
      ["2.0", true],
      ["2.1", false],
    ] as const) {
      await world.database
        .updateTable("package_offers")
        .set({ checked_at: new Date(0) })
        .execute();
      await checkForUpdates({ database: world.database, source: offers(version) }, signal);
      const [one] = (await packagesOf(world.database, id, "plugin"))?.packages ?? [];
      expect(one).toMatchObject({ is_vulnerable: true, update_version: version, is_update_vulnerable: isVulnerable });
      const offer = world.database.selectFrom("package_offers").select("is_vulnerable");
      expect(await offer.executeTakeFirstOrThrow()).toEqual({ is_vulnerable: isVulnerable });
    }
  });
});

describe("a feed", () => {
  test("is read without its broken records, which are counted", async () => {
    const id = await environment([{ name: "shop" }]);
    await write(feedOf([{ id: "broken" }, feedRecord(), { ...feedRecord(), software: "none" }]));
    await run();
    expect(await vulnerableIn(id)).toEqual(["shop 1.0"]);
    expect(await advisoryFeed(world.database)).toMatchObject({ records: 1, skipped: 2, problem: null });
  });

  test.each([
    ["is truncated", () => write(feedOf([feedRecord()]).slice(0, -2)), "The feed is truncated."],
    ["is a web page", () => write("<html>"), "The feed is not a JSON object."],
    ["is missing", () => rm(file), "The feed in the file can't be read: "],
  ])("that %s leaves the current advisories in force, and the reason is stored", async (_, spoil, says) => {
    const id = await environment([{ name: "shop" }]);
    await put({});
    await run();
    await spoil();
    await expect(run()).rejects.toThrow();
    expect(await vulnerableIn(id)).toEqual(["shop 1.0"]);
    expect((await advisoryFeed(world.database)).problem).toContain(says);
    await put({ slug: "other" });
    await run();
    expect(await vulnerableIn(id)).toEqual([]);
    const rows = await world.database.selectFrom("advisory_ranges").select("slug").execute();
    expect(rows).toEqual([{ slug: "other" }]);
    expect((await advisoryFeed(world.database)).problem).toBeNull();
  });

  test("that has not changed is not read again", async () => {
    await put({});
    await run();
    const { reading } = await advisoryFeed(world.database);
    await run();
    expect((await advisoryFeed(world.database)).reading).toBe(reading);
  });

  test("at a URL is fetched every six hours", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.end(feedOf([feedRecord()]));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const id = await environment([{ name: "shop" }]);
    for (let time = 0; time < 3; time += 1) await run(`http://127.0.0.1:${port}/feed`);
    expect(asked).toBe(1);
    expect(await vulnerableIn(id)).toEqual(["shop 1.0"]);
    await world.database
      .updateTable("advisory_feed")
      .set({ checked_at: new Date(Date.now() - 7 * 3_600_000) })
      .execute();
    await run(`http://127.0.0.1:${port}/feed`);
    expect(asked).toBe(2);
  });
});

test("a company's vulnerabilities are listed with their environments, the most severe first", async () => {
  const one = await environment([{ name: "shop" }]);
  const other = await environment([
    { name: "shop", version: "1.5" },
    { name: "leaf", kind: "theme" },
  ]);
  await put({ score: 5 }, { slug: "leaf", type: "theme", score: 9.1 }, { slug: "unused" });
  await run();
  const query = { companyId, siteIds: null, limit: 10, offset: 0 };
  const { total, items } = await listVulnerabilities(world.pool, query);
  expect(total).toBe(2);
  expect(items).toMatchObject([
    { name: "leaf", kind: "theme", score: 9.1, environments: [{ id: other }] },
    {
      name: "shop",
      affected: "any – 1.9",
      patched: "2.0",
      cve: "CVE-2026-1",
      environments: [
        { id: one, version: "1.0" },
        { id: other, version: "1.5" },
      ],
    },
  ]);
  expect(await listVulnerabilities(world.pool, { ...query, limit: 1, offset: 1 })).toMatchObject({
    total: 2,
    items: [{ name: "shop" }],
  });
  const { companyId: otherCompany } = await addCompany(world.database);
  expect(await listVulnerabilities(world.pool, { ...query, companyId: otherCompany })).toEqual({ total: 0, items: [] });
});
