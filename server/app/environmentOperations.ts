/** What starting an operation on one environment has in common, whatever is done there. */
import type { OperationRequest } from "@sitewright/server/operations/accept.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/environmentStates.ts";
import type { Context } from "./context.ts";
import { NotFound } from "./failures.ts";

/** Throws `NotFound` where there is none to be seen. */
export async function requireEnvironment(
  transaction: DatabaseTransaction,
  environmentId: string,
): Promise<EnvironmentFacts> {
  const environment = await environmentForOperation(transaction, environmentId);
  if (!environment) throw new NotFound();
  return environment;
}

export interface EnvironmentOperation extends Pick<OperationRequest, "kind" | "input" | "locks"> {
  /** What its activity entry names, besides the environment and its site. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Gives the operation's id. */
export async function startOn(
  context: Context,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { names, ...operation }: EnvironmentOperation,
): Promise<string> {
  const { operationId } = await context.acceptOperation(transaction, {
    ...operation,
    companyId: environment.company_id,
    siteId: environment.site_id,
    environmentId: environment.id,
    whenBusy: context.whenBusy,
    actor: context.actor,
    activityParameters: {
      environmentName: environment.display_name,
      siteName: environment.site_display_name,
      ...names,
    },
  });
  return operationId;
}
