/**
 * A zip of an environment, or of a backup, that somebody downloads. It is made of a snapshot, so that the environment is
 * not held meanwhile: whatever else is done to it goes on.
 */
import type { SnapshotFolder } from "@sitewright/runtimes/runtime.ts";
import { findBackup } from "../../store/backups/backups.ts";
import {
  countBefore,
  findDownloadableBackup,
  finishDownloadableBackup,
  isOfPresent,
  removeDownloadableBackup,
} from "../../store/backups/downloadableBackups.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { downloadReadme } from "../steps/downloadReadme.ts";
import { backupGone, fetchBackup } from "../steps/fetchBackup.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";

export type AddDownloadableBackupInput = {
  /** Of the downloadable backup. */
  readonly id: string;
  readonly environment: { readonly id: string; readonly number: number };
  /** Of the environment. */
  readonly address: string;
  /** How people know it: `Demo, Live`. */
  readonly environmentName: string;
  /** Null: the environment as it is now. */
  readonly backup: { readonly id: number; readonly name: string } | null;
};

const environmentGone = "The environment is not there any more.";
const hour = 3_600_000;
/** Of one environment: each takes a processor, and room on the disk, for a while. */
const mostAtOnce = 3;
/** What WordPress's own code takes in a zip. */
const coreBytes = 60_000_000;
/** A database as it is, as SQL, and what of it is in the zip. */
const databaseTimes = 4;

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
    if ((await countBefore(database, id)) >= mostAtOnce) {
      const already = `${mostAtOnce} downloadable backups of this environment are being made already.`;
      throw new StepFailure(`${already} Ask again when one of them is there.`);
    }
    const backup = await backupOf(input);
    const times = backup === null ? { files: 1, database: databaseTimes } : { files: 0, database: 0 };
    const moreBytes = coreBytes + (backup === null ? 0 : databaseTimes * backup.bytes);
    await requireRoom(runtime, { copies: [{ environment, ...times }], moreBytes }, "The downloadable backup");
  }

  /** Returns the folder, and where the site was at the time. */
  async function takeSnapshot({ input, operationId, signal }: StepContext<AddDownloadableBackupInput>) {
    const work = workName(operationId);
    const backup = await backupOf(input);
    if (backup !== null)
      return { folder: await fetchBackup(services, { backup, work }, signal), address: backup.address };
    const folder = await archives.workFolder(work);
    await snapshotWhole(input, folder);
    return { folder, address: input.address };
  }

  /** Nothing holds the environment. Where it is replaced while it is read, the runtime says no, and it is read again. */
  async function snapshotWhole({ environment }: AddDownloadableBackupInput, folder: string): Promise<void> {
    const release = async () => (await runtime.layout(environment))?.release;
    const before = await release();
    try {
      await runtime.snapshot(environment, folder);
    } catch (cause) {
      const now = await release();
      if (now === undefined || now === before) throw cause;
      throw new StepFailure("The environment was replaced at that very moment.", { cause, isTransient: true });
    }
  }

  async function writeZip(
    { folder: snapshot, address }: SnapshotFolder & { readonly address: string },
    { input, operationId, signal }: StepContext<AddDownloadableBackupInput>,
  ): Promise<number> {
    const folder = await archives.workFolder(exportName(operationId));
    const site = await runtime.exportSite({ folder: snapshot }, folder);
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
    for (const name of [workName(operationId), exportName(operationId)]) await archives.removeWorkFolder(name);
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
      // A deletion of the environment removes both what is read and what is written here.
      if (await isOfPresent(database, input.id)) throw cause;
      throw new StepFailure(environmentGone, { cause });
    } finally {
      await removeWork(operationId);
    }
  }

  return {
    kind: "addDownloadableBackup",
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
      return { id: input.id, file_name: row?.fileName ?? null, expires_at: row?.expiresAt.getTime() ?? null };
    },
    failed: (transaction, { input }) => removeDownloadableBackup(transaction, input.id),
  };
}

function exportName(operationId: string): string {
  return `${workName(operationId)}-export`;
}
