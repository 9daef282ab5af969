/** Signs people in with a passkey alone, which must have checked its user: it is then two factors in one. */
import { findPasskeyUser } from "@sitewright/server/store/company/passkeys.ts";
import { lockSecondFactor } from "@sitewright/server/store/company/secondFactors.ts";
import { findSignInUser } from "@sitewright/server/store/company/sessions.ts";
import { useAnsweredChallenge, wrongPasskey } from "./challenges.ts";
import { type SignedIn, startSession, type VisitorContext } from "./newSessions.ts";
import type { UsedCredential } from "./passkeyChecks.ts";
import { passkeyHost } from "./passkeyPlaces.ts";
import { passkeyRequest, usePasskey } from "./usedPasskeys.ts";

const purpose = { kind: "sign-in", subject: "" } as const;

/** Options for the browser. Throws `Refused` if the page can't use passkeys. */
export function begin(context: VisitorContext) {
  return { options: passkeyRequest(context, passkeyHost(context.origin), purpose, []) };
}

/** Starts a session. Wrong attempts are not counted: nobody can guess a signature. Throws `Refused`. */
export async function signInWithPasskey(context: VisitorContext, credential: UsedCredential): Promise<SignedIn> {
  const { clientDataJSON, userHandle } = credential.response;
  const challenge = await useAnsweredChallenge(context, context.inTransaction, clientDataJSON, purpose);
  const signedIn = await context.inTransaction(async (transaction) => {
    const userId = await findPasskeyUser(transaction, credential.id);
    // Users are always locked before their passkeys.
    if (userId === null || (await lockSecondFactor(transaction, userId)) === null) throw unknown();
    const user = await findSignInUser(transaction, { id: userId });
    if (user === null || (userHandle !== undefined && userHandle !== handleOf(userId))) throw unknown();
    await usePasskey(context, transaction, user, { credential, challenge, mustVerifyUser: true });
    return startSession(transaction, user, context);
  });
  context.identities.forgetKeys();
  return signedIn;
}

const unknown = () => wrongPasskey("It is unknown here, or was removed.");

/** The id of the user as their passkeys store it. */
const handleOf = (userId: string): string => Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
