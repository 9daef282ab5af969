import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { insertPrimaryDomain } from "../domains/domains.ts";
import type { Window } from "../pages.ts";
import { addCompany, addSite, siteOf } from "../testing/rows.ts";
import {
  findSitePlace,
  findTakenNames,
  insertSite,
  isDisplayNameTaken,
  knownSiteIds,
  type ListedSite,
  listSites,
  makeSiteRead,
  removeSite,
  type SiteFilter,
  type SitePlace,
  siteForOperation,
} from "./sites.ts";

const test = useTestDatabase();

function filterOf(companyId: string, more: Partial<SiteFilter> = {}): SiteFilter {
  return { companyId, search: null, labelId: null, siteIds: null, withEnvironments: true, ...more };
}

const all: Window<SitePlace> = { after: null, limit: null, offset: 0 };

async function firstPage(filter: SiteFilter, window = all): Promise<readonly ListedSite[]> {
  const { items } = await listSites(test.pool, filter, window)();
  return items;
}

describe("inserting a site", () => {
  it("reserves its name in the installation, and its display name in the company, ignoring case", async () => {
    const { companyId } = await addCompany(test.database);
    const other = await addCompany(test.database);
    const first = siteOf(companyId, { displayName: "Same" });
    await test.database.transaction().execute(async (transaction) => {
      expect(await insertSite(transaction, first)).toBe(true);
      expect(await insertSite(transaction, siteOf(other.companyId, { name: first.name }))).toBe(false);
      expect(await insertSite(transaction, siteOf(companyId, { displayName: "sAME" }))).toBe(false);
      expect(await insertSite(transaction, siteOf(other.companyId, { displayName: "Same" }))).toBe(true);
      expect(await isDisplayNameTaken(transaction, companyId, "SAME")).toBe(true);
      expect(await isDisplayNameTaken(transaction, companyId, "Sam")).toBe(false);
    });
  });

  it.each([
    ["commits", false],
    ["rolls back", true],
  ])("waits for another transaction that inserts the name, until it %s", async (_, isFree) => {
    const { companyId } = await addCompany(test.database);
    const site = siteOf(companyId);
    const taken = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const first = test.database
      .transaction()
      .execute(async (transaction) => {
        await insertSite(transaction, site);
        taken.resolve();
        await end.promise;
        if (isFree) throw new Error("rolled back");
      })
      .catch(() => undefined);
    await taken.promise;
    const second = test.database
      .transaction()
      .execute((transaction) => insertSite(transaction, siteOf(companyId, { name: site.name })));
    end.resolve();
    await first;
    expect(await second).toBe(isFree);
  });

  it("can be undone: afterwards its name and domain are free", async () => {
    const { companyId } = await addCompany(test.database);
    const site = await addSite(test.database, companyId);
    await test.database.transaction().execute(async (transaction) => {
      expect(await findTakenNames(transaction, [site.name], "localhost")).toEqual(new Set([site.name]));
      await removeSite(transaction, site.id);
      expect(await findTakenNames(transaction, [site.name], "localhost")).toEqual(new Set());
    });
  });
});

describe("taken names", () => {
  it("are names of sites and names with an address in use", async () => {
    const { companyId } = await addCompany(test.database);
    const site = await addSite(test.database, companyId);
    const custom = `c-${randomUUID().slice(0, 8)}`;
    await test.database
      .updateTable("domains")
      .set({ name: `${custom}.localhost` })
      .where("site_id", "=", site.id)
      .execute();
    await test.database.transaction().execute(async (transaction) => {
      const names = [site.name, custom, "free-name"];
      expect(await findTakenNames(transaction, names, "localhost")).toEqual(new Set([site.name, custom]));
      expect(await findTakenNames(transaction, names, "example.com")).toEqual(new Set([site.name]));
    });
  });

  it("include domains of other sites", async () => {
    const { companyId } = await addCompany(test.database);
    const one = await addSite(test.database, companyId);
    const isInserted = await test.database.transaction().execute((transaction) =>
      insertPrimaryDomain(transaction, {
        id: randomUUID(),
        environmentId: one.environmentId,
        siteId: one.id,
        companyId,
        name: `${one.name}.localhost`,
        isWildcard: false,
      }),
    );
    expect(isInserted).toBe(false);
  });
});

