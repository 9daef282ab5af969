/** Where archives are kept, as the database remembers it. */
import { sql } from "kysely";
import { examineAllBackups, suspicion } from "./damage.ts";
import type { Database } from "./database.ts";

/** So many packs are looked for in a store that has no mark yet. */
const some = 20;

/** What it does is told by `StoreMemory`. */
export function storeMemory(database: Database) {
  return {
    recall: async () => {
      await database
        .insertInto("archive_store")
        .defaultValues()
        .onConflict((on) => on.doNothing())
        .execute();
      return database.selectFrom("archive_store").select(["mark", "place"]).executeTakeFirstOrThrow();
    },
    remember: (place: string) =>
      database.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ before: string | null }>`
          update archive_store set place = ${place} where place is distinct from ${place}
          returning old.place as before`.execute(transaction);
        if (rows[0]?.before != null) await examineAllBackups(transaction);
      }),
    beginAnew: (place: string) =>
      database.transaction().execute(async (transaction) => {
        const { numAffectedRows = 0n } = await sql`
          update archive_store set place = ${place} where place is distinct from ${place}`.execute(transaction);
        if (numAffectedRows === 0n) return;
        await transaction
          .updateTable("packs")
          .set({ state: "lost", state_since: new Date() })
          .where("state", "=", "kept")
          .execute();
        await transaction.updateTable("backups").set({ damage: suspicion }).where("manifest", "is not", null).execute();
        await examineAllBackups(transaction);
      }),
    someKept: async (): Promise<readonly string[]> => {
      const packs = database.selectFrom("packs").select(["id", "company_id"]).where("state", "=", "kept");
      const rows = await packs.orderBy("state_since", "desc").limit(some).execute();
      return rows.map(({ id, company_id }) => `packs/${company_id}/${id}`);
    },
  };
}
