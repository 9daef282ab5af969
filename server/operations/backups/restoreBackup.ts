/**
 * Restores a backup, or only its files or its database, over an environment. The backup is fetched from the archives,
 * verified, and becomes the environment's next release (`../steps/takeOver.ts`).
 */
import { findBackup } from "../../store/backups/backups.ts";
import { quotaOf } from "../../store/sites/diskUse.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { sharesTargetData } from "../sites/pushEnvironment.ts";
import { backupSpace, workName } from "../steps/backup.ts";
import { requireDiskSpace, reserveWithinQuota } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { addressChanges, backupGone, fetchBackup, sizeOfBackup } from "../steps/fetchBackup.ts";
import type { Services } from "../steps/services.ts";
import { takeOver } from "../steps/takeOver.ts";
import { frontPageOrMaintenance } from "../steps/trial.ts";

export type RestoreBackupInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly backupId: number;
  readonly backupName: string;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
  readonly only: "files" | "database" | null;
  /** Whether to skip the backup of the target's current state. */
  readonly withoutBackup: boolean;
};

/** Selects the parts of the backup to fetch. */
function isWanted(only: RestoreBackupInput["only"]): (path: string) => boolean {
  const unwanted = only === "files" ? "database" : only === "database" ? "public" : null;
  return (path) => unwanted === null || path === unwanted || !path.startsWith(`${unwanted}/`);
}

const bypassHint = 'To restore it anyway and lose the current state, send { "without_backup": true } with backup_id.';

function partsOf({ only }: RestoreBackupInput) {
  return { files: only === "database" ? "none" : "all", database: only === "files" ? "none" : "all" } as const;
}

/** Returns the name of the backup before a restore. It does not grow if restores are undone and repeated. */
function noteOf(backupName: string): string {
  const [, undone] = /^Before a restore of (.*)$/s.exec(backupName) ?? [];
  if (undone !== undefined) return `Before the restore of ${undone} was undone`;
  const [, redone] = /^Before the restore of (.*) was undone$/s.exec(backupName) ?? [];
  return `Before a restore of ${redone ?? backupName}`;
}

export function restoreBackup(services: Services): OperationDefinition<RestoreBackupInput> {
  const { database, runtime, archives } = services;

  async function backupOf({ backupId }: RestoreBackupInput) {
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure(backupGone);
    return backup;
  }

  /** Skipped if only files or only the database are restored, because the rest of the environment stays as it is. */
  async function requireQuota({ input, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    if (input.only !== null || (await quotaOf(database, input.target.id, services.diskQuotaBytes)) === null) return;
    const { files, database: rows } = await sizeOfBackup(services, await backupOf(input), signal);
    await reserveWithinQuota(services, input.target, files + rows, "The restore");
  }

  async function build({ input, operationId, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    const { target, token, address, only } = input;
    const backup = await backupOf(input);
    const work = workName(operationId);
    const folder = await fetchBackup(services, { backup, work, isWanted: isWanted(only) }, signal);
    const addresses = addressChanges(backup, address);
    await runtime.stage({
      environment: target,
      source: { folder, companyId: backup.companyId },
      token,
      addresses,
      ...partsOf(input),
    });
    await archives.removeWorkFolder(work);
  }

  return {
    kind: "restoreBackup",
    turnFrom: "stage",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async (context) => {
          const { input } = context;
          const { bytes } = await backupOf(input);
          await requireQuota(context);
          // Needed twice: for the fetched backup, and for the next release.
          const before = await backupSpace(database, input.target);
          const copies = [input.withoutBackup ? { ...before, files: 0, database: 0 } : before];
          await requireDiskSpace(runtime, { copies, moreBytes: 2 * bytes }, "The restore");
        },
      },
      {
        name: "stage",
        deadlineSeconds: 7_200,
        run: build,
        undo: async ({ input, operationId }) => {
          await runtime.unstage(input.target, input.token);
          await archives.removeWorkFolder(workName(operationId));
        },
      },
      ...takeOver<RestoreBackupInput>(services, {
        what: "The restored site",
        note: ({ backupName }) => noteOf(backupName),
        withoutBackup: { bypassHint, isChosen: (input) => input.withoutBackup },
        pages: () => [frontPageOrMaintenance],
        sharesTargetData: (input) => sharesTargetData(partsOf(input)),
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
