/** Starts scheduled test restores of backups. */
import { randomUUID } from "node:crypto";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { nextEnvironmentNumber } from "@sitewright/server/store/sites/environments.ts";
import type { TestRestoreInput } from "../../operations/backups/testRestore.ts";
import { type BackupToTest, noteTestRestoreStarted } from "../../store/backups/testRestores.ts";
import type { Settings } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";

/** Returns a function that starts a test restore. It takes no lock, so it never blocks other operations. */
export function makeTestRestore(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (backup: BackupToTest) => Promise<void> {
  return async (backup) => {
    const { backupId, backupName, environmentId, environmentName, siteId, siteName, companyId } = backup;
    await options.database.transaction().execute(async (transaction) => {
      const input: TestRestoreInput = {
        backupId,
        environment: { id: environmentId, number: backup.environmentNumber, companyId },
        address: addressOf(options.settings, backup),
        scratch: {
          id: randomUUID(),
          number: await nextEnvironmentNumber(transaction),
          companyId,
          runtime: backup.runtime,
        },
      };
      await noteTestRestoreStarted(transaction, environmentId);
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
