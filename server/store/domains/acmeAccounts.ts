/** This installation's ACME accounts. */
import type { Database } from "../database.ts";

interface AcmeAccount {
  /** PEM, sealed for `acme-account:<directory>`. */
  readonly keySealed: Buffer;
  /** The account's URL, or null until it is created. */
  readonly url: string | null;
}

/** Stores a new account's key and returns the account. If several processes do this at once, the first key wins. */
export async function storeAccount(database: Database, directory: string, keySealed: Buffer): Promise<AcmeAccount> {
  await database
    .insertInto("acme_accounts")
    .values({ directory, key_sealed: keySealed })
    .onConflict((conflict) => conflict.column("directory").doNothing())
    .execute();
  const account = await findAccount(database, directory);
  if (!account) throw new Error("The account was just stored but is gone");
  return account;
}

export async function findAccount(database: Database, directory: string): Promise<AcmeAccount | null> {
  const row = await database
    .selectFrom("acme_accounts")
    .select(["key_sealed as keySealed", "url"])
    .where("directory", "=", directory)
    .executeTakeFirst();
  return row ?? null;
}

/** Sets the account's URL; null if the authority no longer knows the account. */
export async function setAccountUrl(database: Database, directory: string, url: string | null): Promise<void> {
  await database.updateTable("acme_accounts").set({ url }).where("directory", "=", directory).execute();
}

/** Pauses requests to the authority until a time. */
export async function setAccountWait(
  database: Database,
  directory: string,
  until: Date,
  reason: string,
): Promise<void> {
  await database
    .updateTable("acme_accounts")
    .set({ wait_until: until, wait_reason: reason })
    .where("directory", "=", directory)
    .execute();
}

/** Returns the end of the pause, or null if requests are allowed. */
export async function findAccountWait(database: Database, directory: string, now: Date): Promise<Date | null> {
  const row = await database
    .selectFrom("acme_accounts")
    .select("wait_until")
    .where("directory", "=", directory)
    .where("wait_until", ">", now)
    .executeTakeFirst();
  return row?.wait_until ?? null;
}
