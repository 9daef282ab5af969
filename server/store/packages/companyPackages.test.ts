/** The cache of a company's packages is always up to date, whichever process writes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { putPackages } from "../../testing/packages.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { type CompanyPackageLists, makeCompanyPackageLists } from "./companyPackages.ts";
import type { CompanyPackagesQuery } from "./knownPackages.ts";

let own: TestDatabase;
let lists: CompanyPackageLists;

beforeAll(async () => {
  own = await createTestDatabase();
  lists = makeCompanyPackageLists(own.pool);
});
afterAll(() => own.drop());

/** Adds a site with one environment, by default of a new company. */
async function site(company?: string) {
  const companyId = company ?? (await addCompany(own.database)).companyId;
  const { id: siteId, environmentId } = await addSite(own.database, companyId);
  return { companyId, siteId, environmentId };
}

/** Returns the holders of each package by name. */
async function groupsOf(companyId: string, more: Partial<CompanyPackagesQuery> = {}) {
  const all = { siteIds: null, search: null, status: null, column: null, limit: null, offset: 0 } as const;
  const query = { companyId, kind: "plugin", field: "name", order: "ascend", ...all, ...more } as const;
  const { items } = await lists.list(query);
  return Object.fromEntries(items.map(({ name, holders }) => [name, holders]));
}

async function versionsOf(companyId: string, more: Partial<CompanyPackagesQuery> = {}) {
  const groups = Object.entries(await groupsOf(companyId, more));
  return Object.fromEntries(groups.map(([name, holders]) => [name, holders.map(({ entry }) => entry.version)]));
}

test("every change shows at once, whichever statement made it", async () => {
  const { companyId, environmentId } = await site();
  const other = await site(companyId);
  expect(await versionsOf(companyId)).toEqual({});
  await putPackages(own.database, environmentId, [{ name: "a" }, { name: "b" }]);
  await putPackages(own.database, other.environmentId, [{ name: "a", version: "2.0" }]);
  expect(await versionsOf(companyId)).toEqual({ a: ["1.0", "2.0"], b: ["1.0"] });
  expect(await versionsOf(companyId, { siteIds: [other.siteId] })).toEqual({ a: ["2.0"] });
  await own.database.updateTable("packages").set({ version: "3.0" }).where("name", "=", "a").execute();
  expect(await versionsOf(companyId)).toEqual({ a: ["3.0", "3.0"], b: ["1.0"] });
  await own.database.deleteFrom("packages").where("name", "=", "b").execute();
  expect(await versionsOf(companyId)).toEqual({ a: ["3.0", "3.0"] });
  await own.database.deleteFrom("environments").where("id", "=", other.environmentId).execute();
  expect(await versionsOf(companyId)).toEqual({ a: ["3.0"] });
});

test("names are current", async () => {
  const { companyId, environmentId } = await site();
  await putPackages(own.database, environmentId, [{ name: "a" }]);
  await versionsOf(companyId);
  await own.database
    .updateTable("environments")
    .set({ display_name: "Renamed" })
    .where("id", "=", environmentId)
    .execute();
  const query = { companyId, kind: "plugin", field: "name", order: "ascend", siteIds: null, search: null } as const;
  const { items } = await lists.list({ ...query, status: null, column: null, limit: null, offset: 0 });
  expect(items[0]?.holders[0]?.environment.display_name).toBe("Renamed");
});

test("an update in one environment rebuilds only the group of that package", async () => {
  const { companyId, environmentId } = await site();
  const other = await site(companyId);
  for (const id of [environmentId, other.environmentId]) {
    await putPackages(own.database, id, [{ name: "a" }, { name: "b" }]);
  }
  const before = await groupsOf(companyId);
  expect(await groupsOf(companyId)).toEqual(before);
  const packages = own.database.updateTable("packages").where("environment_id", "=", other.environmentId);
  await packages.where("name", "=", "b").set({ version: "2.0" }).execute();
  const after = await groupsOf(companyId);
  expect(after.a).toBe(before.a);
  expect(after.b).not.toBe(before.b);
  expect(after.b?.map(({ entry }) => entry.version)).toEqual(["1.0", "2.0"]);
  const environments = own.database.updateTable("environments").where("id", "=", environmentId);
  await environments.set({ display_name: "Renamed" }).execute();
  const renamed = await groupsOf(companyId);
  expect(renamed.a?.map(({ environment }) => environment.display_name)).toEqual(["Renamed", "Live"]);
});

test("packages of an environment are not read again while its version is unchanged", async () => {
  const { companyId, environmentId } = await site();
  await putPackages(own.database, environmentId, [{ name: "a" }]);
  await versionsOf(companyId);
  // Write without changing the version.
  await own.pool.query("alter table packages disable trigger user");
  await own.database
    .updateTable("packages")
    .set({ version: "9.0" })
    .where("environment_id", "=", environmentId)
    .execute();
  await own.pool.query("alter table packages enable trigger user");
  expect(await versionsOf(companyId)).toEqual({ a: ["1.0"] });
  await putPackages(own.database, environmentId, [{ name: "a", version: "2.0" }]);
  expect(await versionsOf(companyId)).toEqual({ a: ["2.0"] });
});
