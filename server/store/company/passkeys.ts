/** Passkeys of users. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** A passkey as its user sees it. */
export interface ShownPasskey {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly is_backed_up: boolean;
  readonly origin: string;
}

/** What a browser needs to know about a passkey. */
export interface KnownPasskey {
  readonly credential_id: string;
  readonly origin: string;
  readonly transports: readonly string[];
}

/** What a signature is checked with. */
export interface LockedPasskey {
  readonly id: string;
  readonly name: string;
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly origin: string;
  readonly counter: number;
}

export interface NewPasskey extends Omit<LockedPasskey, "counter"> {
  readonly userId: string;
  readonly counter: number;
  readonly canBeBackedUp: boolean;
  readonly isBackedUp: boolean;
  readonly transports: readonly string[];
}

/** Lists the user's passkeys, oldest first. */
export async function listPasskeys(
  database: Database | DatabaseTransaction,
  userId: string,
): Promise<readonly (ShownPasskey & KnownPasskey)[]> {
  return database
    .selectFrom("passkeys")
    .select(["id", "name", "created_at", "last_used_at", "is_backed_up", "origin", "credential_id", "transports"])
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** The id of the user who has this passkey, or null. */
export async function findPasskeyUser(transaction: DatabaseTransaction, credentialId: string): Promise<string | null> {
  const row = await transaction
    .selectFrom("passkeys")
    .select("user_id")
    .where("credential_id", "=", credentialId)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** Finds a passkey of the user, locked until the transaction ends, or null. Lock the user before. */
export async function lockPasskey(
  transaction: DatabaseTransaction,
  userId: string,
  credentialId: string,
): Promise<LockedPasskey | null> {
  const row = await transaction
    .selectFrom("passkeys")
    .select(["id", "name", "credential_id", "public_key", "origin", "counter"])
    .where("user_id", "=", userId)
    .where("credential_id", "=", credentialId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Inserts a passkey, which is from now on a second factor of the user. Returns false if somebody has it already. */
export async function insertPasskey(transaction: DatabaseTransaction, passkey: NewPasskey): Promise<boolean> {
  const inserted = await transaction
    .insertInto("passkeys")
    .values({
      id: passkey.id,
      user_id: passkey.userId,
      name: passkey.name,
      credential_id: passkey.credential_id,
      public_key: passkey.public_key,
      origin: passkey.origin,
      counter: passkey.counter,
      can_be_backed_up: passkey.canBeBackedUp,
      is_backed_up: passkey.isBackedUp,
      transports: [...passkey.transports],
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) return false;
  await transaction
    .updateTable("users")
    .set({ second_factor_since: sql<Date>`now()` })
    .where("id", "=", passkey.userId)
    .where("second_factor_since", "is", null)
    .execute();
  return true;
}

/** Records that somebody has signed in with a passkey. */
export async function notePasskeyUse(
  transaction: DatabaseTransaction,
  id: string,
  { counter, isBackedUp }: { readonly counter: number; readonly isBackedUp: boolean },
): Promise<void> {
  await transaction
    .updateTable("passkeys")
    .set({ counter, is_backed_up: isBackedUp, last_used_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}

/** Deletes a passkey of the user. Returns its name, or null if there is none. */
export async function deletePasskey(
  transaction: DatabaseTransaction,
  userId: string,
  id: string,
): Promise<string | null> {
  const deleted = await transaction
    .deleteFrom("passkeys")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returning("name")
    .executeTakeFirst();
  return deleted?.name ?? null;
}

/** Records that a challenge was answered. Returns false if it was before. */
export async function useChallenge(transaction: DatabaseTransaction, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const inserted = await transaction
    .insertInto("used_challenges")
    .values({ challenge_hash: hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning("challenge_hash")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function deleteExpiredChallenges(database: Database): Promise<void> {
  await database.deleteFrom("used_challenges").where("expires_at", "<", sql<Date>`now()`).execute();
}
