/**
 * A backup, restored beside the site to see whether it could be: fetched whole from the archives, made an environment of
 * that nobody serves, asked for its pages through the edge, and removed again. Nothing is locked: whatever happens to the
 * environment meanwhile, or to the backup, comes first.
 *
 * PHP of the copy is cut off from everything. It has the site's plans, queues and keys, and would do once more what the
 * site has done: charge customers, send messages, call other services.
 */
import { NoRoom, RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { BackupDamaged } from "../../archives/load.ts";
import { findBackup } from "../../store/backups/backups.ts";
import {
  beginProofReading,
  findRowCounts,
  noteFailedProof,
  noteProven,
  type ProofReading,
} from "../../store/backups/proofs.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { makeOfBackup } from "../steps/fetchBackup.ts";
import { phpOf } from "../steps/phpOf.ts";
import { rowDifference } from "../steps/rowDifference.ts";
import type { Services } from "../steps/services.ts";
import { type Candidate, frontPage, loginPage, TrialFailed } from "../steps/trial.ts";

type Ref = { readonly id: string; readonly number: number };

export type ProveBackupInput = {
  readonly backupId: number;
  readonly environment: Ref;
  /** Of the environment, as it is now. */
  readonly address: string;
  /** Fresh, without a row: where the backup is restored. */
  readonly scratch: Ref;
};

type Context = StepContext<ProveBackupInput>;

/** The rows are not those that were backed up. */
class RowsDiffer extends StepFailure {}

const passingReasons: readonly (string | null)[] = ["busy", "unavailable"];
const doubtfulReasons: readonly (string | null)[] = ["crashed", "deadline"];

/** Whether it is the backup that failed, and not what it was tried with. */
function speaksAgainstBackup(error: unknown): error is Error {
  if (error instanceof TrialFailed) return !passingReasons.includes(error.reason);
  if (error instanceof RuntimeFailure) return !(error instanceof NoRoom);
  return error instanceof RowsDiffer || (error instanceof StepFailure && error.cause instanceof BackupDamaged);
}

export function proveBackup(services: Services): OperationDefinition<ProveBackupInput> {
  const { database, runtime, archives, tryOut } = services;

  async function backupOf({ backupId }: ProveBackupInput) {
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure("The backup was removed before it was proven.");
    return backup;
  }

  /** What speaks against the backup is kept, to be noted when the operation ends. */
  async function judge({ input, operationId }: Context, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!speaksAgainstBackup(error)) throw error;
      // Of one that is removed meanwhile, anything may be missing.
      await backupOf(input);
      await saveResult(database, operationId, error.message);
      // Which backup it is, the entry in the activity log says in each language.
      throw new StepFailure(`The proof failed. ${error.message}`, { cause: error });
    }
  }

  async function restore({ input, operationId, signal }: Context): Promise<void> {
    const { scratch: environment, address } = input;
    const backup = await backupOf(input);
    // Kept, because what comes of the reading is noted when the proof ends, and much may be found out meanwhile.
    await saveResult(database, operationId, { ...(await beginProofReading(database, backup.id)) });
    await makeOfBackup(services, { backup, work: workName(operationId), environment, address }, signal);
  }

  async function compareRows({ input, signal }: Context): Promise<void> {
    const counted = await findRowCounts(database, input.backupId);
    if (counted === null) return;
    const difference = rowDifference(counted, await runtime.countRows(input.scratch, signal));
    if (difference !== null) throw new RowsDiffer(difference);
  }

  /** Where PHP was ended in the middle, something else may have been to blame: once more. */
  async function ask(candidate: Candidate, signal: AbortSignal): Promise<void> {
    try {
      await tryOut(candidate, signal);
    } catch (error) {
      if (!(error instanceof TrialFailed && doubtfulReasons.includes(error.reason))) throw error;
      await tryOut(candidate, signal);
    }
  }

  async function askForPages({ input, signal }: Context): Promise<void> {
    const { environment, scratch, address } = input;
    const { version: phpVersion } = await phpOf(database, environment.id);
    const layout = await runtime.layout(scratch);
    if (layout === null) throw new Error("What was restored is not there any more.");
    const what = "What was restored";
    const candidate = { environment: scratch, phpVersion, layout, address, what, isReadOnly: false, isOffline: true };
    const pages = layout.wordpressVersion === null ? [frontPage] : [frontPage, loginPage];
    for (const page of pages) await ask({ ...candidate, page }, signal);
  }

  async function leaveNothing({ input, operationId }: Context): Promise<void> {
    await archives.removeWorkFolder(workName(operationId));
    await runtime.destroy(input.scratch);
  }

  return {
    kind: "proveBackup",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const { bytes } = await backupOf(input);
          // Once as it comes from the archives, and once as an environment.
          const copies = [{ environment: input.environment, files: 0, database: 0 }];
          await requireRoom(runtime, { copies, moreBytes: 2 * bytes }, "Proving a backup");
        },
      },
      {
        name: "restore",
        deadlineSeconds: 7_200,
        run: (context) => judge(context, () => restore(context)),
        undo: leaveNothing,
      },
      // Before any page is asked for: a page may write.
      { name: "rows", deadlineSeconds: 900, run: (context) => judge(context, () => compareRows(context)) },
      { name: "pages", deadlineSeconds: 600, run: (context) => judge(context, () => askForPages(context)) },
      { name: "tidy", deadlineSeconds: 600, run: leaveNothing },
    ],
    pointOfNoReturn: "tidy",
    succeeded: async (transaction, { input, operationId }) => {
      await noteProven(transaction, input.backupId, readingIn(await readResult(transaction, operationId)));
      return null;
    },
    failed: async (transaction, { input, operationId }) => {
      const error = await readResult(transaction, operationId);
      if (typeof error === "string") await noteFailedProof(transaction, input.backupId, error);
    },
  };
}

/** Null if nothing like that was kept. */
function readingIn(result: unknown): ProofReading | null {
  if (typeof result !== "object" || result === null || !("at" in result && "examineAt" in result)) return null;
  const { at, examineAt } = result;
  const isReading = typeof at === "string" && (examineAt === null || typeof examineAt === "string");
  return isReading ? { at, examineAt } : null;
}
