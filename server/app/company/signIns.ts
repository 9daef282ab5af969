/** Signs people in with e-mail address and password, and a second factor. */
import type { UsedPasskey } from "@sitewright/contract/company/webAuthn.ts";
import { listPasskeys } from "@sitewright/server/store/company/passkeys.ts";
import { findSecondFactor, lockSecondFactor } from "@sitewright/server/store/company/secondFactors.ts";
import { findSignInUser, holdPassword, type SignInUser } from "@sitewright/server/store/company/sessions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Static } from "typebox";
import type { App } from "../context.ts";
import { QueueFull, Refused } from "../failures.ts";
import { clientNetwork } from "../traffic/networks.ts";
import { type ChallengePurpose, useAnsweredChallenge } from "./challenges.ts";
import { useAnyCode, wrongCode } from "./codes.ts";
import { entryOf, recordBy, type SignedIn, startSession, type Visitor, type VisitorContext } from "./newSessions.ts";
import { passkeyHost } from "./passkeyPlaces.ts";
import { isPassword } from "./passwords.ts";
import { beginAttempt, endAttempt, withdrawAttempt } from "./signInLock.ts";
import { type Answer, passkeyRequest, usePasskey } from "./usedPasskeys.ts";

/** The second factor of a user who has one: either of the two. */
interface SentFactor {
  /** Of the authenticator app, or a recovery code. */
  readonly code?: string;
  readonly passkey?: Static<typeof UsedPasskey>;
}

interface SignInRequest extends SentFactor {
  readonly email: string;
  readonly password: string;
}

/** What else belongs to the sign-in, just before the session starts. */
type Also = (transaction: DatabaseTransaction) => Promise<void>;

/**
 * Starts a session. Throws `Refused`: in the same words and after the same time whether the user exists or not; and if a right password
 * came without the second factor that the user needs. That is no failure, but takes none back either: those who know the password could
 * otherwise guess codes without waiting.
 */
export async function signIn(context: VisitorContext, request: SignInRequest): Promise<SignedIn> {
  const email = request.email.trim();
  const found = await findSignInUser(context.database, { email });
  return signInWithPassword(context, { ...request, email, found });
}

/** Like `signIn`. `found`: the user with this address, if there is one. */
export async function signInWithPassword(
  context: VisitorContext,
  { found, email, password, ...sent }: SignInRequest & { readonly found: SignInUser | null },
  also: Also = async () => undefined,
): Promise<SignedIn> {
  const attempt = { account: accountOf(found, email), ipAddress: context.visitor.ipAddress };
  await context.inTransaction((transaction) => beginAttempt(transaction, attempt));
  const user = await withPassword(context, found, password);
  const factor = await givenFactor(context, user, sent);
  const signedIn = await context.inTransaction(async (transaction) => {
    if (!(await holdPassword(transaction, user.id, user.password_hash))) throw wrongCredentials();
    if ((await passesSecondFactor(context, transaction, user, factor)) === null) {
      await withdrawAttempt(transaction, attempt);
      return null;
    }
    await endAttempt(transaction, attempt);
    await also(transaction);
    return startSession(transaction, user, context);
  });
  return started(context, user, signedIn);
}

/**
 * Starts a session of a user who has proved in another way who they are. `also` must refuse if the proof has become invalid. Only codes
 * and passkeys count as attempts: no wait after wrong passwords holds up users without a second factor.
 */
export async function signInWithoutPassword(
  context: VisitorContext,
  user: SignInUser,
  sent: SentFactor,
  also: Also,
): Promise<SignedIn> {
  const attempt = { account: user.id, ipAddress: context.visitor.ipAddress };
  const isAttempt = sent.code !== undefined || sent.passkey !== undefined;
  if (isAttempt) await context.inTransaction((transaction) => beginAttempt(transaction, attempt));
  const factor = await givenFactor(context, user, sent);
  const signedIn = await context.inTransaction(async (transaction) => {
    const passed = await passesSecondFactor(context, transaction, user, factor);
    if (passed === null) return null;
    // A code that nobody has checked takes back no wrong passwords.
    if (isAttempt) await (passed === "used" ? endAttempt : withdrawAttempt)(transaction, attempt);
    await also(transaction);
    return startSession(transaction, user, context);
  });
  return started(context, user, signedIn);
}

