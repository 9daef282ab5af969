/** The authority with this installation's account, which is made when it is first needed. */
import { type Acme, openAcme } from "../../certificates/acme/client.ts";
import { type AccountBinding, makeKey } from "../../certificates/acme/signing.ts";
import type { Sealer } from "../../sealing.ts";
import type { Database } from "../../store/database.ts";
import { findAccount, setAccountUrl, storeAccount } from "../../store/domains/acmeAccounts.ts";

export interface AuthorityOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  /** Its URL. */
  readonly directory: string;
  /** PEM; null: the usual ones. */
  readonly roots: readonly string[] | null;
  readonly email: string | null;
  readonly binding: AccountBinding | null;
  readonly signal: AbortSignal;
}

export interface Authority {
  readonly acme: Acme;
  /** What it calls us. */
  readonly account: string;
}

/** The same account in every process. Rejects like the methods of `Acme`. */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { database, sealer, directory, roots, email, binding, signal } = options;
  const context = `acme-account:${directory}`;
  const kept =
    (await findAccount(database, directory)) ??
    (await storeAccount(database, directory, sealer.seal(makeKey(), context)));
  const acme = openAcme({ directory, roots, accountKey: sealer.open(kept.keySealed, context), signal });
  if (kept.url !== null) return { acme, account: kept.url };
  // Two processes that ask for the same key at once are given the same account.
  const account = await acme.openAccount(email, binding);
  await setAccountUrl(database, directory, account);
  return { acme, account };
}
