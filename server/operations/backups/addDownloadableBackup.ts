/**
 * Creates a zip of an environment or of a backup, for download. It is made from a snapshot, so the environment is not
 * locked and other operations can run at the same time.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { SnapshotFolder } from "@sitewright/runtimes/runtime.ts";
import { findBackup } from "../../store/backups/backups.ts";
import {
  countBefore,
  findDownloadableBackup,
  finishDownloadableBackup,
  hasEnvironment,
  removeDownloadableBackup,
} from "../../store/backups/downloadableBackups.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireCompanySpace, requireDiskSpace } from "../steps/diskSpace.ts";
import { downloadReadme } from "../steps/downloadReadme.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { backupGone, fetchBackup } from "../steps/fetchBackup.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";

export type AddDownloadableBackupInput = {
  /** Id of the downloadable backup. */
  readonly id: string;
  readonly environment: EnvironmentInput;
  /** The environment's address. */
  readonly address: string;
  /** Names of the site and the environment: `Demo, Live`. */
  readonly environmentName: string;
  /** The backup to download, or null for the current state of the environment. */
  readonly backup: { readonly id: number; readonly name: string } | null;
};

const environmentGone = "The environment no longer exists.";
const hour = 3_600_000;
/** Per environment, because each one keeps a processor busy and needs disk space. */
const maxConcurrent = 3;
/** The size of WordPress's own code in a zip. */
const coreBytes = 60_000_000;
/** Disk space for the database's snapshot, its SQL dump and its part of the zip, as a multiple of its size. */
const databaseCopies = 4;

export function addDownloadableBackup(services: Services): OperationDefinition<AddDownloadableBackupInput> {
  const { database, runtime, archives, downloads, downloadHours } = services;

  async function backupOf({ backup }: AddDownloadableBackupInput) {
    if (backup === null) return null;
    const found = await findBackup(database, backup.id);
    if (found === null) throw new StepFailure(backupGone);
    return found;
  }

  async function estimate(input: AddDownloadableBackupInput): Promise<void> {
    const { id, environment } = input;
    if ((await countBefore(database, id)) >= maxConcurrent) {
      const reason = `${maxConcurrent} downloadable backups of this environment are already being created.`;
      throw new StepFailure(`${reason} Try again when one of them is finished.`);
    }
    await requireCompanySpace(database, environment.id, "The downloadable backup");
    const backup = await backupOf(input);
    const times = backup === null ? { files: 1, database: databaseCopies } : { files: 0, database: 0 };
    const moreBytes = coreBytes + (backup === null ? 0 : databaseCopies * backup.bytes);
    await requireDiskSpace(runtime, { copies: [{ environment, ...times }], moreBytes }, "The downloadable backup");
  }

  /** Returns the folder, and the site's address at the time of the snapshot or backup. */
  async function takeSnapshot({ input, operationId, signal }: StepContext<AddDownloadableBackupInput>) {
    const work = workName(operationId);
    const backup = await backupOf(input);
    if (backup !== null)
      return { folder: await fetchBackup(services, { backup, work }, signal), address: backup.address };
    const folder = await archives.workFolder(work);
    await snapshotUnlocked(input, folder);
    return { folder, address: input.address };
  }

  /** The environment is not locked. If it is replaced during the snapshot, the snapshot fails and is retried. */
  async function snapshotUnlocked({ environment }: AddDownloadableBackupInput, folder: string): Promise<void> {
    const release = async () => (await runtime.layout(environment))?.release;
    const before = await release();
    try {
      await runtime.snapshot(environment, folder);
    } catch (cause) {
      const now = await release();
      if (now === undefined || now === before) throw cause;
      throw new StepFailure("The environment was replaced during the snapshot.", { cause, isTransient: true });
    }
  }

  async function writeZip(
    { folder: snapshot, address }: SnapshotFolder & { readonly address: string },
    { input, operationId, companyId, signal }: StepContext<AddDownloadableBackupInput>,
  ): Promise<number> {
    const folder = await archives.workFolder(exportFolderName(operationId));
    const site = await runtime.exportSite({ folder: snapshot, companyId }, folder);
    const { version: phpVersion } = await phpOf(database, input.environment.id);
    const { environmentName, backup } = input;
    const facts = {
      ...site,
      address,
      phpVersion,
      environmentName,
      backupName: backup?.name ?? null,
      madeAt: new Date(),
    };
    const readme = { name: "README.txt", text: downloadReadme(facts) };
    return downloads.write(input.id, { root: folder, readme }, signal);
  }

  async function removeWork(operationId: string): Promise<void> {
    for (const name of [workName(operationId), exportFolderName(operationId)]) await archives.removeWorkFolder(name);
  }

  async function pack(context: StepContext<AddDownloadableBackupInput>): Promise<void> {
    const { input, operationId } = context;
    const row = await findDownloadableBackup(database, input.id);
    if (row?.bytes != null) return;
    try {
      const bytes = await writeZip(await takeSnapshot(context), context);
      const expiresAt = new Date(Date.now() + downloadHours * hour);
      if (await finishDownloadableBackup(database, input.id, { bytes, expiresAt })) return;
      await downloads.remove(input.id);
      throw new StepFailure(environmentGone);
    } catch (cause) {
      // If the environment was deleted, its files and this zip were removed, which caused the error.
      if (await hasEnvironment(database, input.id)) throw cause;
      throw new StepFailure(environmentGone, { cause });
    } finally {
      await removeWork(operationId);
    }
  }

  return {
    kind: "addDownloadableBackup",
    turnFrom: "pack",
    steps: [
      { name: "estimate", deadlineSeconds: 120, run: ({ input }) => estimate(input) },
      {
        name: "pack",
        deadlineSeconds: 14_400,
        run: pack,
        undo: async ({ input, operationId }) => {
          await removeDownloadableBackup(database, input.id);
          await downloads.remove(input.id);
          await removeWork(operationId);
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      const row = await findDownloadableBackup(transaction, input.id);
      const expires_at = row?.expiresAt.getTime() ?? null;
      // The API sends a link instead of the file's name.
      const stored: Omit<NonNullable<OperationResult<"addDownloadableBackup">>, "download_link"> = {
        id: input.id,
        expires_at,
      };
      return { ...stored, file_name: row?.fileName ?? null };
    },
    failed: (transaction, { input }) => removeDownloadableBackup(transaction, input.id),
  };
}

function exportFolderName(operationId: string): string {
  return `${workName(operationId)}-export`;
}
