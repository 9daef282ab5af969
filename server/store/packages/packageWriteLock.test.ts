import { sql } from "kysely";
import { expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { foundPackage, putPackages } from "../../testing/packages.ts";
import { databaseNow } from "../sites/diskUse.ts";
import { removeSiteRows } from "../sites/siteStates.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { noteOffers, refreshUpdates } from "./packageOffers.ts";
import { notePackages } from "./packages.ts";
import { lockPackageWrites } from "./packageWriteLock.ts";

const own = useTestDatabase();

async function countWaiting(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(own.database);
  return rows.length;
}

test("deleting a site and refreshing updates everywhere do not deadlock", async () => {
  const { database } = own;
  const { companyId } = await addCompany(database);
  const { id: siteId, environmentId } = await addSite(database, companyId);
  await putPackages(database, environmentId, [{ name: "shop" }]);
  const none = { slug: "shop", php_key: null, wordpress_key: null };
  await noteOffers(database, "plugin", [{ ...none, file: "shop/shop.php", version: "2.0", version_key: "9" }]);
  const deleting = await database.transaction().execute(async (transaction) => {
    await lockPackageWrites(transaction);
    const removal = database.transaction().execute((other) => removeSiteRows(other, siteId));
    await expect.poll(countWaiting).toBe(1);
    // Would deadlock if the removal held a lock on these rows.
    await refreshUpdates(transaction, null, { php: {}, wordpress: {} });
    return { removal };
  });
  await deleting.removal;
  expect(await database.selectFrom("packages").select("name").execute()).toEqual([]);
});

test("refreshing updates everywhere and storing an environment's packages do not deadlock", async () => {
  const { database } = own;
  const { companyId } = await addCompany(database);
  const ids: string[] = [];
  for (const name of ["first", "second"]) {
    const { environmentId } = await addSite(database, companyId, { name });
    await putPackages(database, environmentId, [{ name: "gone" }, { name: "shop" }]);
    ids.push(environmentId);
  }
  const [first = "", second = ""] = ids;
  const none = { slug: "shop", php_key: null, wordpress_key: null };
  await noteOffers(database, "plugin", [{ ...none, file: "shop/shop.php", version: "2.0", version_key: "9" }]);
  const writing = await database.transaction().execute(async (transaction) => {
    // Block `refreshUpdates` at the second environment while the first one's packages are stored.
    const row = transaction.selectFrom("packages").select("name").where("environment_id", "=", second);
    await row.where("name", "=", "shop").forUpdate().execute();
    const offers = refreshUpdates(database, null, { php: {}, wordpress: {} });
    await expect.poll(countWaiting).toBe(1);
    const packages = [foundPackage({ name: "shop", title: "Another" })];
    const reading = notePackages(database, first, { packages, problem: null, readAt: await databaseNow(database) });
    await expect.poll(countWaiting).toBe(2);
    return { all: Promise.all([offers, reading]) };
  });
  await writing.all;
  const rows = await database.selectFrom("packages").select(["name", "title", "update_version"]).execute();
  expect(rows.toSorted((one, other) => one.title.localeCompare(other.title))).toEqual([
    { name: "shop", title: "Another", update_version: "2.0" },
    { name: "gone", title: "The gone", update_version: null },
    { name: "shop", title: "The shop", update_version: "2.0" },
  ]);
});
