/** The proof of a backup that nobody asked for: it is time for one. */
import { randomUUID } from "node:crypto";
import type { AcceptOperation } from "@sitewright/server/operations/accept.ts";
import type { ProveBackupInput } from "@sitewright/server/operations/proveBackup.ts";
import { nobody } from "@sitewright/server/store/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { nextEnvironmentNumber } from "@sitewright/server/store/environments.ts";
import { type BackupToProve, noteProofBegan } from "@sitewright/server/store/proofs.ts";
import { addressOf } from "./addresses.ts";
import type { Settings } from "./context.ts";

/** Gives what starts such a proof. It holds nothing, so that nobody's operation is refused because of it. */
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
        actor: nobody,
        activityParameters: { backupName, environmentName, siteName },
      });
    });
  };
}
