/** Labels of sites. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** A label as sites show it. */
export interface LabelBrief {
  readonly id: string;
  readonly name: string;
}

export interface LabelRecord extends LabelBrief {
  /** Only sites that the reader can see. */
  readonly site_count: number;
}

/** SQL expression: the labels of the site `s` by name, as a JSON array of objects. */
export const labelsOfSite = `(
  select coalesce(json_agg(json_build_object('id', l.id, 'name', l.name) order by lower(l.name), l.id), '[]'::json)
  from site_labels sl join labels l on l.id = sl.label_id where sl.site_id = s.id)`;

/** SQL expression: the sites that the user `u` has now. Null: all of the company. */
export const sitesOfUser = `case when u.site_ids is not null then
  u.site_ids || array(select sl.site_id from site_labels sl where sl.label_id = any(u.label_ids)) end`;

/** SQL expression: the sites that the key `k` has now because of its scopes `label:<id>`. */
export const labelledSitesOfKey = `array(select sl.site_id from site_labels sl where sl.label_id in (
  select substr(scope, 7)::uuid from unnest(k.scopes) scope where scope like 'label:%'))`;

/** Lists the company's labels by name. `siteIds`: only labels of these sites, which alone are counted; null: all. */
export async function listLabels(
  database: Database,
  companyId: string,
  siteIds: readonly string[] | null,
): Promise<LabelRecord[]> {
  const { rows } = await sql<LabelRecord>`
    select l.id, l.name, count(s.id)::int as site_count
    from labels l left join site_labels sl on sl.label_id = l.id
      left join sites s on s.id = sl.site_id and s.state <> 'adding'
        and (${siteIds}::uuid[] is null or s.id = any(${siteIds}::uuid[]))
    where l.company_id = ${companyId}
    group by l.id having ${siteIds}::uuid[] is null or count(s.id) > 0
    order by lower(l.name), l.id`.execute(database);
  return rows;
}

/** Finds a label of the company, locked until the transaction ends, or null. */
export async function lockLabel(
  transaction: DatabaseTransaction,
  companyId: string,
  labelId: string,
): Promise<LabelBrief | null> {
  const found = await transaction
    .selectFrom("labels")
    .select(["id", "name"])
    .where("company_id", "=", companyId)
    .where("id", "=", labelId)
    .forUpdate()
    .executeTakeFirst();
  return found ?? null;
}

/** Counts the sites with the label. */
export async function countLabelled(transaction: DatabaseTransaction, labelId: string): Promise<number> {
  const { rows } = await sql<{ sites: number }>`
    select count(*)::int as sites from site_labels sl join sites s on s.id = sl.site_id and s.state <> 'adding'
    where sl.label_id = ${labelId}`.execute(transaction);
  return rows[0]?.sites ?? 0;
}

export async function countLabels(transaction: DatabaseTransaction, companyId: string): Promise<number> {
  const { rows } = await sql<{ labels: number }>`
    select count(*)::int as labels from labels where company_id = ${companyId}`.execute(transaction);
  return rows[0]?.labels ?? 0;
}

/** Whether a label of the company other than `labelId` has this name, ignoring case. */
export async function isLabelNameTaken(
  transaction: DatabaseTransaction,
  companyId: string,
  { id, name }: LabelBrief,
): Promise<boolean> {
  const { rows } = await sql`
    select from labels where company_id = ${companyId} and lower(name) = lower(${name}) and id <> ${id}`.execute(
    transaction,
  );
  return rows.length > 0;
}

export async function insertLabel(
  transaction: DatabaseTransaction,
  companyId: string,
  label: LabelBrief,
): Promise<void> {
  await transaction
    .insertInto("labels")
    .values({ ...label, company_id: companyId })
    .execute();
}

export async function updateLabel(transaction: DatabaseTransaction, { id, name }: LabelBrief): Promise<void> {
  await transaction.updateTable("labels").set({ name }).where("id", "=", id).execute();
}

/** Deletes a label, also from its sites. */
export async function removeLabel(transaction: DatabaseTransaction, labelId: string): Promise<void> {
  await transaction.deleteFrom("labels").where("id", "=", labelId).execute();
}

/** Gives the label to the sites of `add`, and then takes it from those of `remove`. */
export async function assignLabel(
  transaction: DatabaseTransaction,
  { companyId, labelId }: { readonly companyId: string; readonly labelId: string },
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): Promise<void> {
  if (add.length > 0) {
    await sql`
      insert into site_labels (site_id, label_id, company_id)
      select site_id, ${labelId}::uuid, ${companyId}::uuid from unnest(${add}::uuid[]) site_id
      on conflict do nothing`.execute(transaction);
  }
  if (remove.length === 0) return;
  await sql`delete from site_labels where label_id = ${labelId} and site_id = any(${remove}::uuid[])`.execute(
    transaction,
  );
}

/** Returns those of `labelIds` that are labels of the company. */
export async function knownLabelIds(
  database: Database,
  companyId: string,
  labelIds: readonly string[],
): Promise<Set<string>> {
  if (labelIds.length === 0) return new Set();
  const rows = await database
    .selectFrom("labels")
    .select("id")
    .where("company_id", "=", companyId)
    .where("id", "in", labelIds)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the labels of sites that are gone for good. */
export async function deleteLabelsOfGoneSites(database: Database): Promise<void> {
  await sql`
    delete from site_labels sl where not exists (select from sites where id = sl.site_id)
      and not exists (select from deleted_sites where id = sl.site_id)`.execute(database);
}
