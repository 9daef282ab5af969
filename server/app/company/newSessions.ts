/** Starts sessions of people who have proved who they are. */
import { endActivity, recordActivity } from "@sitewright/server/store/company/activity.ts";
import {
  endSessionOf,
  insertSession,
  type ShownSession,
  type SignInUser,
} from "@sitewright/server/store/company/sessions.ts";
import type { Actor, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { App, RequestDatabase } from "../context.ts";
import { describeBrowser } from "./actor.ts";
import { makeToken, readToken, type TokenFacts } from "./token.ts";

/** The sender of a request without a key. */
export interface Visitor {
  readonly ipAddress: string;
  readonly userAgent: string | undefined;
}

/** A request that needs no key. */
export interface VisitorContext extends App, RequestDatabase {
  readonly visitor: Visitor;
  /** The token in the cookie of the request, which may be that of an earlier session. */
  readonly earlierToken: TokenFacts;
  /** The cookie of a sign-in through the provider, or empty. */
  readonly signInCookie: string;
  /** This server as the visitor addressed it, or empty. The visitor can forge it. */
  readonly origin: string;
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

/**
 * Starts a session of the user, and records it in the activity log. It replaces the one that the browser had: nothing could end that one
 * from this browser, which has forgotten it. Call `identities.forgetKeys` afterwards.
 */
export async function startSession(
  transaction: DatabaseTransaction,
  user: SignInUser,
  { visitor, earlierToken }: Pick<VisitorContext, "visitor" | "earlierToken">,
): Promise<SignedIn> {
  const token = makeToken("session");
  const { browserName, osName } = describeBrowser(visitor.userAgent);
  await endSessionOf(transaction, earlierToken);
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
  type: "signIn" | "acceptInvitation" | "useRecoveryCode" | "resetOwnPassword" | "linkProviderAccount",
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  const id = await recordActivity(transaction, { ...entryOf(user, visitor), type, parameters });
  await endActivity(transaction, id, { hasFailed: false });
}

/** The entry of a sign-in in the activity log. */
export function entryOf(user: SignInUser, { ipAddress, userAgent }: Visitor) {
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
