/**
 * A backup, or its files or its database alone, in the place of what an environment is now. It is fetched from the archives,
 * each piece of it held against its hash, and becomes the environment's next release (`../steps/takeOver.ts`).
 */
import { findBackup } from "../../store/backups/backups.ts";
import { quotaOf } from "../../store/sites/diskUse.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { sharesOwn } from "../sites/pushEnvironment.ts";
import { backupRoom, workName } from "../steps/backup.ts";
import { requireRoom, requireWithinQuota } from "../steps/diskRoom.ts";
import { backupGone, fetchBackup, moves, sizeOfBackup } from "../steps/fetchBackup.ts";
import type { Services } from "../steps/services.ts";
import { takeOver } from "../steps/takeOver.ts";
import { frontPageOrClosed } from "../steps/trial.ts";

export type RestoreBackupInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly backupId: number;
  /** How people know the backup. */
  readonly backupName: string;
  readonly target: { readonly id: string; readonly number: number };
  /** Of the target. */
  readonly address: string;
  readonly only: "files" | "database" | null;
  /** Whether what the target is now is not backed up before. */
  readonly withoutBackup: boolean;
};

/** `database` of a backup of which the files alone are restored is not even fetched. */
function isWanted(only: RestoreBackupInput["only"]): (path: string) => boolean {
  const unwanted = only === "files" ? "database" : only === "database" ? "public" : null;
  return (path) => unwanted === null || path === unwanted || !path.startsWith(`${unwanted}/`);
}

const bypassHint =
  'To restore it all the same, and lose what the environment is now, send { "without_backup": true } with backup_id.';

function partsOf({ only }: RestoreBackupInput) {
  return { files: only === "database" ? "none" : "all", database: only === "files" ? "none" : "all" } as const;
}

/** Who goes to and fro gets names that say so, and none that grows each time. */
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

  /** Where a part of what it is now stays, it may be too large already. */
  async function requireQuota({ input, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    const quota = await quotaOf(database, input.target.id, services.diskQuotaBytes);
    if (quota === null || input.only !== null) return;
    const { files, database: rows } = await sizeOfBackup(services, await backupOf(input), signal);
    requireWithinQuota(files + rows, quota, "The restore");
  }

  async function build({ input, operationId, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    const { target, token, address, only } = input;
    const backup = await backupOf(input);
    const work = workName(operationId);
    const folder = await fetchBackup(services, { backup, work, isWanted: isWanted(only) }, signal);
    const addresses = moves(backup, address);
    await runtime.stage({ environment: target, source: { folder }, token, addresses, ...partsOf(input) });
    await archives.removeWorkFolder(work);
  }

  return {
    kind: "restoreBackup",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async (context) => {
          const { input } = context;
          const { bytes } = await backupOf(input);
          await requireQuota(context);
          // Once as it comes from the archives, and once as the next release.
          const before = await backupRoom(database, input.target);
          const copies = [input.withoutBackup ? { ...before, files: 0, database: 0 } : before];
          await requireRoom(runtime, { copies, moreBytes: 2 * bytes }, "The restore");
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
        what: "What would be restored",
        note: ({ backupName }) => noteOf(backupName),
        withoutBackup: { bypassHint, isChosen: (input) => input.withoutBackup },
        pages: () => [frontPageOrClosed],
        sharesOwn: (input) => sharesOwn(partsOf(input)),
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
