/**
 * Test restore of a backup: fetches it from the archives, creates a scratch environment from it, requests its pages
 * through the edge, and removes it again. It takes no locks, so other operations on the environment or the backup take
 * precedence.
 *
 * PHP of the scratch environment has no network access. It has the site's scheduled tasks, queues and keys, and would
 * otherwise charge customers, send messages and call other services again.
 */
import { DiskFull, RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { BackupDamaged } from "../../archives/load.ts";
import { findBackup } from "../../store/backups/backups.ts";
import {
  beginTestRestoreReading,
  findRowCounts,
  noteFailedTestRestore,
  noteTestRestore,
  type TestRestoreReading,
} from "../../store/backups/testRestores.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { createFromBackup } from "../steps/fetchBackup.ts";
import { phpOf } from "../steps/phpOf.ts";
import { rowDifference } from "../steps/rowDifference.ts";
import type { Services } from "../steps/services.ts";
import { frontPage, loginPage, TrialFailed } from "../steps/trial.ts";

/** The runtime is absent in orders from before there were several. */
type Scratch = EnvironmentInput & { readonly runtime?: string };

export type TestRestoreInput = {
  readonly backupId: number;
  readonly environment: EnvironmentInput;
  /** The environment's current address. */
  readonly address: string;
  /** A new environment without a database row, in which the backup is restored. */
  readonly scratch: Scratch;
};

type Context = StepContext<TestRestoreInput>;

/** The restored database has different row counts than the backup. */
class RowsDiffer extends StepFailure {}

/** Reasons for a missing response that tell nothing about the backup. */
const inconclusiveReasons: readonly (string | null)[] = ["busy", "unavailable"];

/** Whether the backup caused the error, and not the server or the edge. */
function isBackupsFault(error: unknown): error is Error {
  if (error instanceof TrialFailed) return !inconclusiveReasons.includes(error.reason);
  if (error instanceof RuntimeFailure) return !(error instanceof DiskFull);
  return error instanceof RowsDiffer || (error instanceof StepFailure && error.cause instanceof BackupDamaged);
}

export function testRestore(services: Services): OperationDefinition<TestRestoreInput> {
  const { database, runtime, archives, runTrial } = services;

  async function backupOf({ backupId }: TestRestoreInput) {
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure("The backup was removed before its test restore.");
    return backup;
  }

  /** Stores an error that the backup caused, so that it is noted at the backup when the operation ends. */
  async function noteFailure({ input, operationId }: Context, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isBackupsFault(error)) throw error;
      // If the backup was removed meanwhile, the error says nothing about it.
      await backupOf(input);
      await saveResult(database, operationId, error.message);
      // The activity log entry names the backup.
      throw new StepFailure(`The test restore failed. ${error.message}`, { cause: error });
    }
  }

  async function restore({ input, operationId, signal }: Context): Promise<void> {
    const { scratch: environment, address } = input;
    const backup = await backupOf(input);
    // Stored, because the damage that is known when the reading starts matters when the operation ends.
    await saveResult(database, operationId, { ...(await beginTestRestoreReading(database, backup.id)) });
    await createFromBackup(services, { backup, work: workName(operationId), environment, address }, signal);
  }

  async function compareRows({ input, signal }: Context): Promise<void> {
    const counted = await findRowCounts(database, input.backupId);
    if (counted === null) return;
    const difference = rowDifference(counted, await runtime.countRows(input.scratch, signal));
    if (difference !== null) throw new RowsDiffer(difference);
  }

  async function tryPages({ input, signal }: Context): Promise<void> {
    const { environment, scratch, address } = input;
    const { version, runtime: current } = await phpOf(database, environment.id);
    const php = { version, runtime: scratch.runtime ?? current };
    const layout = await runtime.layout(scratch);
    if (layout === null) throw new Error("The restored environment no longer exists.");
    const what = "The restored site";
    const candidate = { environment: scratch, php, layout, address, what, isReadOnly: false, isOffline: true };
    const pages = layout.wordpressVersion === null ? [frontPage] : [frontPage, loginPage];
    for (const page of pages) await runTrial({ ...candidate, page }, signal);
  }

  async function removeLeftovers({ input, operationId }: Context): Promise<void> {
    await archives.removeWorkFolder(workName(operationId));
    await runtime.destroy(input.scratch);
  }

  return {
    kind: "proveBackup",
    turnFrom: "restore",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const { bytes } = await backupOf(input);
          // Needed twice: for the fetched backup, and for the environment.
          const copies = [{ environment: input.environment, files: 0, database: 0 }];
          await requireDiskSpace(runtime, { copies, moreBytes: 2 * bytes }, "The test restore");
        },
      },
      {
        name: "restore",
        deadlineSeconds: 7_200,
        run: (context) => noteFailure(context, () => restore(context)),
        undo: removeLeftovers,
      },
      // Before the pages, because they may write to the database.
      { name: "rows", deadlineSeconds: 900, run: (context) => noteFailure(context, () => compareRows(context)) },
      { name: "pages", deadlineSeconds: 600, run: (context) => noteFailure(context, () => tryPages(context)) },
      { name: "tidy", deadlineSeconds: 600, run: removeLeftovers },
    ],
    pointOfNoReturn: "tidy",
    succeeded: async (transaction, { input, operationId }) => {
      await noteTestRestore(transaction, input.backupId, parseReading(await readResult(transaction, operationId)));
      return null;
    },
    failed: async (transaction, { input, operationId }) => {
      const error = await readResult(transaction, operationId);
      if (typeof error === "string") await noteFailedTestRestore(transaction, input.backupId, error);
    },
  };
}

/** Returns the stored reading, or null if there is none. */
function parseReading(result: unknown): TestRestoreReading | null {
  if (typeof result !== "object" || result === null || !("at" in result && "examineAt" in result)) return null;
  const { at, examineAt } = result;
  const isReading = typeof at === "string" && (examineAt === null || typeof examineAt === "string");
  return isReading ? { at, examineAt } : null;
}
