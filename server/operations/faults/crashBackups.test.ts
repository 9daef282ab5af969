/** Backups through every crash. A new operation is one line in `describeCrashes`. */
import { backingUp, backingUpOnSchedule, removingBackup, restoringBackup } from "../../testing/backups.ts";
import { restoringDeletedEnvironment, restoringDeletedSite } from "../../testing/deleted.ts";
import { makingDownload } from "../../testing/downloads.ts";
import { rebuildingEnvironment } from "../../testing/rebuilds.ts";
import { testingBackup } from "../../testing/testRestores.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

describeCrashes(
  {
    "backing an environment up": backingUp,
    "backing an environment up on schedule": backingUpOnSchedule,
    "making a downloadable backup": makingDownload,
    "removing a backup": removingBackup,
    "restoring a backup": restoringBackup,
    "bringing a deleted site back": restoringDeletedSite,
    "proving a backup": testingBackup,
    "rebuilding an environment": rebuildingEnvironment,
  },
  {
    "bringing a deleted environment back": restoringDeletedEnvironment,
  },
);
