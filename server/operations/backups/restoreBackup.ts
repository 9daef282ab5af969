/**
 * Restores a backup, or a part of it, over an environment. The backup is fetched from the archives,
 * verified, and becomes the environment's next release (`../steps/takeOver.ts`).
 */
import { findBackup } from "../../store/backups/backups.ts";
import { quotaOf } from "../../store/sites/diskUse.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { copiesTargetData, type PushInput, type PushPart, sharesTargetData } from "../sites/pushEnvironment.ts";
import { backupSpace, workName } from "../steps/backup.ts";
import { requireDiskSpace, reserveWithinQuota } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { addressChanges, backupGone, fetchBackup, sizeOfBackup } from "../steps/fetchBackup.ts";
import type { Services } from "../steps/services.ts";
import { freeze, takeOver, thaw } from "../steps/takeOver.ts";
import { frontPageOrMaintenance } from "../steps/trial.ts";

/** Named files and tables. */
export type SomeParts = { readonly files: PushPart; readonly database: PushPart };

export type RestoreBackupInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly backupId: number;
  readonly backupName: string;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
  readonly only: "files" | "database" | null;
  /** Only these files and tables. Absent: `only` decides. */
  readonly some?: SomeParts;
  /** Whether to skip the backup of the target's current state. */
  readonly withoutBackup: boolean;
};

/** Which parts of the backup are restored. */
type Choice = Pick<RestoreBackupInput, "only" | "some">;

/** The parts of the environment that are replaced. */
export function partsOf({ only, some }: Choice): Pick<PushInput, "files" | "database"> {
  if (some !== undefined) return some;
  return { files: only === "database" ? "none" : "all", database: only === "files" ? "none" : "all" };
}

/** Selects the parts of the backup to fetch. A database is fetched completely, also for one of its tables. */
export function isWanted(choice: Choice): (path: string) => boolean {
  const { files, database } = partsOf(choice);
  return (path) => {
    if (path.startsWith("database/")) return database !== "none";
    return !path.startsWith("public/") || files === "all" || (files !== "none" && isAmong(files, path.slice(7)));
  };
}

/** Whether it is one of the files, in one of the folders, or a folder on the way to them. */
const isAmong = (names: readonly string[], path: string): boolean =>
  names
    .map((name) => name.replace(/\/+$/, ""))
    .some((name) => name === path || path.startsWith(`${name}/`) || name.startsWith(`${path}/`));

const bypassHint = 'To restore it anyway and lose the current state, send { "without_backup": true } with backup_id.';

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

  /** Skipped if only a part is restored, because the rest of the environment stays as it is. */
  async function requireQuota({ input, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    if (
      input.only !== null ||
      input.some !== undefined ||
      (await quotaOf(database, input.target.id, services.diskQuotaBytes)) === null
    )
      return;
    const { files, database: rows } = await sizeOfBackup(services, await backupOf(input), signal);
    await reserveWithinQuota(services, input.target, files + rows, "The restore");
  }

  async function build({ input, operationId, signal }: StepContext<RestoreBackupInput>): Promise<void> {
    const { target, token, address } = input;
    const backup = await backupOf(input);
    const work = workName(operationId);
    const folder = await fetchBackup(services, { backup, work, isWanted: isWanted(input) }, signal);
    const addresses = addressChanges(backup, address);
    // Not earlier, because the backup may be far away.
    if (copiesTargetData(partsOf(input))) await freeze(services, target, signal);
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
          if (copiesTargetData(partsOf(input))) await thaw(services, input.target);
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
