/** Passkeys at the sign-in: what browsers are asked for, and the check of their answers. */
import { type KnownPasskey, lockPasskey, notePasskeyUse } from "@sitewright/server/store/company/passkeys.ts";
import type { SignInUser } from "@sitewright/server/store/company/sessions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { Refused } from "../failures.ts";
import {
  type AnsweredChallenge,
  type ChallengePurpose,
  challengeMilliseconds,
  makeChallenge,
  wrongPasskey,
} from "./challenges.ts";
import { entryOf, type VisitorContext } from "./newSessions.ts";
import { checkUsedPasskey, descriptors, type UsedCredential } from "./passkeyChecks.ts";

/** Options for the browser. `passkeys`: the accepted ones; empty: any of this host that the browser finds. */
export function passkeyRequest(
  context: Pick<VisitorContext, "sealer" | "origin">,
  host: string,
  purpose: ChallengePurpose,
  passkeys: readonly KnownPasskey[],
) {
  return {
    challenge: makeChallenge(context, purpose, context.origin),
    rpId: host,
    timeout: challengeMilliseconds,
    userVerification: purpose.kind === "sign-in" ? ("required" as const) : ("discouraged" as const),
    allowCredentials: descriptors(passkeys),
  };
}

/** A passkey that a browser has used, and the challenge that it answers. */
export interface Answer {
  readonly credential: UsedCredential;
  readonly challenge: AnsweredChallenge;
  /** By fingerprint or PIN, for example. */
  readonly mustVerifyUser: boolean;
}

/** Accepts a passkey of the user, who must be locked. Throws `Refused`, and notes it in the activity log, if it is none or invalid. */
export async function usePasskey(
  { repeatedActivity, visitor }: Pick<VisitorContext, "repeatedActivity" | "visitor">,
  transaction: DatabaseTransaction,
  user: SignInUser,
  { credential, challenge, mustVerifyUser }: Answer,
): Promise<void> {
  try {
    const passkey = await lockPasskey(transaction, user.id, credential.id);
    if (passkey === null) throw wrongPasskey("It is unknown here, or was removed.");
    const use = await checkUsedPasskey(credential, challenge, passkey, { mustVerifyUser });
    await notePasskeyUse(transaction, passkey.id, use);
  } catch (error) {
    if (error instanceof Refused) repeatedActivity.note({ ...entryOf(user, visitor), publicError: error.message });
    throw error;
  }
}
