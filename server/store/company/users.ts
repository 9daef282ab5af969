/** Users of a company. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, Role } from "../database.ts";
import type { LabelBrief } from "../sites/labels.ts";

interface NewUser {
  readonly id: string;
  readonly companyId: string;
  readonly email: string;
  readonly fullName: string;
  readonly firstName: string;
  readonly role: Role;
  readonly passwordHash: string;
  /** Whether the user has to choose a password at the first sign-in. Default: no. */
  readonly mustChangePassword?: boolean;
  /** Whether the user is an operator of the installation. Default: no. */
  readonly isOperator?: boolean;
  /** The only sites that the user has. Default: null, all. */
  readonly siteIds?: readonly string[] | null;
  /** Labels whose sites the user has, too. Default: none. */
  readonly labelIds?: readonly string[] | null;
}

/** Inserts a user. Returns false if another user has the e-mail address, ignoring case. */
export async function insertUser(transaction: DatabaseTransaction, user: NewUser): Promise<boolean> {
  const inserted = await transaction
    .insertInto("users")
    .values({
      id: user.id,
      company_id: user.companyId,
      email: user.email,
      full_name: user.fullName,
      first_name: user.firstName,
      role: user.role,
      password_hash: user.passwordHash,
      must_change_password: user.mustChangePassword ?? false,
      is_operator: user.isOperator ?? false,
      site_ids: user.siteIds ? [...user.siteIds] : null,
      label_ids: user.labelIds ? [...user.labelIds] : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Whether the company has that user. */
export async function isUserOf(
  database: Database | DatabaseTransaction,
  companyId: string,
  userId: string,
): Promise<boolean> {
  const row = await database
    .selectFrom("users")
    .where("company_id", "=", companyId)
    .where("id", "=", userId)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** A user as others see it. */
export interface ShownUser {
  readonly id: string;
  readonly email: string;
  readonly full_name: string;
  readonly role: Role;
  readonly site_ids: readonly string[] | null;
  readonly label_ids: readonly string[] | null;
}

const shownColumns = ["id", "email", "full_name", "role", "site_ids", "label_ids"] as const;

/** A user in the company's list. */
export interface ListedUser extends ShownUser {
  /** The sites of `site_ids` that exist, by name. Null: all. */
  readonly sites: readonly { readonly id: string; readonly display_name: string }[] | null;
  /** The labels of `label_ids` that exist, by name. */
  readonly labels: readonly LabelBrief[];
  readonly last_signed_in_at: Date | null;
  readonly has_second_factor: boolean;
}

/** Lists the users of a company, oldest first. */
export async function listUsers(database: Database, companyId: string): Promise<readonly ListedUser[]> {
  const { rows } = await sql<ListedUser>`
    select u.id, u.email, u.full_name, u.role, u.site_ids, u.label_ids, k.last_signed_in_at,
      u.second_factor_since is not null as has_second_factor,
      case when u.site_ids is not null then (
        select coalesce(json_agg(json_build_object('id', s.id, 'display_name', s.display_name)
          order by lower(s.display_name), s.id), '[]')
        from sites s where s.company_id = u.company_id and s.id = any(u.site_ids)) end as sites,
      (select coalesce(json_agg(json_build_object('id', l.id, 'name', l.name) order by lower(l.name), l.id), '[]')
        from labels l where l.company_id = u.company_id and l.id = any(u.label_ids)) as labels
    from users u left join (
      select user_id, max(created_at) as last_signed_in_at from api_keys
      where company_id = ${companyId} and kind = 'session' group by user_id) k on k.user_id = u.id
    where u.company_id = ${companyId}
    order by u.created_at, u.id`.execute(database);
  return rows;
}

/** Finds a user of the company, locked until the transaction ends, or null. */
export async function lockUser(
  transaction: DatabaseTransaction,
  companyId: string,
  userId: string,
): Promise<ShownUser | null> {
  const user = await transaction
    .selectFrom("users")
    .select(shownColumns)
    .where("company_id", "=", companyId)
    .where("id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return user ?? null;
}

/** Whether the company has an owner besides this user. The company is locked. */
export async function hasOtherOwner(
  transaction: DatabaseTransaction,
  companyId: string,
  userId: string,
): Promise<boolean> {
  const other = await transaction
    .selectFrom("users")
    .select("id")
    .where("company_id", "=", companyId)
    .where("role", "=", "owner")
    .where("id", "<>", userId)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** What a user may do, and with which sites. */
export interface UserAccess {
  readonly role: Role;
  readonly siteIds: readonly string[] | null;
  readonly labelIds: readonly string[] | null;
}

export async function updateUser(
  transaction: DatabaseTransaction,
  userId: string,
  { role, siteIds, labelIds }: UserAccess,
): Promise<void> {
  await transaction
    .updateTable("users")
    .set({ role, site_ids: siteIds && [...siteIds], label_ids: labelIds && [...labelIds] })
    .where("id", "=", userId)
    .execute();
}

/** Makes a user an operator of the installation, or no longer. Returns false if nothing changed. */
export async function setOperator(
  transaction: DatabaseTransaction,
  userId: string,
  isOperator: boolean,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("users")
    .set({ is_operator: isOperator })
    .where("id", "=", userId)
    .where("is_operator", "<>", isOperator)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes a user with their sessions and keys. */
export async function deleteUser(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction.deleteFrom("users").where("id", "=", userId).execute();
}

/** Whether somebody, in any company, has this e-mail address, ignoring case. */
export async function isEmailTaken(transaction: DatabaseTransaction, email: string): Promise<boolean> {
  const { rows } = await sql`select from users where lower(email) = lower(${email})`.execute(transaction);
  return rows.length > 0;
}
