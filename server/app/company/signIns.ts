/** Signs people in with e-mail address and password. */
import { endActivity, recordActivity } from "@sitewright/server/store/company/activity.ts";
import { lockSecondFactor } from "@sitewright/server/store/company/secondFactors.ts";
import {
  findSignInUser,
  holdPassword,
  insertSession,
  type ShownSession,
  type SignInUser,
} from "@sitewright/server/store/company/sessions.ts";
import type { Actor, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { App, RequestDatabase } from "../context.ts";
import { QueueFull, Refused } from "../failures.ts";
import { clientNetwork } from "../traffic/networks.ts";
import { describeBrowser } from "./actor.ts";
import { useAnyCode, wrongCode } from "./codes.ts";
import { isPassword } from "./passwords.ts";
import { beginAttempt, endAttempt, withdrawAttempt } from "./signInLock.ts";
import { makeToken, readToken } from "./token.ts";

/** The sender of a request without a key. */
export interface Visitor {
  readonly ipAddress: string;
  readonly userAgent: string | undefined;
}

/** A request that needs no key. */
export interface VisitorContext extends App, RequestDatabase {
  readonly visitor: Visitor;
}

export interface SignedIn {
  readonly user: SignInUser;
  readonly session: ShownSession;
  /** Goes into the cookie, and is stored nowhere. */
  readonly token: string;
}

/** Seconds after which a session ends in any case. */
export const sessionSeconds = 14 * 24 * 60 * 60;
const maxSessions = 50;

interface SignInRequest {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, if the user has one. */
  readonly code?: string;
}

/**
 * Starts a session. Throws `Refused`: in the same words and after the same time whether the user exists or not; and if a right password
 * came without the code that the user needs. That is no failure, but takes none back either: those who know the password could
 * otherwise guess codes without waiting.
 */
export async function signIn(context: VisitorContext, request: SignInRequest): Promise<SignedIn> {
  const { database, visitor } = context;
  const email = request.email.trim();
  const found = await findSignInUser(database, { email });
  const attempt = { account: accountOf(found, email), ipAddress: visitor.ipAddress };
  await context.inTransaction((transaction) => beginAttempt(transaction, attempt));
  const user = await withPassword(context, found, request.password);
  const signedIn = await context.inTransaction(async (transaction) => {
    if (!(await holdPassword(transaction, user.id, user.password_hash))) throw wrongCredentials();
    if (!(await passesSecondFactor(context, transaction, user, request.code))) {
      await withdrawAttempt(transaction, attempt);
      return null;
    }
    await endAttempt(transaction, attempt);
    return startSession(transaction, user, visitor);
  });
  if (signedIn === null) {
    throw new Refused("second_factor_needed", "Enter a code of your authenticator app, or a recovery code.");
  }
  // It may have ended an older one.
  context.identities.forgetKeys();
  return signedIn;
}

/** Returns false if a code is needed and there is none. Throws `Refused` if it is wrong. */
async function passesSecondFactor(
  context: VisitorContext,
  transaction: DatabaseTransaction,
  user: SignInUser,
  code: string | undefined,
): Promise<boolean> {
  const locked = await lockSecondFactor(transaction, user.id);
  if (locked?.since == null) return true;
  if (code === undefined) return false;
  const used = await useAnyCode(context, transaction, { userId: user.id, locked }, code);
  if (used === null) {
    context.repeatedActivity.note({ ...entryOf(user, context.visitor), publicError: "The code was wrong." });
    throw wrongCode();
  }
  if (used === "recovery") await recordBy(transaction, user, context.visitor, "useRecoveryCode", {});
  return true;
}

/** The account of which attempts are counted: addresses that nobody has count like those of users. */
export const accountOf = (user: SignInUser | null, email: string): string => user?.id ?? email.toLowerCase();

/**
 * Returns the user if the password is theirs. Throws `Refused` if it is not, or there is no user, which takes as long. Networks take
 * turns, because the check uses much of a processor. Throws `QueueFull` if their turn does not come soon.
 */
export async function withPassword(
  context: Pick<App, "passwordTurns" | "repeatedActivity"> & { readonly visitor: Visitor },
  user: SignInUser | null,
  password: string,
): Promise<SignInUser> {
  const { repeatedActivity, visitor } = context;
  const isRight = await inPasswordTurn(context, visitor.ipAddress, () =>
    isPassword(password, user?.password_hash ?? null),
  );
  if (isRight && user !== null) return user;
  if (user !== null) repeatedActivity.note({ ...entryOf(user, visitor), publicError: "The password was wrong." });
  throw wrongCredentials();
}

const turnMilliseconds = 15_000;

/** Hashes a password when it is the network's turn. Throws `QueueFull` if that does not come soon. */
export function inPasswordTurn<T>(
  { passwordTurns }: Pick<App, "passwordTurns">,
  ipAddress: string,
  work: () => Promise<T>,
): Promise<T> {
  const soon = AbortSignal.timeout(turnMilliseconds);
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  return passwordTurns.run(clientNetwork(ipAddress), begin, soon).catch((error: unknown) => {
    throw hasBegun ? error : new QueueFull();
  });
}

function wrongCredentials(): Refused {
  return new Refused("wrong_credentials", "The e-mail address or the password is wrong.");
}

/** Starts a session of the user, and records it in the activity log. */
export async function startSession(
  transaction: DatabaseTransaction,
  user: SignInUser,
  visitor: Visitor,
): Promise<SignedIn> {
  const token = makeToken("session");
  const { browserName, osName } = describeBrowser(visitor.userAgent);
  const session = await insertSession(
    transaction,
    {
      ...readToken(token, "session"),
      companyId: user.company_id,
      userId: user.id,
      expiresAt: new Date(Date.now() + sessionSeconds * 1000),
      ipAddress: visitor.ipAddress,
      browserName,
      osName,
    },
    maxSessions,
  );
  await recordBy(transaction, user, visitor, "signIn", { count: "1" });
  return { user, session, token };
}

/** Records in the activity log that the user has done something without having signed in before. */
export async function recordBy(
  transaction: DatabaseTransaction,
  user: SignInUser,
  visitor: Visitor,
  type: "signIn" | "acceptInvitation" | "useRecoveryCode",
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  const id = await recordActivity(transaction, { ...entryOf(user, visitor), type, parameters });
  await endActivity(transaction, id, { hasFailed: false });
}

/** The entry of a sign-in in the activity log. */
function entryOf(user: SignInUser, { ipAddress, userAgent }: Visitor) {
  const actor: Actor = {
    userId: user.id,
    userRole: user.role,
    userFullName: user.full_name,
    userFirstName: user.first_name,
    apiKeyId: null,
    apiKeyName: null,
    ipAddress,
    ...describeBrowser(userAgent),
  };
  const place = { companyId: user.company_id, siteId: null, category: "userManagement" } as const;
  return { ...place, type: "signIn", parameters: {}, actor } as const;
}
