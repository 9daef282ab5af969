/** Second factors of users, and their recovery codes. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** A second factor as its user sees it. */
export interface ShownSecondFactor {
  /** Null: none. */
  readonly since: Date | null;
  /** Null: no authenticator app. */
  readonly app_since: Date | null;
  readonly recovery_codes_left: number;
  readonly is_required: boolean;
}

/** Null: there is no such user. */
export async function findSecondFactor(
  database: Database | DatabaseTransaction,
  userId: string,
): Promise<ShownSecondFactor | null> {
  const { rows } = await sql<ShownSecondFactor>`
    select u.second_factor_since as since, u.second_factor_app_since as app_since, c.requires_second_factor as is_required,
      (select count(*)::integer from recovery_codes where user_id = u.id) as recovery_codes_left
    from users u join companies c on c.id = u.company_id where u.id = ${userId}`.execute(database);
  return rows[0] ?? null;
}

/** What a user can sign in with, besides passkeys and recovery codes. */
export interface LockedSecondFactor {
  /** The secret of the authenticator app. Null: none, not even one to be confirmed. */
  readonly sealed: Buffer | null;
  /** Null: the secret is not confirmed, and its codes are not accepted. */
  readonly appSince: Date | null;
  /** Null: the user has no second factor. */
  readonly since: Date | null;
}

/** Locks the user with their second factors until the transaction ends. Null: there is no such user. */
export async function lockSecondFactor(
  transaction: DatabaseTransaction,
  userId: string,
): Promise<LockedSecondFactor | null> {
  const row = await transaction
    .selectFrom("users")
    .select(["second_factor_sealed as sealed", "second_factor_app_since as appSince", "second_factor_since as since"])
    .where("id", "=", userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Stores a secret to be confirmed. Returns whether the user has no authenticator app yet, so that it was stored. */
export async function storeSecret(transaction: DatabaseTransaction, userId: string, sealed: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("users")
    .set({ second_factor_sealed: sealed, second_factor_step: 0 })
    .where("id", "=", userId)
    .where("second_factor_app_since", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Puts the stored secret in force. */
export async function confirmSecret(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction
    .updateTable("users")
    .set({
      second_factor_app_since: sql<Date>`now()`,
      second_factor_since: sql<Date>`coalesce(second_factor_since, now())`,
    })
    .where("id", "=", userId)
    .execute();
}

/** Uses up the codes until this time step. Returns false if they had been used up. */
export async function useStep(transaction: DatabaseTransaction, userId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("users")
    .set({ second_factor_step: step })
    .where("id", "=", userId)
    .where("second_factor_step", "<", step)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Uses up a recovery code. Returns false if the user has no such code. */
export async function useRecoveryCode(
  transaction: DatabaseTransaction,
  userId: string,
  hash: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("recovery_codes")
    .where("user_id", "=", userId)
    .where("code_hash", "=", hash)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Stores the hashes of new recovery codes in the place of the earlier ones. */
export async function storeRecoveryCodes(
  transaction: DatabaseTransaction,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await transaction.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
  const rows = hashes.map((hash) => ({ user_id: userId, code_hash: hash }));
  await transaction.insertInto("recovery_codes").values(rows).execute();
}

/** Removes the user's app, passkeys and recovery codes. Returns whether they had a second factor. */
export async function deleteSecondFactor(transaction: DatabaseTransaction, userId: string): Promise<boolean> {
  const found = await lockSecondFactor(transaction, userId);
  await transaction.deleteFrom("passkeys").where("user_id", "=", userId).execute();
  await deleteApp(transaction, userId);
  await endWithoutFactors(transaction, userId);
  return found !== null && found.since !== null;
}

/** Removes the secret of the user's authenticator app. */
export async function deleteApp(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction
    .updateTable("users")
    .set({ second_factor_sealed: null, second_factor_app_since: null, second_factor_step: 0 })
    .where("id", "=", userId)
    .execute();
}

/** After a removal: a user without app and passkeys has no second factor, and no recovery codes. */
export async function endWithoutFactors(transaction: DatabaseTransaction, userId: string): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable("users")
    .set({ second_factor_since: null })
    .where("id", "=", userId)
    .where("second_factor_app_since", "is", null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("passkeys").select("passkeys.id").where("user_id", "=", userId))),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 1n) await transaction.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
}

/** Whether the company requires a second factor of its users. */
export async function isSecondFactorRequired(
  database: Database | DatabaseTransaction,
  companyId: string,
): Promise<boolean> {
  const row = await database
    .selectFrom("companies")
    .select("requires_second_factor")
    .where("id", "=", companyId)
    .executeTakeFirst();
  return row?.requires_second_factor === true;
}

export async function requireSecondFactor(
  transaction: DatabaseTransaction,
  companyId: string,
  isRequired: boolean,
): Promise<void> {
  await transaction
    .updateTable("companies")
    .set({ requires_second_factor: isRequired })
    .where("id", "=", companyId)
    .execute();
}
