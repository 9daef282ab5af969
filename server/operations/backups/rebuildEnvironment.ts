/**
 * An environment that an installation brought along when it was restored on another machine: made of its newest backup that is
 * whole, made known, and opened once. Until then it is a row, and visitors are told that it is not available.
 *
 * A backup is right as it is: what answers with an error in it does so here too, and its owner can get in and mend it.
 */

import { findBackup, listFinishedBackups } from "../../store/backups/backups.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { warnOfOperation } from "../../store/company/activity.ts";
import type { Json } from "../../store/database.ts";
import { setAwaitsRebuild } from "../../store/moved.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { noteRelease } from "../../store/sites/environmentStates.ts";
import { attempt, quickPace } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { makeOfLatestIntactBackup, olderBackupWarning } from "../steps/latestIntactBackup.ts";
import type { Services } from "../steps/services.ts";

export type RebuildEnvironmentInput = {
  readonly environment: { readonly id: string; readonly number: number };
  /** Where it is going to be. */
  readonly address: string;
  /** Null: the newest that is whole. */
  readonly backupId: number | null;
};

/** What it was made of. */
type Rebuilt = {
  readonly backup_id: number;
  readonly backup_created_at: string;
  /** Newer backups that are missing or damaged. */
  readonly damaged_backups: number;
  readonly answers: boolean;
};

const probeSeconds = 60;

export function rebuildEnvironment(services: Services): OperationDefinition<RebuildEnvironmentInput> {
  const { database, runtime, archives, publisher, probe } = services;

  async function candidatesFor({ environment, backupId }: RebuildEnvironmentInput): Promise<readonly FinishedBackup[]> {
    if (backupId === null) return listFinishedBackups(database, environment.id);
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure("The backup is not there any more.");
    return [backup];
  }

  async function make({ input, operationId, signal }: StepContext<RebuildEnvironmentInput>): Promise<void> {
    const { environment, address } = input;
    const candidates = await candidatesFor(input);
    const made = await makeOfLatestIntactBackup(
      services,
      { candidates, work: workName(operationId), environment, address },
      signal,
    );
    if (made === null) throw new StepFailure(reasonFor(candidates.length));
    const { id: backup_id, createdAt } = made.backup;
    const facts = { backup_id, backup_created_at: createdAt.toISOString(), damaged_backups: made.damaged };
    await saveResult(database, operationId, { ...facts, answers: true } satisfies Rebuilt);
  }

  async function publish({ environment }: RebuildEnvironmentInput): Promise<void> {
    const layout = await runtime.layout(environment);
    if (layout === null) throw new StepFailure("What was made of the backup is not there any more.");
    const { wordpressVersion, multisite } = layout;
    await noteRelease(database, environment.id, { wordpressVersion, isWildcard: multisite === "subdomain" });
    await setAwaitsRebuild(database, environment.id, false);
    await publisher.publish();
  }

  return {
    kind: "rebuildEnvironment",
    steps: [
      {
        name: "make",
        deadlineSeconds: 7_200,
        run: make,
        undo: async ({ input, operationId }) => {
          await runtime.destroy(input.environment);
          await archives.removeWorkFolder(workName(operationId));
        },
      },
      {
        name: "publish",
        deadlineSeconds: 30,
        run: ({ input }) => publish(input),
        undo: async ({ input }) => {
          await setAwaitsRebuild(database, input.environment.id, true);
          await publisher.publish();
        },
      },
      {
        name: "probe",
        deadlineSeconds: 2 * probeSeconds,
        run: async ({ input, operationId, signal }) => {
          const patience = { deadlineSeconds: probeSeconds, pace: quickPace, stop: signal };
          const error = await attempt((stop) => probe(input.address, stop, "answer"), patience);
          const made = await readResult(database, operationId);
          if (error !== null && isRebuilt(made)) await saveResult(database, operationId, { ...made, answers: false });
        },
      },
    ],
    succeeded: async (transaction, { operationId }) => {
      const made = await readResult(transaction, operationId);
      const warning = isRebuilt(made) ? warningOf(made) : null;
      if (warning !== null) await warnOfOperation(transaction, operationId, warning);
      return made;
    },
    failed: async () => undefined,
  };
}

function reasonFor(candidates: number): string {
  return candidates === 0
    ? "The environment has no backup that it could be restored from. A backup of another environment can be restored to it."
    : `What ${candidates === 1 ? "its backup needs is" : `its ${candidates} backups need is`} missing or damaged in the archives. It is tried again later, and when the installation is started.`;
}

function isRebuilt(value: Json): value is Rebuilt {
  return typeof value === "object" && value !== null && "damaged_backups" in value && "answers" in value;
}

/** What the owner should know although it is there again. */
function warningOf({ damaged_backups, backup_created_at, answers }: Rebuilt): string | null {
  const older = damaged_backups === 0 ? [] : [olderBackupWarning("Its", damaged_backups, backup_created_at)];
  const silent = answers ? [] : ["It does not answer when it is opened."];
  return older.length + silent.length === 0 ? null : [...older, ...silent].join(" ");
}
