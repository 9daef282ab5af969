/** The certificate authority with this installation's account. The account is created when it is first needed. */
import { type Acme, openAcme } from "../../certificates/acme/client.ts";
import { type AccountBinding, makeKey } from "../../certificates/acme/signing.ts";
import type { Sealer } from "../../sealing.ts";
import type { Database } from "../../store/database.ts";
import { findAccount, setAccountUrl, storeAccount } from "../../store/domains/acmeAccounts.ts";

export interface AuthorityOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  /** URL of the authority's directory. */
  readonly directory: string;
  /** PEM, or null for the system's roots. */
  readonly roots: readonly string[] | null;
  readonly email: string | null;
  readonly binding: AccountBinding | null;
  readonly signal: AbortSignal;
}

export interface Authority {
  readonly acme: Acme;
  /** URL of our account. */
  readonly account: string;
}

/** Opens the account, the same one in every process. Rejects like the methods of `Acme`. */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { database, sealer, directory, roots, email, binding, signal } = options;
  const context = `acme-account:${directory}`;
  const stored =
    (await findAccount(database, directory)) ??
    (await storeAccount(database, directory, sealer.seal(makeKey(), context)));
  const acme = openAcme({ directory, roots, accountKey: sealer.open(stored.keySealed, context), signal });
  if (stored.url !== null) return { acme, account: stored.url };
  // Two processes that register the same key at once get the same account.
  const account = await acme.openAccount(email, binding);
  await setAccountUrl(database, directory, account);
  return { acme, account };
}
