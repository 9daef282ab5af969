/**
 * New passwords by a link in a mail, for people who have lost theirs. Asking for a link only queues a mail, so the answer is the same for
 * every address, after the same time. A link proves that its reader gets the user's mail, and nothing else: the second factor is still
 * needed.
 */
import {
  findResetLink,
  queueAccountMail,
  type ResetLink,
  useResetLink,
} from "@sitewright/server/store/company/accountMails.ts";
import {
  endSessions,
  findSignInUser,
  holdPassword,
  resetPassword,
  type SignInUser,
} from "@sitewright/server/store/company/sessions.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { Refused } from "../failures.ts";
import { linkOrigin } from "./linkOrigin.ts";
import { requireStrongPassword } from "./newPasswords.ts";
import { recordBy, type VisitorContext } from "./newSessions.ts";
import { obstacleOf } from "./passkeyPlaces.ts";
import { hashPassword } from "./passwords.ts";
import { providerOption } from "./providerSignIns.ts";
import { countResetRequest, forgetAccountFailures } from "./signInLock.ts";
import { inPasswordTurn } from "./signIns.ts";
import { isSameHash, readToken } from "./token.ts";

export const resetMinutes = 30;

/** How people can sign in at the address of the request. */
export function signInOptions(context: VisitorContext) {
  const { settings, hasMailServer, origin } = context;
  return {
    provider: providerOption(context),
    resets_passwords_by_mail: hasMailServer && linkOrigin(settings, origin) !== null,
    passkeys_unavailable_because: obstacleOf(origin),
  };
}

/** Has a link mailed to the address, if somebody has it. Throws `Refused` if the installation sends no mail, or after too many. */
export async function request(context: VisitorContext, email: string) {
  const { settings, hasMailServer, visitor } = context;
  const origin = linkOrigin(settings, context.origin);
  if (!hasMailServer || origin === null) {
    throw new Refused(
      "no_resets_by_mail",
      "This installation doesn't mail links. Ask the operator for a new password (users reset-password).",
    );
  }
  const address = email.trim();
  await context.inTransaction(async (transaction) => {
    await countResetRequest(transaction, { email: address, ipAddress: visitor.ipAddress });
    await queueAccountMail(transaction, { kind: "password-reset", email: address, origin });
  });
  return { valid_minutes: resetMinutes };
}

/** For the person who has the link. Throws `Refused` if it is not valid. */
export async function check({ database }: VisitorContext, token: string) {
  const { user, link } = await usable(database, token);
  return { email: user.email, expires_at: link.expires_at.toISOString() };
}

interface Completion {
  readonly token: string;
  readonly new_password: string;
}

/** Changes the password, and ends all sessions of the user. Throws `Refused` if the link is not valid, or the password is weak. */
export async function complete(context: VisitorContext, { token, new_password }: Completion) {
  const { database, visitor } = context;
  const { user } = await usable(database, token);
  const known = [...user.email.split(/[@.]/), ...user.full_name.split(/\s+/u), user.company_name];
  const hash = await inPasswordTurn(context, visitor.ipAddress, async () => {
    requireStrongPassword(new_password, known);
    return hashPassword(new_password);
  });
  await context.inTransaction(async (transaction) => {
    // Of several at once, with this link or another one of the user, one uses it. The user is locked first, as by every change of a
    // password: otherwise, each of two links could wait for the other.
    const isUnchanged = await holdPassword(transaction, user.id, user.password_hash);
    if (!isUnchanged || !(await useResetLink(transaction, readToken(token, "reset").id))) throw unusable();
    await resetPassword(transaction, user.id, hash, { mustChange: false });
    await endSessions(transaction, user.id, "all");
    await forgive(transaction, user, visitor.ipAddress);
    await recordBy(transaction, user, visitor, "resetOwnPassword", {});
  });
  context.identities.forgetKeys(user.company_id);
  return { email: user.email };
}

/** Forgets wrong passwords, unless they may have been wrong codes: links would then allow to guess more codes. */
async function forgive(transaction: DatabaseTransaction, user: SignInUser, ipAddress: string): Promise<void> {
  if (user.second_factor_since === null) await forgetAccountFailures(transaction, { account: user.id, ipAddress });
}

async function usable(
  database: Database,
  token: string,
): Promise<{ readonly user: SignInUser; readonly link: ResetLink }> {
  const { id, secretHash } = readToken(token, "reset");
  const link = await findResetLink(database, id);
  if (link === null || !isSameHash(link.secret_hash, secretHash)) throw unusable();
  const user = await findSignInUser(database, { id: link.user_id });
  if (user === null) throw unusable();
  return { user, link };
}

function unusable(): Refused {
  return new Refused("password_reset_unusable", "This link is unknown, has expired, or was used. Ask for a new one.");
}
