/** The accounts at the provider with which the caller's user signs in: listed, linked and unlinked. */
import { randomUUID } from "node:crypto";
import { isSameIssuer } from "@sitewright/server/openid/signInProvider.ts";
import {
  deleteProviderAccount,
  insertProviderAccount,
  listProviderAccounts,
  type ShownProviderAccount,
} from "@sitewright/server/store/company/providerAccounts.ts";
import type { Context } from "../context.ts";
import { NotFound, PasswordChangeRequired } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { checkOwnPassword } from "./ownPassword.ts";
import { unusable, useOnce } from "./providerIdentities.ts";
import { taken, usableIdentity } from "./providerSignIns.ts";

export async function list(context: Context) {
  const accounts = await listProviderAccounts(context.database, context.caller.userId);
  return accounts.map((account) => view(context, account));
}

/**
 * Links the account with which somebody has signed in at the provider in this session. Throws `Refused`, and `PasswordChangeRequired`
 * if the user has to choose a password first.
 */
export async function link(context: Context, password: string) {
  if (context.caller.mustChangePassword) throw new PasswordChangeRequired();
  const identity = usableIdentity(context, "link");
  if (identity.session !== context.caller.keyId) throw unusable();
  const { id: userId } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    await useOnce(transaction, identity);
    const account = await insertProviderAccount(transaction, { ...identity, id: randomUUID(), userId });
    if (account === null) throw taken();
    const parameters = parametersOf(context, account);
    await recordDone(context, transaction, { type: "linkProviderAccount", category: "userManagement", parameters });
    return view(context, account);
  });
}

/** Throws `Refused` if the password is wrong, and `NotFound` if the user has no such account. */
export async function unlink(context: Context, id: string, password: string) {
  const user = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    const account = await deleteProviderAccount(transaction, user.id, id.toLowerCase());
    if (account === null) throw new NotFound();
    const parameters = parametersOf(context, account);
    await recordDone(context, transaction, { type: "unlinkProviderAccount", category: "userManagement", parameters });
    return view(context, account);
  });
}

function view(context: Context, account: ShownProviderAccount) {
  const { id, email, created_at, last_used_at } = account;
  return {
    id,
    provider: nameOf(context, account),
    email,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}

const parametersOf = (context: Context, account: ShownProviderAccount) => ({
  email: account.email,
  provider: nameOf(context, account),
});

/** The operator may have set up another provider since the account was linked. */
function nameOf({ signInProvider }: Context, { issuer }: ShownProviderAccount): string {
  if (signInProvider !== null && isSameIssuer(signInProvider.issuer, issuer)) return signInProvider.name;
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}
