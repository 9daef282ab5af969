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

/** What the sealed secret of the user is bound to. */
export const sealedFor = (userId: string): string => `second-factor:${userId}`;

/** Uses up a code of the app. Returns whether it was right, and neither it nor a later one was used before. */
export async function useAppCode(
  { sealer }: Pick<App, "sealer">,
  transaction: DatabaseTransaction,
  { userId, locked }: Factor,
  code: string,
): Promise<boolean> {
  const secret = sealer.open(locked.sealed, sealedFor(userId));
  const step = stepOf(secret, code.replace(/\s/gu, ""), Date.now());
  return step !== null && useStep(transaction, userId, step);
}

/** Uses up a code of the app or a recovery code. Null: it was none of them. */
export async function useAnyCode(
  app: Pick<App, "sealer">,
  transaction: DatabaseTransaction,
  factor: Factor,
  code: string,
): Promise<"app" | "recovery" | null> {
  if (await useAppCode(app, transaction, factor, code)) return "app";
  const hash = recoveryHash(factor.userId, code);
  return (await useRecoveryCode(transaction, factor.userId, hash)) ? "recovery" : null;
}

export function wrongCode(): Refused {
  const message =
    "The code is wrong, too old, or was used before. Wait for the next one, and check the time of your device.";
  return new Refused("wrong_code", message);
}
