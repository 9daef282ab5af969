/**
 * Restores an environment after the installation was moved to another machine: creates it from its newest intact
 * backup, publishes it, and opens its front page once. Until then only its database row exists, and visitors see that
 * the site is not available.
 *
 * An environment that answers with an error is still published, because it may have done so before. Its owner can log
 * in and repair it.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { findBackup, listFinishedBackups } from "../../store/backups/backups.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { endActivityWithWarning } from "../../store/company/activity.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setAwaitsRebuild } from "../../store/restoredInstallation.ts";
import { noteRelease } from "../../store/sites/environmentStates.ts";
import { attempt, quickBackoff } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { createFromLatestIntactBackup, olderBackupWarning } from "../steps/latestIntactBackup.ts";
import type { Services } from "../steps/services.ts";

export type RebuildEnvironmentInput = {
  readonly environment: EnvironmentInput;
  /** The environment's new address. */
  readonly address: string;
  /** The backup to restore, or null for the newest intact one. */
  readonly backupId: number | null;
};

/** The result of the operation. */
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
    if (backup === null) throw new StepFailure("The backup no longer exists.");
    return [backup];
  }

  async function make({ input, operationId, signal }: StepContext<RebuildEnvironmentInput>): Promise<void> {
    const { environment, address } = input;
    const candidates = await candidatesFor(input);
    const made = await createFromLatestIntactBackup(
      services,
      { candidates, work: workName(operationId), environment, address },
      signal,
    );
    if (made === null) throw new StepFailure(reasonFor(candidates.length));
    const { id: backup_id, createdAt } = made.backup;
    const facts = { backup_id, backup_created_at: createdAt.toISOString(), damaged_backups: made.damaged };
    await saveResult(database, operationId, { ...facts, answers: true } satisfies Rebuilt &
      OperationResult<"rebuildEnvironment">);
  }

  async function publish({ environment }: RebuildEnvironmentInput): Promise<void> {
    const layout = await runtime.layout(environment);
    if (layout === null) throw new StepFailure("The restored environment no longer exists.");
    const { wordpressVersion, multisite } = layout;
    await noteRelease(database, environment.id, { wordpressVersion, isWildcard: multisite === "subdomain" });
    await setAwaitsRebuild(database, environment.id, false);
    await publisher.publish();
  }

  return {
    kind: "rebuildEnvironment",
    turnFrom: "make",
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
          const options = { deadlineSeconds: probeSeconds, backoff: quickBackoff, stop: signal };
          const error = await attempt((stop) => probe(input.address, stop, "answer"), options);
          const made = await readResult(database, operationId);
          if (error !== null && isRebuilt(made)) await saveResult(database, operationId, { ...made, answers: false });
        },
      },
    ],
    succeeded: async (transaction, { operationId }) => {
      const made = await readResult(transaction, operationId);
      const warning = isRebuilt(made) ? warningOf(made) : null;
      if (warning !== null) await endActivityWithWarning(transaction, operationId, warning);
      return made;
    },
    failed: async () => undefined,
  };
}

function reasonFor(candidates: number): string {
  return candidates === 0
    ? "The environment has no backup to restore from. You can restore a backup of another environment to it."
    : `${candidates === 1 ? "Its backup is" : `All of its ${candidates} backups are`} missing or damaged in the archives. The restore is retried later, and when the installation is restarted.`;
}

function isRebuilt(value: Json): value is Rebuilt {
  return typeof value === "object" && value !== null && "damaged_backups" in value && "answers" in value;
}

/** Returns a warning for the owner of a restored environment, or null. */
function warningOf({ damaged_backups, backup_created_at, answers }: Rebuilt): string | null {
  const older = damaged_backups === 0 ? [] : [olderBackupWarning("Its", damaged_backups, backup_created_at)];
  const silent = answers ? [] : ["Its front page does not respond."];
  return older.length + silent.length === 0 ? null : [...older, ...silent].join(" ");
}
