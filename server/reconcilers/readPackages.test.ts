import type { EnvironmentRef, InstalledPackage, InstalledPackages } from "@sitewright/runtimes/runtime.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { packagesOf } from "../store/packages/packages.ts";
import { addCompany, addEndedOperation, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { makeReadPackages, readDuePackages, readNewPackages } from "./readPackages.ts";

const world = useTestDatabase();
const { signal } = new AbortController();
let companyId: string;
let environmentId: string;
let read: string[];
let found: InstalledPackages | null;
let unchanged: string[];

const installed: InstalledPackage = {
  kind: "plugin",
  name: "shop",
  file: "shop/shop.php",
  title: "Shop",
  description: "",
  version: "1.10",
  updateUri: null,
  isActive: true,
  isAutoUpdated: false,
};

const options = () => ({
  database: world.database,
  runtime: {
    packages: async (environments: readonly EnvironmentRef[]) => {
      read.push(...environments.map(({ id }) => id));
      return new Map(
        found === null ? [] : environments.map(({ id }) => [id, found ?? { packages: [], problem: null }]),
      );
    },
    unchangedPackages: async () => new Set(unchanged),
  },
});
const run = () => readDuePackages(options(), signal);

async function set(values: Readonly<Record<string, Date | string | boolean | null | undefined>>): Promise<void> {
  await world.database.updateTable("environments").set(values).where("id", "=", environmentId).execute();
}

const shown = async () => (await packagesOf(world.database, environmentId, "plugin"))?.packages ?? [];
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

beforeEach(async () => {
  await world.database.deleteFrom("sites").execute();
  ({ companyId } = await addCompany(world.database));
  ({ environmentId } = await addSite(world.database, companyId));
  await set({ wordpress_version: "7.1.1" });
  read = [];
  unchanged = [];
  found = { packages: [installed], problem: null };
});

describe("an environment", () => {
  test("is read again only after something has changed", async () => {
    await run();
    await run();
    expect(read).toEqual([environmentId]);
    expect(await shown()).toMatchObject([{ name: "shop", title: "Shop", version: "1.10", is_active: true }]);
  });

  test.each([
    {
      what: "PHP has written since the last reading",
      values: { packages_read_at: ago(400), written_at: ago(30) },
      times: 1,
    },
    {
      what: "PHP has written, but the last reading is recent",
      values: { packages_read_at: ago(200), written_at: ago(1) },
      times: 0,
    },
    { what: "the last reading is old", values: { packages_read_at: ago(4_000) }, times: 1 },
    { what: "the last reading is in the future", values: { packages_read_at: ago(-500) }, times: 1 },
    { what: "there is no WordPress", values: { wordpress_version: null }, times: 0 },
    { what: "it awaits its rebuild", values: { awaits_rebuild: true }, times: 0 },
  ])("is read $times times if $what", async ({ values, times }) => {
    await set(values);
    await run();
    expect(read).toHaveLength(times);
  });

  test("that was read long ago and has not changed since is not read again", async () => {
    await run();
    unchanged = [environmentId];
    await set({ packages_read_at: ago(4_000) });
    await run();
    expect(read).toHaveLength(1);
    unchanged = [];
    await run();
    expect(read).toHaveLength(1);
  });

  test.each([
    ["PHP has written to it", { written_at: ago(3_500) }],
    ["its last reading was incomplete", { packages_problem: "Reading failed." }],
    ["its last reading is in the future", { packages_read_at: ago(-500) }],
  ])("is read even if its files look unchanged, because %s", async (_, values) => {
    await run();
    unchanged = [environmentId];
    await set({ packages_read_at: ago(4_000), ...values });
    await run();
    expect(read).toHaveLength(2);
  });

  test("that can't be read is read in the next run", async () => {
    found = null;
    await run();
    found = { packages: [installed], problem: null };
    await run();
    expect(read).toHaveLength(2);
    expect(await shown()).toHaveLength(1);
  });

  test("that was removed while it was being read does no harm", async () => {
    await makeReadPackages(options())([{ id: "6ad1c7a2-40f5-4b0a-9a55-d4c7c2f0b111", number: 9 }], signal);
    expect(await shown()).toEqual([]);
  });
});

describe("someone who waits gets soon", () => {
  const runNew = () => readNewPackages(options(), signal);

  test("the packages of a new environment, once", async () => {
    await runNew();
    await runNew();
    expect(read).toEqual([environmentId]);
  });

  test("the packages of an environment after an operation", async () => {
    await runNew();
    await set({ packages_read_at: ago(400) });
    await addEndedOperation(world.database, { companyId, environmentId });
    await runNew();
    await runNew();
    expect(read).toHaveLength(2);
  });

  test("nothing after a backup", async () => {
    await runNew();
    await set({ packages_read_at: ago(400) });
    await addEndedOperation(world.database, { companyId, environmentId, kind: "addManualBackup" });
    await runNew();
    expect(read).toHaveLength(1);
  });

  test("nothing else", async () => {
    await runNew();
    await set({ packages_read_at: ago(4_000), written_at: ago(30) });
    await runNew();
    expect(read).toHaveLength(1);
  });
});

test("removed packages are forgotten, but the results of updates are kept", async () => {
  await run();
  await world.database.updateTable("packages").set({ update_status: "updated" }).execute();
  found = {
    packages: [
      { ...installed, version: "1.11" },
      { ...installed, name: "new" },
    ],
    problem: null,
  };
  await set({ packages_read_at: ago(4_000) });
  await run();
  expect(await shown()).toMatchObject([
    { name: "new", update_status: null },
    { name: "shop", version: "1.11", update_status: "updated" },
  ]);
  found = { packages: [], problem: null };
  await set({ packages_read_at: ago(4_000) });
  await run();
  expect(await shown()).toEqual([]);
});

test("the result of an older reading is ignored", async () => {
  await run();
  found = { packages: [], problem: null };
  await set({ packages_read_at: new Date(Date.now() + 60_000) });
  await makeReadPackages(options())([{ id: environmentId, number: 1 }], signal);
  expect(await shown()).toHaveLength(1);
});

test.each([
  [null, false],
  ["https://wordpress.org/plugins/shop/", false],
  ["w.org/plugin/shop", false],
  ["https://example.com/shop", true],
  ["false", true],
  ["https://wordpress.org.example/", true],
  ["::", true],
])("a package with the update URI %s is updated from elsewhere: %s", async (updateUri, isElsewhere) => {
  found = { packages: [{ ...installed, updateUri }], problem: null };
  await run();
  const { is_elsewhere } = await world.database.selectFrom("packages").selectAll().executeTakeFirstOrThrow();
  expect(is_elsewhere).toBe(isElsewhere);
});
