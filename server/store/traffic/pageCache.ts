/** Whether an environment's pages are kept at the edge, and under which number. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";

/** SQL: whether pages of the environment `e` are kept. */
export const keepsPages: RawBuilder<boolean> = sql<boolean>`coalesce(e.edge_caching, e.name = 'live')`;

/** Null if there is no such environment to be seen. */
export async function findEdgeCaching(
  database: Database,
  environmentId: string,
): Promise<{ readonly id: string; readonly isEnabled: boolean } | null> {
  const row = await database
    .selectFrom("environments as e")
    .select(["e.id", keepsPages.as("isEnabled")])
    .where("e.id", "=", environmentId)
    .where("e.state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

/** None of the cached pages now is shown when the edge has been told. False if the environment is gone. */
export async function forgetPages(database: Database, environmentId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("environments")
    .set((eb) => ({ page_cache_epoch: eb("page_cache_epoch", "+", 1) }))
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False if the environment is gone. Null: as is usual. */
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

/** As it was set; null: as is usual, or the environment is gone. */
export async function edgeCachingAsSet(database: Database, environmentId: string): Promise<boolean | null> {
  const row = await database
    .selectFrom("environments")
    .select("edge_caching")
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row?.edge_caching ?? null;
}
