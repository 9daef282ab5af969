/** Sessions of the caller's user, and their password. */
import {
  endSessions,
  findSignInUser,
  listSessions,
  replacePassword,
  type ShownSession,
  type SignInUser,
} from "@sitewright/server/store/company/sessions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";
import { requireStrongPassword } from "./newPasswords.ts";
import { checkOwnPassword } from "./ownPassword.ts";
import { hashPassword } from "./passwords.ts";
import { permissionsOf } from "./permissions.ts";
import { inPasswordTurn } from "./signIns.ts";
import { initialsImage } from "./users.ts";

/** `currentId`: the session of the request. */
export function sessionView(session: ShownSession, currentId: string) {
  const { id, created_at, last_used_at, expires_at, ip_address, browser_name, os_name } = session;
  return {
    id,
    is_current: id === currentId,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
    expires_at: expires_at.toISOString(),
    ip_address,
    browser_name,
    os_name,
  };
}

export function signedInView(user: SignInUser, session: ShownSession) {
  const { id, email, full_name, first_name, role } = user;
  return {
    session: sessionView(session, session.id),
    user: {
      id,
      email,
      full_name,
      first_name,
      role,
      site_ids: user.site_ids && [...user.site_ids],
      image: initialsImage(full_name),
    },
    company: { id: user.company_id, name: user.company_name },
    permissions: permissionsOf(user),
    is_operator: user.is_operator,
    must_change_password: user.must_change_password,
    has_second_factor: user.second_factor_since !== null,
    must_add_second_factor: user.requires_second_factor && user.second_factor_since === null,
  };
}

/** The session of the request, with its user. */
export async function current({ database, caller }: Context) {
  const [user, sessions] = await Promise.all([
    findSignInUser(database, { id: caller.userId }),
    listSessions(database, caller.userId),
  ]);
  const session = sessions.find(({ id }) => id === caller.keyId);
  // It ended a moment ago.
  if (user === null || session === undefined) throw new NotFound();
  return signedInView(user, session);
}

/** The user's sessions. */
export async function list({ database, caller }: Context) {
  const sessions = await listSessions(database, caller.userId);
  return sessions.map((session) => sessionView(session, caller.keyId));
}

/** Ends the session with that id. Throws `NotFound` if the user has no such session, or it has ended. */
export function end(context: Context, sessionId: string) {
  const { caller } = context;
  return changeKeys(context, async (transaction) => {
    const [ended] = await endSessions(transaction, caller.userId, { only: sessionId.toLowerCase() });
    if (ended === undefined) throw new NotFound();
    await record(context, transaction, "endSession");
    return sessionView(ended, caller.keyId);
  });
}

/** Ends all sessions of the user except that of the request. */
export function endOthers(context: Context) {
  const { caller } = context;
  return changeKeys(context, async (transaction) => {
    const ended = await endSessions(transaction, caller.userId, { except: caller.keyId });
    if (ended.length > 0) await record(context, transaction, "endOtherSessions");
    return ended.map((session) => sessionView(session, caller.keyId));
  });
}

interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
}

/**
 * Changes the password of the user, and ends their other sessions. Throws `Refused` if the present password is wrong, or the new one
 * is easy to guess.
 */
export async function changePassword(context: Context, { current_password, new_password }: PasswordChange) {
  const { caller, actor } = context;
  const user = await checkOwnPassword(context, current_password);
  if (new_password === current_password) {
    throw new Refused("password_too_weak", "This is the present password. Choose another one.");
  }
  const { email, full_name, company_name } = user;
  const known = [...email.split(/[@.]/), ...full_name.split(/\s+/u), company_name];
  const hash = await inPasswordTurn(context, actor.ipAddress ?? "", async () => {
    requireStrongPassword(new_password, known);
    return hashPassword(new_password);
  });
  return changeKeys(context, async (transaction) => {
    if (!(await replacePassword(transaction, user.id, user.password_hash, hash))) {
      throw new Refused("wrong_credentials", "The password was changed a moment ago.");
    }
    await endSessions(transaction, user.id, { except: caller.keyId });
    await record(context, transaction, "changePassword");
    const [session] = (await listSessions(transaction, user.id)).filter(({ id }) => id === caller.keyId);
    if (session === undefined) throw new NotFound();
    return signedInView({ ...user, must_change_password: false }, session);
  });
}

async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: "endSession" | "endOtherSessions" | "changePassword",
): Promise<void> {
  await recordDone(context, transaction, { type, category: "userManagement", parameters: {} });
}
