/** Environments in the input of operations. */
import type { EnvironmentInput } from "@sitewright/server/operations/steps/environmentInput.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";

export function environmentInput({
  id,
  number,
  company_id: companyId,
}: Pick<EnvironmentFacts, "id" | "number" | "company_id">): EnvironmentInput {
  return { id, number, companyId };
}
