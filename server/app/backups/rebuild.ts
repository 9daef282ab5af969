/** Starts the restore of an environment's content after a move to another machine. */
import type { RebuildEnvironmentInput } from "@sitewright/server/operations/backups/rebuildEnvironment.ts";
import type { AcceptOperation, OperationRequest } from "@sitewright/server/operations/engine/accept.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Settings } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";

/** `backupId` null: restores the latest intact backup. */
export function rebuildRequest(settings: Settings, environment: EnvironmentFacts, backupId: number | null) {
  const { id, company_id: companyId, site_id: siteId } = environment;
  const address = addressOf(settings, environment);
  return {
    kind: "rebuildEnvironment",
    companyId,
    siteId,
    environmentId: id,
    input: { environment: environmentInput(environment), address, backupId } satisfies RebuildEnvironmentInput,
    activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
  } as const satisfies Partial<OperationRequest>;
}

/** Returns a function that starts the restore without a request. It does nothing if the environment is gone. */
export function makeRebuild(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (environmentId: string) => Promise<void> {
  const { database, settings, acceptOperation } = options;
  return (environmentId) =>
    database.transaction().execute(async (transaction) => {
      const environment = await environmentForOperation(transaction, environmentId);
      if (!environment?.awaits_rebuild) return;
      const request = rebuildRequest(settings, environment, null);
      await acceptOperation(transaction, { ...request, locks: [environmentId], whenBusy: "fail", actor: systemActor });
    });
}
