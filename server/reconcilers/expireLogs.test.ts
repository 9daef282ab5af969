import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test as it } from "vitest";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { expireLogs } from "./expireLogs.ts";

const test = useTestDatabase();
const day = 86_400_000;

async function sweep(environmentIds: readonly string[], now: number) {
  const removed: string[] = [];
  const trimmed: Record<string, Date> = {};
  const logs = {
    list: async () => environmentIds,
    remove: async (id: string) => void removed.push(id),
    removeBegunBefore: async (id: string, moment: Date) => {
      trimmed[id] = moment;
    },
  };
  await expireLogs({ database: test.database, logs, now: () => now });
  return { removed, trimmed };
}

it("logs of an environment are kept for thirty days; those of a removed one are removed at once", async () => {
  const { companyId } = await addCompany(test.database);
  const { environmentId } = await addSite(test.database, companyId);
  const removedId = randomUUID();
  const now = Date.now();
  const { removed, trimmed } = await sweep([environmentId, removedId], now);
  expect(removed).toEqual([removedId]);
  expect(trimmed).toEqual({ [environmentId]: new Date(now - 31 * day) });
});

it("logs of a deleted environment are kept while it can be restored", async () => {
  const { companyId } = await addCompany(test.database);
  const { id: siteId } = await addSite(test.database, companyId);
  const deleted = randomUUID();
  await sql`
    insert into deleted_environments (id, site_id, company_id, went_with_site, name, display_name, is_premium, php_version,
      is_opt_out_from_automatic_php_update, container_id, created_at, domain_id, host, is_wildcard, restorable_until)
    values (${deleted}, ${siteId}, ${companyId}, false, 'x', 'X', false, '8.3', false, ${randomUUID()}, now(),
      ${randomUUID()}, 'x.localhost', false, now())`.execute(test.database);
  expect((await sweep([deleted], Date.now())).removed).toEqual([]);
  await test.database.deleteFrom("deleted_environments").where("id", "=", deleted).execute();
  expect((await sweep([deleted], Date.now())).removed).toEqual([deleted]);
});

it("works without any logs", async () => {
  expect(await sweep([], Date.now())).toEqual({ removed: [], trimmed: {} });
});
