import type { PackageKind } from "@sitewright/runtimes/runtime.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { applyOffers } from "../packages/applyOffers.ts";
import type { Offer } from "../packages/source.ts";
import { lastChecks } from "../store/packages/packageChecks.ts";
import { removeUnusedOffers } from "../store/packages/packageOffers.ts";
import { packagesOf } from "../store/packages/packages.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { putPackages, type TestPackage } from "../testing/packages.ts";
import { checkForUpdates } from "./checkForUpdates.ts";

const world = useTestDatabase();
const { signal } = new AbortController();
let companyId: string;
let asked: string[][];
let offers: Map<string, Offer>;

beforeEach(async () => {
  await world.database.deleteFrom("sites").execute();
  await world.database.deleteFrom("package_offers").execute();
  ({ companyId } = await addCompany(world.database));
  asked = [];
  offers = new Map();
});

const source = {
  newest: async (kind: PackageKind, files: readonly string[]) => {
    asked.push([kind, ...files]);
    return offers;
  },
};
const run = () => checkForUpdates({ database: world.database, source }, signal);

async function environment(wishes: readonly TestPackage[]): Promise<string> {
  const { environmentId } = await addSite(world.database, companyId);
  const versions = { wordpress_version: "7.1.1", php_version: "8.3" };
  await world.database.updateTable("environments").set(versions).where("id", "=", environmentId).execute();
  await putPackages(world.database, environmentId, wishes);
  return environmentId;
}

async function updateOf(environmentId: string, name = "shop", kind: PackageKind = "plugin") {
  const found = await packagesOf(world.database, environmentId, kind);
  return found?.packages.find((one) => one.name === name)?.update_version;
}

const offer = (version: string, more: Partial<Offer> = {}): Offer => ({
  slug: "shop",
  version,
  php: null,
  wordpress: null,
  ...more,
});

test("each package is asked about once, in requests of a hundred, and again only hours later", async () => {
  const many = Array.from({ length: 150 }, (_, at) => ({ name: `p${at}` }));
  await environment([...many, { name: "leaf", kind: "theme" }]);
  await environment([...many, { name: "own", is_elsewhere: true }]);
  await run();
  await run();
  expect(asked.map(([kind, ...files]) => [kind, files.length])).toEqual([
    ["plugin", 100],
    ["plugin", 50],
    ["theme", 1],
  ]);
  expect(asked.flat()).not.toContain("own/own.php");
  await world.database
    .updateTable("package_offers")
    .set({ checked_at: new Date(Date.now() - 4 * 3_600_000) })
    .execute();
  await run();
  expect(asked).toHaveLength(6);
});

describe("the available update", () => {
  test.each([
    ["1.9", offer("1.10"), "1.10"],
    ["1.10", offer("1.10"), null],
    ["1.10", offer("1.9"), null],
    ["1.10", undefined, null],
    ["", offer("0.1"), "0.1"],
    ["1.0-beta", offer("1.0"), "1.0"],
    ["1.0", offer("2.0", { php: "8.3" }), "2.0"],
    ["1.0", offer("2.0", { php: "8.3.10" }), "2.0"],
    ["1.0", offer("2.0", { php: "8.4" }), null],
    ["1.0", offer("2.0", { wordpress: "7.1" }), "2.0"],
    ["1.0", offer("2.0", { wordpress: "7.2" }), null],
  ])("of version %j with the offer %o is %s", async (version, found, expected) => {
    if (found !== undefined) offers.set("shop/shop.php", found);
    const id = await environment([{ name: "shop", version }]);
    await run();
    expect(await updateOf(id)).toBe(expected);
  });

  test("is null for a package with another update source, even if the directory has one of the same name", async () => {
    offers.set("shop/shop.php", offer("9.0"));
    const own = await environment([{ name: "shop", is_elsewhere: true }]);
    const usual = await environment([{ name: "shop" }]);
    await run();
    expect([await updateOf(own), await updateOf(usual)]).toEqual([null, "9.0"]);
  });

  test("of a theme is not offered to a plugin of the same name", async () => {
    offers.set("leaf", offer("9.0", { slug: "leaf" }));
    const id = await environment([
      { name: "leaf", kind: "theme" },
      { name: "leaf", file: "leaf.php" },
    ]);
    await run();
    expect(await updateOf(id, "leaf", "theme")).toBe("9.0");
    expect(await updateOf(id, "leaf", "plugin")).toBeNull();
  });

  test("follows the installed version without asking the source again", async () => {
    offers.set("shop/shop.php", offer("2.0"));
    const id = await environment([{ name: "shop", version: "1.0" }]);
    await run();
    await putPackages(world.database, id, [{ name: "shop", version: "2.0" }]);
    await applyOffers(world.database, [id]);
    expect(await updateOf(id)).toBeNull();
    await putPackages(world.database, id, [{ name: "shop", version: "1.5" }]);
    await applyOffers(world.database, [id]);
    expect(await updateOf(id)).toBe("2.0");
    expect(asked).toHaveLength(1);
  });
});

test("the outcome of each check is recorded, and a failure leaves the time of the last success", async () => {
  await environment([{ name: "form" }]);
  await run();
  const { checkedAt } = (await lastChecks(world.database)).updates;
  expect(checkedAt).toBeInstanceOf(Date);
  await environment([{ name: "shop" }]);
  const away = { newest: () => Promise.reject(new Error("The source is away.")) };
  await expect(checkForUpdates({ database: world.database, source: away }, signal)).rejects.toThrow("away");
  expect((await lastChecks(world.database)).updates).toEqual({ checkedAt, problem: "The source is away." });
  await run();
  expect((await lastChecks(world.database)).updates.problem).toBeNull();
});

test("no check is recorded if nothing is due, but the problem of an earlier check is cleared", async () => {
  await world.database.deleteFrom("package_source").execute();
  await run();
  expect((await lastChecks(world.database)).updates).toEqual({ checkedAt: null, problem: null });
  await environment([{ name: "shop" }]);
  const away = { newest: () => Promise.reject(new Error("The source is away.")) };
  await expect(checkForUpdates({ database: world.database, source: away }, signal)).rejects.toThrow("away");
  await world.database.deleteFrom("sites").execute();
  await run();
  expect((await lastChecks(world.database)).updates).toEqual({ checkedAt: null, problem: null });
});

test("known updates are kept if the source fails", async () => {
  offers.set("shop/shop.php", offer("2.0"));
  const id = await environment([{ name: "shop", version: "1.0" }]);
  await run();
  await world.database
    .updateTable("package_offers")
    .set({ checked_at: new Date(0) })
    .execute();
  const broken = { newest: () => Promise.reject(new Error("away")) };
  await expect(checkForUpdates({ database: world.database, source: broken }, signal)).rejects.toThrow("away");
  expect(await updateOf(id)).toBe("2.0");
});

test("offers are kept as long as an environment has the package", async () => {
  const filesOf = async () =>
    (await world.database.selectFrom("package_offers").select("file").orderBy("file").execute()).map(
      ({ file }) => file,
    );
  const one = await environment([{ name: "shop" }, { name: "form" }]);
  await environment([{ name: "shop" }]);
  await run();
  expect(await filesOf()).toEqual(["form/form.php", "shop/shop.php"]);
  await world.database.deleteFrom("environments").where("id", "=", one).execute();
  await removeUnusedOffers(world.database);
  expect(await filesOf()).toEqual(["shop/shop.php"]);
});
