/** The second factor of the caller's user: added, removed, and its recovery codes. */
import {
  confirmSecret,
  deleteSecondFactor,
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

async function viewOf(database: Database | DatabaseTransaction, userId: string) {
  const found = await findSecondFactor(database, userId);
  if (found === null) throw new NotFound();
  return { ...found, since: found.since?.toISOString() ?? null };
}

export function get({ database, caller }: Context) {
  return viewOf(database, caller.userId);
}

/** Stores a secret to be confirmed with a code. Throws `Refused` if the password is wrong, or there is a second factor. */
export async function begin(context: Context, password: string) {
  const user = await checkOwnPassword(context, password);
  const secret = newSecret();
  const sealed = context.sealer.seal(secret, sealedFor(user.id));
  const isStored = await context.inTransaction((transaction) => storeSecret(transaction, user.id, sealed));
  if (!isStored) throw exists();
  return { secret, uri: setupUri(secret, user.email) };
}

/** Puts the secret in force, and ends the user's other sessions. Returns recovery codes. Throws `Refused` if the code is wrong. */
export function confirm(context: Context, code: string) {
  const { userId, keyId } = context.caller;
  return changeKeys(context, async (transaction) => {
    const locked = await lockSecondFactor(transaction, userId);
    if (locked === null) {
      throw new Refused("second_factor_not_begun", "Get a secret first: POST /v2/session/second-factor.");
    }
    if (locked.since !== null) throw exists();
    if (!(await useAppCode(context, transaction, { userId, locked }, code))) throw wrongCode();
    await confirmSecret(transaction, userId);
    await endSessions(transaction, userId, { except: keyId });
    await record(context, transaction, "addSecondFactor");
    return withNewCodes(transaction, userId);
  });
}

/** Throws `Refused` if the password is wrong, or there is no second factor. */
export async function replaceCodes(context: Context, password: string) {
  const { id } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    const locked = await lockSecondFactor(transaction, id);
    if (locked?.since == null) throw none();
    await record(context, transaction, "replaceRecoveryCodes");
    return withNewCodes(transaction, id);
  });
}

/** Throws `Refused` if the password is wrong, or there is no second factor. */
export async function remove(context: Context, password: string) {
  const { id } = await checkOwnPassword(context, password);
  return changeKeys(context, async (transaction) => {
    if (!(await deleteSecondFactor(transaction, id))) throw none();
    await record(context, transaction, "removeSecondFactor");
    return viewOf(transaction, id);
  });
}

async function withNewCodes(transaction: DatabaseTransaction, userId: string) {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => recoveryHash(userId, code));
  await storeRecoveryCodes(transaction, userId, hashes);
  return { second_factor: await viewOf(transaction, userId), recovery_codes: codes };
}

function exists(): Refused {
  return new Refused("second_factor_exists", "You have a second factor. Remove it before you add another one.");
}

function none(): Refused {
  return new Refused("no_second_factor", "You have no second factor.");
}

async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: "addSecondFactor" | "replaceRecoveryCodes" | "removeSecondFactor",
): Promise<void> {
  await recordDone(context, transaction, { type, category: "userManagement", parameters: {} });
}
