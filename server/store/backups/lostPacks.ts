/**
 * Packs that are missing from the archives or damaged. Backups that need them are marked as damaged, and use other
 * copies of the same pieces if there are any, now or later.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { suspectedDamage } from "./damage.ts";

/**
 * Marks packs as lost, so that no backup can claim their pieces. Marks backups that need one of them as damaged and to
 * be examined, also unfinished ones, because another process may be finishing one and still see the pack as kept.
 */
export async function losePacks(database: Database, packs: readonly string[]): Promise<void> {
  if (packs.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    const lost = await transaction
      .updateTable("packs")
      .set({ state: "lost", state_since: sql<Date>`now()` })
      .where("state", "=", "kept")
      .where("id", "in", packs)
      .returning("id")
      .execute();
    const ids = lost.map(({ id }) => id);
    await useCopies(transaction, ids);
    await sql`
      with affected as (
        select id from backups where id in (select backup_id from backup_packs where pack_id = any(${ids}::uuid[]))
        order by id for no key update
      )
      update backups set damage = coalesce(damage, ${suspectedDamage}), examine_at = now()
      where id in (select id from affected)`.execute(transaction);
  });
}

/** Adds packs with copies of the lost pieces to the packs that the affected backups need. */
async function useCopies(transaction: DatabaseTransaction, lost: readonly string[]): Promise<void> {
  await sql`
    with found as (
      select distinct b.backup_id, copy.pack_id
      from backup_packs b
      join pieces p on p.pack_id = b.pack_id
      join pieces copy on copy.company_id = p.company_id and copy.name = p.name and copy.pack_id <> p.pack_id
      join packs k on k.id = copy.pack_id and k.state = 'kept'
      where b.pack_id = any(${lost}::uuid[])
    ), affected as (
      select id from backups where id in (select backup_id from found) order by id for key share
    ), locked as (
      select id from packs where id in (select pack_id from found) and state = 'kept' order by id for share
    )
    insert into backup_packs (backup_id, pack_id)
    select backup_id, pack_id from found join affected on affected.id = backup_id join locked on locked.id = pack_id
    on conflict do nothing`.execute(transaction);
}

/** Lets backups that need lost pieces use a new pack with copies of them, and has these backups examined again. */
export async function mendWith(
  transaction: DatabaseTransaction,
  { pack, companyId, names }: { readonly pack: string; readonly companyId: string; readonly names: readonly Buffer[] },
): Promise<void> {
  await sql`
    with affected as (
      select id from backups where manifest is not null and id in (
        select b.backup_id
        from pieces p
        join packs k on k.id = p.pack_id and k.state = 'lost'
        join backup_packs b on b.pack_id = k.id
        where p.company_id = ${companyId} and p.name = any(${names}::bytea[])
      ) order by id for update
    ), examined as (
      update backups set examine_at = now() where id in (select id from affected) and damage is not null
    )
    insert into backup_packs (backup_id, pack_id) select id, ${pack}::uuid from affected
    on conflict do nothing`.execute(transaction);
}
