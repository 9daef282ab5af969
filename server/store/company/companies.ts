/** Companies. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

export async function insertCompany(
  transaction: DatabaseTransaction,
  company: { readonly id: string; readonly name: string },
): Promise<void> {
  await transaction.insertInto("companies").values(company).execute();
}

export async function hasCompany(database: Database): Promise<boolean> {
  return (await database.selectFrom("companies").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Deletes a company with its users and keys. Returns false, and deletes nothing, if it has sites, sites that can be restored, or
 * content in the archives.
 */
export async function deleteCompany(database: Database, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from companies c where c.id = ${id}
      and not exists (select from sites where company_id = c.id)
      and not exists (select from deleted_sites where company_id = c.id)
      and not exists (select from packs where company_id = c.id)`.execute(database);
  return numAffectedRows === 1n;
}

/** Keeps a company from being deleted until the transaction ends. Returns whether it exists. */
export async function holdCompany(transaction: DatabaseTransaction, id: string): Promise<boolean> {
  const found = await transaction
    .selectFrom("companies")
    .select("id")
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether a company has this name. */
export async function hasCompanyNamed(database: Database, name: string): Promise<boolean> {
  const found = await database.selectFrom("companies").select("id").where("name", "=", name).executeTakeFirst();
  return found !== undefined;
}

/** Lets only one transaction at a time decide whether to create the first company. */
export async function lockFirstCompany(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('sitewright first company'))`.execute(transaction);
}

/** A company with its owner. */
interface ListedCompany {
  readonly id: string;
  readonly name: string;
  readonly owner_id: string | null;
  readonly owner_email: string | null;
  readonly sites: number;
}

/** Lists all companies by name, with their first owner and number of sites. */
export async function listCompanies(database: Database): Promise<ListedCompany[]> {
  const { rows } = await sql<ListedCompany>`
    select c.id, c.name, u.id as owner_id, u.email as owner_email,
      (select count(*)::int from sites s where s.company_id = c.id) as sites
    from companies c left join lateral (
      select id, email from users where company_id = c.id and role = 'owner' order by created_at, id limit 1) u on true
    order by c.name, c.id`.execute(database);
  return rows;
}
