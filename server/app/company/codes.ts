/** Checks and uses up codes of second factors. */
import { type LockedSecondFactor, useRecoveryCode, useStep } from "@sitewright/server/store/company/secondFactors.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { App } from "../context.ts";
import { Refused } from "../failures.ts";
import { recoveryHash } from "./recoveryCodes.ts";
import { stepOf } from "./totp.ts";

interface Factor {
  readonly userId: string;
  readonly locked: LockedSecondFactor;
}

interface AppSecret {
  readonly userId: string;
  readonly sealed: Buffer;
}

/** What the sealed secret of the user is bound to. */
export const sealedFor = (userId: string): string => `second-factor:${userId}`;

/** Uses up a code of the app. Returns whether it was right, and neither it nor a later one was used before. */
export async function useAppCode(
  { sealer }: Pick<App, "sealer">,
  transaction: DatabaseTransaction,
  { userId, sealed }: AppSecret,
  code: string,
): Promise<boolean> {
  const secret = sealer.open(sealed, sealedFor(userId));
  const step = stepOf(secret, code.replace(/\s/gu, ""), Date.now());
  return step !== null && useStep(transaction, userId, step);
}

/** Uses up a code of the app or a recovery code. Null: it was none of them. */
export async function useAnyCode(
  app: Pick<App, "sealer">,
  transaction: DatabaseTransaction,
  { userId, locked: { sealed, appSince } }: Factor,
  code: string,
): Promise<"app" | "recovery" | null> {
  const hasApp = sealed !== null && appSince !== null;
  if (hasApp && (await useAppCode(app, transaction, { userId, sealed }, code))) return "app";
  const hash = recoveryHash(userId, code);
  return (await useRecoveryCode(transaction, userId, hash)) ? "recovery" : null;
}

export function wrongCode(): Refused {
  const message =
    "The code is wrong, too old, or was used before. Wait for the next one, and check the time of your device.";
  return new Refused("wrong_code", message);
}