describe("reading a site", () => {
  it("returns its environments with their domains, the primary one first", async () => {
    const { companyId } = await addCompany(test.database);
    const site = await addSite(test.database, companyId);
    const second = { environment_id: site.environmentId, site_id: site.id, company_id: companyId };
    const early = new Date(0);
    await test.database
      .insertInto("domains")
      .values({ id: randomUUID(), ...second, name: `www-${site.name}.example`, setup_type: "quick", created_at: early })
      .execute();
    const read = await makeSiteRead(test.pool)(site.id);
    expect(read).toMatchObject({ id: site.id, company_id: companyId, name: site.name });
    const [environment] = read?.environments ?? [];
    expect(environment?.domains.map(({ name, is_primary }) => [name, is_primary])).toEqual([
      [`${site.name}.localhost`, true],
      [`www-${site.name}.example`, false],
    ]);
    expect(environment).toMatchObject({ number: expect.any(Number), is_blocked: false, php_version: "8.3" });
  });

  it("ignores sites and environments that are being added", async () => {
    const { companyId } = await addCompany(test.database);
    const site = await addSite(test.database, companyId);
    await test.database.updateTable("environments").set({ state: "adding" }).where("site_id", "=", site.id).execute();
    expect((await makeSiteRead(test.pool)(site.id))?.environments).toEqual([]);
    await test.database.updateTable("sites").set({ state: "adding" }).where("id", "=", site.id).execute();
    expect(await makeSiteRead(test.pool)(site.id)).toBeNull();
    expect(await firstPage(filterOf(companyId))).toEqual([]);
    const seen = await test.database.transaction().execute((transaction) => siteForOperation(transaction, site.id));
    expect(seen).toBeNull();
  });

  it("returns a site that is being deleted, with every environment for the operation", async () => {
    const { companyId } = await addCompany(test.database);
    const site = await addSite(test.database, companyId);
    await test.database.updateTable("sites").set({ state: "deleting" }).where("id", "=", site.id).execute();
    expect((await makeSiteRead(test.pool)(site.id))?.id).toBe(site.id);
    const seen = await test.database.transaction().execute((transaction) => siteForOperation(transaction, site.id));
    const host = `${site.name}.localhost`;
    expect(seen?.environments).toEqual([
      { id: site.environmentId, number: expect.any(Number), name: "live", host, is_https: false },
    ]);
  });
});

describe("listing sites", () => {
  it("filters by literal text and by ids, and pages", async () => {
    const { companyId } = await addCompany(test.database);
    const percent = await addSite(test.database, companyId, { displayName: "100% wool" });
    const under = await addSite(test.database, companyId, { displayName: "snake_case" });
    const ids = async (more: Partial<SiteFilter>, window?: Window<SitePlace>) =>
      (await firstPage(filterOf(companyId, more), window)).map(({ id }) => id);
    expect(await ids({})).toEqual([percent.id, under.id]);
    expect(await ids({ search: "%" })).toEqual([percent.id]);
    expect(await ids({ search: "_" })).toEqual([under.id]);
    expect(await ids({ search: "WOOL" })).toEqual([percent.id]);
    expect(await ids({ search: under.name })).toEqual([under.id]);
    expect(await ids({ siteIds: [under.id] })).toEqual([under.id]);
    expect(await ids({ siteIds: [] })).toEqual([]);
    expect(await ids({}, { after: null, limit: 1, offset: 1 })).toEqual([under.id]);
    const after = await findSitePlace(test.pool, filterOf(companyId), percent.id);
    expect(await ids({}, { ...all, after })).toEqual([under.id]);
  });

  it("reads no environments by default", async () => {
    const { companyId } = await addCompany(test.database);
    await addSite(test.database, companyId);
    const [without] = await firstPage(filterOf(companyId, { withEnvironments: false }));
    const [together] = await firstPage(filterOf(companyId));
    expect(without?.environments).toBeNull();
    expect(together?.environments).toHaveLength(1);
  });

  it("finds the place of a site only in lists that have it", async () => {
    const { companyId } = await addCompany(test.database);
    const { id } = await addSite(test.database, companyId);
    const other = await addCompany(test.database);
    expect(await findSitePlace(test.pool, filterOf(companyId), id)).toMatchObject({ id });
    expect(await findSitePlace(test.pool, filterOf(companyId, { siteIds: [randomUUID()] }), id)).toBeNull();
    expect(await findSitePlace(test.pool, filterOf(other.companyId), id)).toBeNull();
    await test.database.updateTable("sites").set({ state: "adding" }).where("id", "=", id).execute();
    expect(await findSitePlace(test.pool, filterOf(companyId), id)).toBeNull();
  });

  it("tells which ids belong to the company", async () => {
    const { companyId } = await addCompany(test.database);
    const other = await addCompany(test.database);
    const ownSite = await addSite(test.database, companyId);
    const foreignSite = await addSite(test.database, other.companyId);
    const known = await knownSiteIds(test.database, companyId, [ownSite.id, foreignSite.id, randomUUID()]);
    expect(known).toEqual(new Set([ownSite.id]));
  });
});