/** Throws `Refused` if nothing was started, because a second factor is needed. */
async function started(context: VisitorContext, user: SignInUser, signedIn: SignedIn | null): Promise<SignedIn> {
  if (signedIn === null) throw await secondFactorNeeded(context, user);
  // It may have ended an older one.
  context.identities.forgetKeys();
  return signedIn;
}

type GivenFactor = { readonly code: string } | { readonly answer: Answer } | null;

const purposeOf = ({ id }: SignInUser): ChallengePurpose => ({ kind: "second-factor", subject: id });

/** Uses up the challenge of a passkey, in a transaction of its own. Null: there is no factor in the request. */
async function givenFactor(
  context: VisitorContext,
  user: SignInUser,
  { code, passkey: credential }: SentFactor,
): Promise<GivenFactor> {
  if (credential === undefined) return code === undefined ? null : { code };
  const { clientDataJSON } = credential.response;
  const challenge = await useAnsweredChallenge(context, context.inTransaction, clientDataJSON, purposeOf(user));
  return { answer: { credential, challenge, mustVerifyUser: false } };
}

/**
 * Returns whether the factor was used, or none is needed, whatever was sent. Null: one is needed, and there is none. Throws `Refused` if
 * it is wrong.
 */
async function passesSecondFactor(
  context: VisitorContext,
  transaction: DatabaseTransaction,
  user: SignInUser,
  factor: GivenFactor,
): Promise<"none" | "used" | null> {
  const locked = await lockSecondFactor(transaction, user.id);
  if (locked?.since == null) return "none";
  if (factor === null) return null;
  if ("answer" in factor) {
    await usePasskey(context, transaction, user, factor.answer);
    return "used";
  }
  const used = await useAnyCode(context, transaction, { userId: user.id, locked }, factor.code);
  if (used === null) {
    context.repeatedActivity.note({ ...entryOf(user, context.visitor), publicError: "The code was wrong." });
    throw wrongCode();
  }
  if (used === "recovery") await recordBy(transaction, user, context.visitor, "useRecoveryCode", {});
  return "used";
}

/** Says what the user can sign in with at this address, besides the password. */
async function secondFactorNeeded(context: VisitorContext, user: SignInUser): Promise<Refused> {
  const [factor, passkeys] = await Promise.all([
    findSecondFactor(context.database, user.id),
    listPasskeys(context.database, user.id),
  ]);
  const here = passkeys.filter(({ origin }) => origin === context.origin);
  const hasCode = factor !== null && (factor.app_since !== null || factor.recovery_codes_left > 0);
  const factors = [...(hasCode ? ["code"] : []), ...(here.length > 0 ? ["passkey"] : [])];
  return new Refused("second_factor_needed", neededMessage(factors, passkeys[0]?.origin), {
    factors,
    ...(here.length > 0 && {
      passkey_options: passkeyRequest(context, passkeyHost(context.origin), purposeOf(user), here),
    }),
  });
}

/** `elsewhere`: the address of a passkey. */
function neededMessage(factors: readonly string[], elsewhere: string | undefined): string {
  if (factors.length === 2) return "Use your passkey, or enter a code of your authenticator app or a recovery code.";
  if (factors.includes("passkey")) return "Use your passkey.";
  if (factors.includes("code")) return "Enter a code of your authenticator app, or a recovery code.";
  return `Your passkeys work at ${elsewhere ?? "another address"} only. Sign in there, or ask an owner to remove your second factor.`;
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
