/** Starts automatic updates of plugins and themes. */
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database, PackageKind } from "@sitewright/server/store/database.ts";
import { findUpdatable } from "@sitewright/server/store/packages/packageUpdates.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Settings } from "../context.ts";
import { startUpdate, updateKinds, updateOf } from "./packageUpdateOperation.ts";

/** Returns a function that starts the updates of an environment; they are queued if it is busy. */
export function makeAutomaticUpdate(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (environmentId: string, kind: PackageKind, names: readonly string[]) => Promise<void> {
  const starter = { ...options, actor: systemActor, whenBusy: "queue" } as const;
  return async (environmentId, kind, names) => {
    await options.database.transaction().execute(async (transaction) => {
      const environment = await environmentForOperation(transaction, environmentId);
      if (environment === null) return;
      const found = await findUpdatable(transaction, environmentId, kind, names);
      const updates = found.flatMap((one) => (one.update_version === null ? [] : [updateOf(one, one.update_version)]));
      if (updates.length === 0) return;
      const operation = updates.length === 1 ? updateKinds[kind].one : updateKinds[kind].several;
      await startUpdate(starter, transaction, environment, { operation, kind, updates });
    });
  };
}
