/** Starts an operation on one environment. */
import type { OperationRequest } from "@sitewright/server/operations/engine/accept.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";

/** Throws `NotFound` if there is no such environment. */
export async function requireEnvironment(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<EnvironmentFacts> {
  const environment = await environmentForOperation(database, environmentId);
  if (!environment) throw new NotFound();
  return environment;
}

interface EnvironmentOperation extends Pick<OperationRequest, "kind" | "input" | "locks"> {
  /** Parameters of the activity entry, in addition to the names of the environment and the site. */
  readonly names?: Readonly<Record<string, string>>;
}

/** The caller for whom an operation starts. */
export type Starter = Pick<Context, "acceptOperation" | "whenBusy" | "actor">;

/** Starts the operation. Returns its id. */
export async function startOn(
  starter: Starter,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { names, ...operation }: EnvironmentOperation,
): Promise<string> {
  const { operationId } = await starter.acceptOperation(transaction, {
    ...operation,
    companyId: environment.company_id,
    siteId: environment.site_id,
    environmentId: environment.id,
    whenBusy: starter.whenBusy,
    actor: starter.actor,
    activityParameters: {
      environmentName: environment.display_name,
      siteName: environment.site_display_name,
      ...names,
    },
  });
  return operationId;
}
