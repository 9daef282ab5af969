/** Page cache settings of environments. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";

/** SQL expression: whether the page cache is on for the environment `e`. */
export const isPageCacheOn: RawBuilder<boolean> = sql<boolean>`coalesce(e.edge_caching, e.name = 'live')`;

/** Returns null if there is no such environment. */
export async function findEdgeCaching(
  database: Database,
  environmentId: string,
): Promise<{ readonly id: string; readonly isEnabled: boolean } | null> {
  const row = await database
    .selectFrom("environments as e")
    .select(["e.id", isPageCacheOn.as("isEnabled")])
    .where("e.id", "=", environmentId)
    .where("e.state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

/** Invalidates all cached pages once the edge has the new table. Returns false if the environment is gone. */
export async function clearPageCache(database: Database, environmentId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("environments")
    .set((eb) => ({ page_cache_epoch: eb("page_cache_epoch", "+", 1) }))
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Turns the page cache on or off; null for the default. Returns false if the environment is gone. */
export async function setEdgeCaching(
  database: Database,
  environmentId: string,
  isEnabled: boolean | null,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("environments")
    .set({ edge_caching: isEnabled })
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the stored setting; null for the default, or if the environment is gone. */
export async function storedEdgeCaching(database: Database, environmentId: string): Promise<boolean | null> {
  const row = await database
    .selectFrom("environments")
    .select("edge_caching")
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row?.edge_caching ?? null;
}
