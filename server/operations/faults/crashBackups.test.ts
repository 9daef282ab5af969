/** Crash tests for backups. A new operation is one line in `describeCrashes`. */
import {
  backingUp,
  backingUpOnSchedule,
  comparingRestore,
  removingBackup,
  restoringBackup,
  restoringFile,
} from "../../testing/backups.ts";
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
    "previewing a restore": comparingRestore,
    "restoring a deleted site": restoringDeletedSite,
    "test-restoring a backup": testingBackup,
    "rebuilding an environment": rebuildingEnvironment,
  },
  {
    "restoring a deleted environment": restoringDeletedEnvironment,
    "restoring one file": restoringFile,
  },
);
