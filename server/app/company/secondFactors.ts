/** The second factor of the caller's user: the authenticator app, and the recovery codes. `passkeys.ts` has the passkeys. */
import { listPasskeys } from "@sitewright/server/store/company/passkeys.ts";
import {
  confirmSecret,
  deleteApp,
  deleteSecondFactor,
  endWithoutFactors,
  findSecondFactor,
  lockSecondFactor,
  storeRecoveryCodes,
  storeSecret,
} from "@sitewright/server/store/company/secondFactors.ts";
import { endSessions } from "@sitewright/server/store/company/sessions.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { sealedFor, useAppCode, wrongCode } from "./codes.ts";
import { checkOwnPassword } from "./ownPassword.ts";
import { newRecoveryCodes, recoveryHash } from "./recoveryCodes.ts";
import { newSecret, setupUri } from "./totp.ts";

/** The second factor as its user sees it. */
export async function viewOf({ caller }: Context, database: Database | DatabaseTransaction) {
  const found = await findSecondFactor(database, caller.userId);
  if (found === null) throw new NotFound();
  const passkeys = await listPasskeys(database, caller.userId);
  return {
    ...found,
    since: found.since?.toISOString() ?? null,
    app_since: found.app_since?.toISOString() ?? null,
    passkeys: passkeys.map(({ id, name, created_at, last_used_at, is_backed_up, origin }) => ({
      id,
      name,
      created_at: created_at.toISOString(),
      last_used_at: last_used_at?.toISOString() ?? null,
      is_backed_up,
      origin,
    })),
  };
}

export function get(context: Context) {
  return viewOf(context, context.database);
}

/** Stores a secret to be confirmed with a code. Throws `Refused` if the password is wrong, or there is an app. */
export async function begin(context: Context, password: string) {
  const user = await checkOwnPassword(context, password);
  const secret = newSecret();
  const sealed = context.sealer.seal(secret, sealedFor(user.id));
  const isStored = await context.inTransaction((transaction) => storeSecret(transaction, user.id, sealed));
  if (!isStored) throw exists();
  return { secret, uri: setupUri(secret, user.email) };
}

/** Puts the secret in force, and ends the user's other sessions. Returns recovery codes, if there are none yet. Throws `Refused` if the code is wrong. */
export function confirm(context: Context, code: string) {
  const { userId, keyId } = context.caller;
  return changeKeys(context, async (transaction) => {
    const locked = await lockSecondFactor(transaction, userId);
    if (locked === null || locked.sealed === null) {
      throw new Refused("second_factor_not_begun", "Get a secret first: POST /v2/session/second-factor.");
    }
    if (locked.appSince !== null) throw exists();
    if (!(await useAppCode(context, transaction, { userId, sealed: locked.sealed }, code))) throw wrongCode();
    await confirmSecret(transaction, userId);
    await endSessions(transaction, userId, { except: keyId });
    await record(context, transaction, "addSecondFactor");
    return locked.since === null ? withNewCodes(context, transaction) : keepingCodes(context, transaction);
  });
}

/** Throws `Refused` if the password is wrong, or there is no second factor. */
export async function replaceCodes(context: Context, password: string) {
  const { id } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    const locked = await lockSecondFactor(transaction, id);
    if (locked?.since == null) throw none();
    await record(context, transaction, "replaceRecoveryCodes");
    return withNewCodes(context, transaction);
  });
}

/** Throws `Refused` if the password is wrong, or there is no app. */
export async function removeApp(context: Context, password: string) {
  const { id } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    const locked = await lockSecondFactor(transaction, id);
    if (locked?.appSince == null) throw new Refused("no_authenticator_app", "You have no authenticator app.");
    await deleteApp(transaction, id);
    await endWithoutFactors(transaction, id);
    await record(context, transaction, "removeAuthenticatorApp");
    return viewOf(context, transaction);
  });
}

/** Removes the app and all passkeys. Throws `Refused` if the password is wrong, or there is neither. */
export async function remove(context: Context, password: string) {
  const { id } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    if (!(await deleteSecondFactor(transaction, id))) throw none();
    await record(context, transaction, "removeSecondFactor");
    return viewOf(context, transaction);
  });
}

/** Replaces the recovery codes. */
export async function withNewCodes(context: Context, transaction: DatabaseTransaction) {
  const { userId } = context.caller;
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => recoveryHash(userId, code));
  await storeRecoveryCodes(transaction, userId, hashes);
  return { second_factor: await viewOf(context, transaction), recovery_codes: codes };
}

/** The recovery codes are those that the user has. */
export async function keepingCodes(context: Context, transaction: DatabaseTransaction) {
  return { second_factor: await viewOf(context, transaction), recovery_codes: [] };
}

function exists(): Refused {
  return new Refused("second_factor_exists", "You have an authenticator app. Remove it before you add another one.");
}

function none(): Refused {
  return new Refused("no_second_factor", "You have no second factor.");
}

async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: "addSecondFactor" | "replaceRecoveryCodes" | "removeAuthenticatorApp" | "removeSecondFactor",
): Promise<void> {
  await recordDone(context, transaction, { type, category: "userManagement", parameters: {} });
}
