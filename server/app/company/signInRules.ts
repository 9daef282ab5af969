/** What a company requires of its users when they sign in. */
import {
  findSecondFactor,
  isSecondFactorRequired,
  requireSecondFactor,
} from "@sitewright/server/store/company/secondFactors.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { recordDone } from "./activityEntries.ts";
import { changeKeys } from "./apiKeys.ts";

interface SignInRules {
  readonly requires_second_factor: boolean;
}

export async function get({ database, caller }: Context): Promise<SignInRules> {
  return { requires_second_factor: await isSecondFactorRequired(database, caller.companyId) };
}

/** Throws `Refused` if the caller would require of others what they don't have: a mistake would lock everybody up. */
export function change(context: Context, { requires_second_factor: isRequired }: SignInRules): Promise<SignInRules> {
  const { companyId, userId } = context.caller;
  return changeKeys(context, async (transaction) => {
    if ((await isSecondFactorRequired(transaction, companyId)) === isRequired)
      return { requires_second_factor: isRequired };
    if (isRequired && (await findSecondFactor(transaction, userId))?.since == null) {
      throw new Refused(
        "no_second_factor",
        "Add a second factor to your own account before you require one of everybody.",
      );
    }
    await requireSecondFactor(transaction, companyId, isRequired);
    const type = isRequired ? "requireSecondFactor" : "stopRequiringSecondFactor";
    await recordDone(context, transaction, { type, category: "userManagement", parameters: {} });
    return { requires_second_factor: isRequired };
  });
}
