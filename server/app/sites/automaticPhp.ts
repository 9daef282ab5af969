/** Starts the automatic change of an environment's PHP version when the version has reached its end of life. */
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import type { ModifyPhpVersionInput } from "@sitewright/server/operations/sites/modifyPhpVersion.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Settings } from "../context.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

/** Returns a function that starts the change; it is queued if the environment is busy. */
export function makePhpUpdate(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (environment: EnvironmentFacts, version: string) => Promise<void> {
  return async (environment, version) => {
    const input: ModifyPhpVersionInput = {
      environment: environmentInput(environment),
      to: version,
      address: addressOf(options.settings, environment),
      isOptOut: null,
      onlyFrom: environment.php_version,
    };
    await options.database.transaction().execute((transaction) =>
      options.acceptOperation(transaction, {
        kind: "modifyPhpVersion",
        companyId: environment.company_id,
        siteId: environment.site_id,
        environmentId: environment.id,
        locks: [environment.id],
        input,
        whenBusy: "queue",
        actor: systemActor,
        activityParameters: {
          environmentName: environment.display_name,
          siteName: environment.site_display_name,
          phpVersion: version,
        },
      }),
    );
  };
}
