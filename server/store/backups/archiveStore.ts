/** The location of the archives, as stored in the database. */
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { examineAllBackups, suspectedDamage } from "./damage.ts";

/** Number of packs to look for when checking an archive location. */
const maxPacks = 20;
/** Per pack: more than one, because a piece may be damaged. */
const piecesPerPack = 3;

interface KeptRow {
  readonly pack: string;
  readonly companyId: string;
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

/** Implements `StoreMemory`, which documents it. */
export function storeMemory(database: Database) {
  return {
    recall: async () => {
      await database
        .insertInto("archive_store")
        .defaultValues()
        .onConflict((on) => on.doNothing())
        .execute();
      const row = database.selectFrom("archive_store").select(["mark", "place", "key_check as keyCheck"]);
      return row.executeTakeFirstOrThrow();
    },
    rememberKey: async (keyCheck: Buffer): Promise<void> => {
      await database.updateTable("archive_store").set({ key_check: keyCheck }).execute();
    },
    remember: (place: string) =>
      database.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ before: string | null }>`
          update archive_store set place = ${place} where place is distinct from ${place}
          returning old.place as before`.execute(transaction);
        if (rows[0]?.before != null) await examineAllBackups(transaction);
      }),
    startFromScratch: (place: string, keyCheck: Buffer) =>
      database.transaction().execute(async (transaction) => {
        const { numAffectedRows = 0n } = await sql`
          update archive_store set place = ${place}, key_check = ${keyCheck}
          where place is distinct from ${place}`.execute(transaction);
        if (numAffectedRows === 0n) return;
        await transaction
          .updateTable("packs")
          .set({ state: "lost", state_since: sql<Date>`now()` })
          .where("state", "=", "kept")
          .execute();
        await transaction
          .updateTable("backups")
          .set({ damage: suspectedDamage })
          .where("manifest", "is not", null)
          .execute();
        await examineAllBackups(transaction);
      }),
    sampleKeptPieces: async () => {
      const { rows } = await sql<KeptRow>`
        select k.id as pack, k.company_id as "companyId", p.name, p.start, p.length
        from packs k
        cross join lateral (
          select name, start, length from pieces where pack_id = k.id order by start limit ${piecesPerPack}) p
        where k.state = 'kept' order by k.state_since desc limit ${maxPacks * piecesPerPack}`.execute(database);
      return rows.map(({ pack, companyId, ...piece }) => ({ ...piece, companyId, blob: `packs/${companyId}/${pack}` }));
    },
  };
}
