/** Accounts at providers with which users sign in. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** What names an account. */
export interface AccountName {
  readonly issuer: string;
  readonly subject: string;
}

/** An account as its user sees it. */
export interface ShownProviderAccount {
  readonly id: string;
  readonly issuer: string;
  readonly email: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

export interface NewProviderAccount extends AccountName {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
}

const shownColumns = ["id", "issuer", "email", "created_at", "last_used_at"] as const;

/** Lists the user's accounts, oldest first. */
export function listProviderAccounts(
  database: Database | DatabaseTransaction,
  userId: string,
): Promise<readonly ShownProviderAccount[]> {
  return database
    .selectFrom("provider_accounts")
    .select(shownColumns)
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** The id of the user to whom the account is linked, or null. */
export async function findLinkedUser(
  database: Database | DatabaseTransaction,
  { issuer, subject }: AccountName,
): Promise<string | null> {
  const row = await database
    .selectFrom("provider_accounts")
    .select("user_id")
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** Links an account to a user. Null: the account is linked already, or the user has another one of this issuer. */
export async function insertProviderAccount(
  transaction: DatabaseTransaction,
  { id, userId, issuer, subject, email }: NewProviderAccount,
): Promise<ShownProviderAccount | null> {
  const inserted = await transaction
    .insertInto("provider_accounts")
    .values({ id, user_id: userId, issuer, subject, email })
    .onConflict((conflict) => conflict.doNothing())
    .returning(shownColumns)
    .executeTakeFirst();
  return inserted ?? null;
}

/** Records that the user signs in with the account. Returns false if it is not linked to this user, or no longer. */
export async function noteProviderAccountUse(
  transaction: DatabaseTransaction,
  { userId, issuer, subject, email }: Omit<NewProviderAccount, "id">,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("provider_accounts")
    .set({ email, last_used_at: sql<Date>`now()` })
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Unlinks an account of the user. Returns it, or null if there is none. */
export async function deleteProviderAccount(
  transaction: DatabaseTransaction,
  userId: string,
  id: string,
): Promise<ShownProviderAccount | null> {
  const deleted = await transaction
    .deleteFrom("provider_accounts")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returning(shownColumns)
    .executeTakeFirst();
  return deleted ?? null;
}

/** Unlinks all accounts of the user. */
export async function unlinkProviderAccounts(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction.deleteFrom("provider_accounts").where("user_id", "=", userId).execute();
}
