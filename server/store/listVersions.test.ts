import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../testing/database.ts";
import type { DatabaseTransaction } from "./database.ts";
import { insertDomain } from "./domains/domains.ts";
import { mergeListChanges, readListVersion } from "./listVersions.ts";
import { removeEnvironmentRows } from "./sites/environments.ts";
import { removeSite } from "./sites/sites.ts";
import { addCompany, addSite } from "./testing/rows.ts";

const test = useTestDatabase();

type Site = Awaited<ReturnType<typeof addSite>> & { readonly companyId: string };

async function addOwnSite(): Promise<Site> {
  const { companyId } = await addCompany(test.database);
  return { ...(await addSite(test.database, companyId)), companyId };
}

const inTransaction = (work: (transaction: DatabaseTransaction) => Promise<unknown>) =>
  test.database.transaction().execute(work);

const lock = (transaction: DatabaseTransaction, { environmentId }: Site) =>
  transaction
    .insertInto("environment_locks")
    .values({ environment_id: environmentId, operation_id: "sites:lock" })
    .execute();

async function addOperation(companyId: string): Promise<void> {
  await sql`with a as (insert into activity (company_id, category, type) values (${companyId}, 'site', 'addSite') returning id)
    insert into operations (id, kind, company_id, activity_id, state, steps_total, input, reference_id)
    select 'sites:lock', 'addSite', ${companyId}, a.id, 'running', 1, '{}', gen_random_uuid() from a`.execute(
    test.database,
  );
}

describe("the version of a company's lists", () => {
  it.each<[string, (transaction: DatabaseTransaction, site: Site) => Promise<unknown>]>([
    [
      "a site is added",
      async (transaction, { companyId }) =>
        sql`insert into sites (id, company_id, name, display_name, region, state)
        values (gen_random_uuid(), ${companyId}, gen_random_uuid()::text, 'Another', 'here', 'live')`.execute(
          transaction,
        ),
    ],
    [
      "a site is renamed",
      (transaction, { id }) =>
        transaction.updateTable("sites").set({ display_name: "New" }).where("id", "=", id).execute(),
    ],
    ["a site is removed", (transaction, { id }) => removeSite(transaction, id)],
    [
      "an environment is removed",
      (transaction, { environmentId }) => removeEnvironmentRows(transaction, environmentId),
    ],
    [
      "WordPress is updated",
      (transaction, { environmentId }) =>
        transaction
          .updateTable("environments")
          .set({ wordpress_version: "9.9" })
          .where("id", "=", environmentId)
          .execute(),
    ],
    [
      "a domain is added",
      (transaction, { id, environmentId, companyId }) =>
        insertDomain(transaction, {
          id: randomUUID(),
          siteId: id,
          environmentId,
          companyId,
          name: `${randomUUID()}.example`,
          isWildcard: false,
          setupType: "quick",
        }),
    ],
    [
      "a domain is activated",
      (transaction, { id }) =>
        transaction.updateTable("domains").set({ is_active: false }).where("site_id", "=", id).execute(),
    ],
  ])("changes when %s", async (_, change) => {
    const site = await addOwnSite();
    const before = await readListVersion(test.pool, site.companyId);
    await inTransaction((transaction) => change(transaction, site));
    expect(await readListVersion(test.pool, site.companyId)).not.toBe(before);
  });

  it("changes when an operation locks an environment, and again when it releases it", async () => {
    const site = await addOwnSite();
    await addOperation(site.companyId);
    const free = await readListVersion(test.pool, site.companyId);
    await inTransaction((transaction) => lock(transaction, site));
    const locked = await readListVersion(test.pool, site.companyId);
    await inTransaction((transaction) => transaction.deleteFrom("environment_locks").execute());
    const released = await readListVersion(test.pool, site.companyId);
    expect(new Set([free, locked, released]).size).toBe(3);
  });

  it("stays the same if nothing changes that lists show, and for other companies", async () => {
    const [site, other] = [await addOwnSite(), await addOwnSite()];
    const before = await readListVersion(test.pool, site.companyId);
    await test.database
      .updateTable("environments")
      .set({ disk_bytes: 5, name: "live" })
      .where("id", "=", site.environmentId)
      .execute();
    await test.database.updateTable("sites").set({ display_name: "New" }).where("id", "=", other.id).execute();
    expect(await readListVersion(test.pool, site.companyId)).toBe(before);
  });

  it("changes when the transaction commits, and only then", async () => {
    const site = await addOwnSite();
    const before = await readListVersion(test.pool, site.companyId);
    const changed = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const writing = inTransaction(async (transaction) => {
      await removeSite(transaction, site.id);
      changed.resolve();
      await end.promise;
    });
    await changed.promise;
    expect(await readListVersion(test.pool, site.companyId)).toBe(before);
    end.resolve();
    await writing;
    expect(await readListVersion(test.pool, site.companyId)).not.toBe(before);
  });

  it("changes although an earlier change of the transaction was rolled back to a savepoint", async () => {
    const site = await addOwnSite();
    const before = await readListVersion(test.pool, site.companyId);
    await inTransaction(async (transaction) => {
      await sql`savepoint here`.execute(transaction);
      await removeSite(transaction, site.id);
      await sql`rollback to savepoint here`.execute(transaction);
      await transaction.updateTable("sites").set({ display_name: "New" }).where("id", "=", site.id).execute();
    });
    expect(await readListVersion(test.pool, site.companyId)).not.toBe(before);
  });

  it("does not come back when marks are merged, of which one remains", async () => {
    const site = await addOwnSite();
    const before = await readListVersion(test.pool, site.companyId);
    const rename = (name: string) =>
      test.database.updateTable("sites").set({ display_name: name }).where("id", "=", site.id).execute();
    for (const name of ["a", "b", "c"]) await rename(name);
    const grown = await readListVersion(test.pool, site.companyId);
    await mergeListChanges(test.database, 3);
    const marks = await test.database
      .selectFrom("list_changes")
      .selectAll()
      .where("company_id", "=", site.companyId)
      .execute();
    expect(marks).toHaveLength(1);
    expect([before, grown]).not.toContain(await readListVersion(test.pool, site.companyId));
  });

  it("does not prevent the deletion of a company", async () => {
    const { companyId } = await addOwnSite();
    await test.database.deleteFrom("companies").where("id", "=", companyId).execute();
    expect(
      await test.database.selectFrom("list_changes").selectAll().where("company_id", "=", companyId).execute(),
    ).toEqual([]);
  });
});
