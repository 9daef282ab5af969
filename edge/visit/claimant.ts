/** Whose shares a visit uses. */
import type { Claimant } from "../bodies/budget.ts";
import { networkOf } from "../http/network.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import type { Visit } from "./visit.ts";

/** The account that is charged for what an environment uses: its company, or itself if the table names none. */
export function payerOf({ id, companyId = id }: EdgeEnvironment): string {
  return companyId;
}

/** Requests that PHP sends to its own site come from no visitor's network. */
export function claimantOf({ address, fromPhp, route }: Pick<Visit, "address" | "fromPhp" | "route">): Claimant {
  return { payer: payerOf(route.environment), network: fromPhp ? null : networkOf(address) };
}
