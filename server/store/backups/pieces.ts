/** The index of pieces: which pieces of backups are stored, and in which packs. */
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { losePacks, mendWith } from "./lostPacks.ts";
import { listPieces, notePackRead } from "./packs.ts";

interface NeededPackRow {
  readonly id: string;
  readonly bytes: number;
  readonly readAt: Date | null;
  readonly isLost: boolean;
}

/** A piece's place in a pack. */
interface PieceRow {
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

const keyOf = (name: Buffer) => name.toString("base64");

/** Implements `PieceIndex`, which documents it, for one backup of a company. */
export function piecesFor(
  database: Database,
  { companyId, id: backupId }: { readonly companyId: string; readonly id: number },
) {
  return {
    claim: async (names: readonly Buffer[]): Promise<ReadonlySet<string>> => {
      // A pack that is being marked as unused is locked, and no longer matches afterwards.
      const { rows } = await sql<{ name: Buffer }>`
        with found as (
          select distinct on (p.name) p.name, p.pack_id
          from pieces p join packs k on k.id = p.pack_id and k.state = 'kept'
          where p.company_id = ${companyId} and p.name = any(${names}::bytea[])
          order by p.name, k.state_since, k.id
        ), locked as (
          select id from packs where id in (select pack_id from found) and state = 'kept' order by id for share
        ), needed as (
          insert into backup_packs (backup_id, pack_id) select ${backupId}::integer, id from locked on conflict do nothing
        )
        select name from found join locked on locked.id = found.pack_id`.execute(database);
      return new Set(rows.map(({ name }) => keyOf(name)));
    },
    beginPack: async (pack: string, keyId: Buffer): Promise<void> => {
      const row = { id: pack, company_id: companyId, state: "writing", key_id: keyId } as const;
      await database.insertInto("packs").values(row).execute();
    },
    addPack: async (pack: string, bytes: number, pieces: readonly PieceRow[]): Promise<void> => {
      await database.transaction().execute(async (transaction) => {
        const now = sql<Date>`now()`;
        const values = { state: "kept", bytes, state_since: now, read_at: now } as const;
        const { numUpdatedRows } = await transaction
          .updateTable("packs")
          .set(values)
          .where("id", "=", pack)
          .where("state", "=", "writing")
          .executeTakeFirstOrThrow();
        if (numUpdatedRows !== 1n) throw new Error("The pack was marked as unused while it was being written.");
        await sql`
          insert into pieces (company_id, name, pack_id, start, length)
          select ${companyId}::uuid, name, ${pack}::uuid, start, length
          from unnest(
            ${pieces.map(({ name }) => name)}::bytea[],
            ${pieces.map(({ start }) => start)}::integer[],
            ${pieces.map(({ length }) => length)}::integer[]
          ) as piece (name, start, length)`.execute(transaction);
        await transaction.insertInto("backup_packs").values({ backup_id: backupId, pack_id: pack }).execute();
        await mendWith(transaction, { pack, companyId, names: pieces.map(({ name }) => name) });
      });
    },
    locate: async (names: readonly Buffer[]) => {
      // Only in packs that the backup needs: others may be removed at any time.
      const { rows } = await sql<PieceRow & { pack: string; isLost: boolean }>`
        select distinct on (p.name) p.name, p.pack_id as pack, p.start, p.length, k.state <> 'kept' as "isLost"
        from backup_packs b join pieces p on p.pack_id = b.pack_id join packs k on k.id = b.pack_id
        where b.backup_id = ${backupId} and p.company_id = ${companyId} and p.name = any(${names}::bytea[])
        order by p.name, k.state <> 'kept', p.pack_id`.execute(database);
      return new Map(rows.map((row) => [keyOf(row.name), row]));
    },
    neededPacks: async () => {
      const { rows } = await sql<NeededPackRow>`
        select k.id, coalesce(k.bytes, 0) as bytes, k.state = 'lost' as "isLost",
          case when k.read_at > coalesce(lost.at, '-infinity') then k.read_at end as "readAt"
        from backup_packs b join packs k on k.id = b.pack_id,
          (select max(state_since) as at from packs where company_id = ${companyId}::uuid and state = 'lost') as lost
        where b.backup_id = ${backupId}`.execute(database);
      return new Map(rows.map(({ id, ...pack }) => [id, pack]));
    },
    piecesIn: (pack: string) => listPieces(database, pack),
    noteRead: (pack: string) => notePackRead(database, pack),
    markLost: (packs: readonly string[]) => losePacks(database, packs),
    release: async (packs: readonly string[]): Promise<void> => {
      const rows = database.deleteFrom("backup_packs").where("backup_id", "=", backupId);
      if (packs.length > 0) await rows.where("pack_id", "in", packs).execute();
    },
  };
}
