/** This installation's accounts with authorities. */
import type { Database } from "../database.ts";

export interface AcmeAccount {
  /** PEM, sealed for `acme-account:<directory>`. */
  readonly keySealed: Buffer;
  /** What the authority calls it; null until it is known there. */
  readonly url: string | null;
}

/** The account with an authority. Of several processes that bring a key for a new one at once, the first one's stays. */
export async function keepAccount(database: Database, directory: string, keySealed: Buffer): Promise<AcmeAccount> {
  await database
    .insertInto("acme_accounts")
    .values({ directory, key_sealed: keySealed })
    .onConflict((conflict) => conflict.column("directory").doNothing())
    .execute();
  const account = await findAccount(database, directory);
  if (!account) throw new Error("The account that was just kept is gone");
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

/** Null: the authority knows it no more. */
export async function setAccountUrl(database: Database, directory: string, url: string | null): Promise<void> {
  await database.updateTable("acme_accounts").set({ url }).where("directory", "=", directory).execute();
}

/** Nothing is asked of the authority before that. */
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

/** Until when nothing is asked of it; null: it may be asked. */
export async function findAccountWait(database: Database, directory: string, now: Date): Promise<Date | null> {
  const row = await database
    .selectFrom("acme_accounts")
    .select("wait_until")
    .where("directory", "=", directory)
    .where("wait_until", ">", now)
    .executeTakeFirst();
  return row?.wait_until ?? null;
}
