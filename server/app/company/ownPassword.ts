/** Asks the person of a session for their password again, before what a stolen session must not be able to do. */
import { findSignInUser, type SignInUser } from "@sitewright/server/store/company/sessions.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { beginAttempt, endAttempt } from "./signInLock.ts";
import { accountOf, withPassword } from "./signIns.ts";

/** Returns the session's user if the password is theirs. Throws `Refused`; wrong ones count like those at the sign-in. */
export async function checkOwnPassword(context: Context, password: string): Promise<SignInUser> {
  const { database, caller, actor, passwordTurns, repeatedActivity } = context;
  const found = await findSignInUser(database, { id: caller.userId });
  if (found === null) throw new NotFound();
  const ipAddress = actor.ipAddress ?? "";
  const attempt = { account: accountOf(found, found.email), ipAddress };
  await context.inOwnTransaction((transaction) => beginAttempt(transaction, attempt));
  const visitor = { ipAddress, userAgent: undefined };
  const user = await withPassword({ passwordTurns, repeatedActivity, visitor }, found, password);
  await context.inOwnTransaction((transaction) => endAttempt(transaction, attempt));
  return user;
}
