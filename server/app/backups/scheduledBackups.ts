/** Starts scheduled backups. */
import type { AddScheduledBackupInput } from "@sitewright/server/operations/backups/addScheduledBackup.ts";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { chooseDueBackup, noteBackupBegun } from "@sitewright/server/store/backups/scheduledBackups.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import type { Settings } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";

/** See `server/reconcilers/scheduleBackups.ts`. */
interface Schedule {
  readonly now: Date;
  readonly atOnce: number;
  readonly nextMoment: (environmentId: string) => Date;
  readonly pauseAfter: (failures: number) => number | null;
}

/**
 * Returns a function that starts the most overdue backup and returns whether there was one. The operation holds no lock, so
 * it never blocks other operations.
 */
export function makeScheduledBackup(options: {
  readonly database: Database;
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}): (schedule: Schedule) => Promise<boolean> {
  return ({ now, atOnce, nextMoment, pauseAfter }) =>
    options.database.transaction().execute(async (transaction) => {
      const due = await chooseDueBackup(transaction, now, atOnce);
      if (due === null) return false;
      const { environment, failures } = due;
      await noteBackupBegun(transaction, { id: environment.id, dueAt: nextMoment(environment.id) });
      const input: AddScheduledBackupInput = {
        environment: environmentInput(environment),
        address: addressOf(options.settings, environment),
        isRetry: failures > 0,
        againAfter: pauseAfter(failures + 1),
      };
      await options.acceptOperation(transaction, {
        kind: "addScheduledBackup",
        companyId: environment.company_id,
        siteId: environment.site_id,
        environmentId: environment.id,
        locks: [],
        input,
        whenBusy: "fail",
        actor: systemActor,
        activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
      });
      return true;
    });
}
