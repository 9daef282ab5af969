/** Starts scheduled test restores of backups. */
import { randomUUID } from "node:crypto";
import type { ProveBackupInput } from "@sitewright/server/operations/backups/proveBackup.ts";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { type BackupToProve, noteProofBegan } from "@sitewright/server/store/backups/proofs.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { nextEnvironmentNumber } from "@sitewright/server/store/sites/environments.ts";
import type { Settings } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";

/** Returns a function that starts a test restore. It takes no lock, so it never blocks other operations. */
export function makeProof(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (backup: BackupToProve) => Promise<void> {
  return async (backup) => {
    const { backupId, backupName, environmentId, environmentName, siteId, siteName, companyId } = backup;
    await options.database.transaction().execute(async (transaction) => {
      const input: ProveBackupInput = {
        backupId,
        environment: { id: environmentId, number: backup.environmentNumber },
        address: addressOf(options.settings, backup),
        scratch: { id: randomUUID(), number: await nextEnvironmentNumber(transaction) },
      };
      await noteProofBegan(transaction, environmentId);
      await options.acceptOperation(transaction, {
        kind: "proveBackup",
        companyId,
        siteId,
        environmentId,
        locks: [],
        input,
        whenBusy: "queue",
        actor: systemActor,
        activityParameters: { backupName, environmentName, siteName },
      });
    });
  };
}
