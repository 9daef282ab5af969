/**
 * Restores a deleted site, or an environment that was deleted from a site, under the same ids: creates it from its
 * newest intact backup, publishes it, and waits until it responds. If the operation fails, it can be repeated.
 */

import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { backupForOperation, findBackup, listFinishedBackups } from "../../store/backups/backups.ts";
import { removeDeletedEnvironment } from "../../store/backups/deletedEnvironments.ts";
import { removeDeletedSite } from "../../store/backups/deletedSites.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { endActivityWithWarning } from "../../store/company/activity.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { environmentExists, removeEnvironmentRows } from "../../store/sites/environments.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { attempt, quickBackoff } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { createFromLatestIntactBackup, olderBackupWarning } from "../steps/latestIntactBackup.ts";
import type { Services } from "../steps/services.ts";

/** An environment to restore. */
export type EnvironmentToRestore = {
  readonly environment: EnvironmentInput;
  readonly address: string;
  readonly backupId: number;
  /** Names of its domains that are not restored, because another site or company has them now. Absent: none. */
  readonly leftOut?: readonly string[];
};

/** The ids of the rows that the request inserted. */
export type RestoreDeletedInput = {
  readonly siteId: string;
  /** Whether to restore the site itself, too. If false, the site exists. */
  readonly isSite: boolean;
  /** The live environment, if included, comes first. */
  readonly environments: readonly EnvironmentToRestore[];
};

/** The stored result of one environment. */
type RestoredEnvironment = {
  readonly environment_id: string;
  readonly display_name: string;
  readonly backup_id: number;
  readonly backup_created_at: string;
  /** Newer backups that are missing or damaged. */
  readonly damaged_backups: number;
};

/** How long to retry transient errors of the first request. */
const probeSeconds = 20;

export function restoreDeleted(services: Services, kind: OperationKind): OperationDefinition<RestoreDeletedInput> {
  const { database, runtime, archives, publisher, probe } = services;
  const ids = ({ environments }: RestoreDeletedInput) => environments.map(({ environment }) => environment.id);

  async function backupOf({ backupId }: EnvironmentToRestore) {
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure("The backup no longer exists.");
    return backup;
  }

  async function make({ input, operationId, signal }: StepContext<RestoreDeletedInput>): Promise<void> {
    const restored = [...restoredIn(await readResult(database, operationId))];
    // One after the other, because they use the same work folder.
    for (const toRestore of input.environments) {
      if (restored.some(({ environment_id }) => environment_id === toRestore.environment.id)) continue;
      restored.push(await makeOne(toRestore, workName(operationId), signal));
      await saveResult(database, operationId, { environments: restored });
    }
  }

  async function makeOne(
    toRestore: EnvironmentToRestore,
    work: string,
    signal: AbortSignal,
  ): Promise<RestoredEnvironment> {
    const { environment, address, backupId } = toRestore;
    const candidates = (await listFinishedBackups(database, environment.id)).filter(({ id }) => id <= backupId);
    const displayName = (await backupForOperation(database, backupId))?.environment_display_name ?? "";
    const made = await createFromLatestIntactBackup(services, { candidates, work, environment, address }, signal);
    if (made === null) throw new StepFailure(allDamagedMessage(displayName, candidates));
    const { backup, damaged, wordpressVersion } = made;
    if (wordpressVersion !== null) await noteWordPressVersion(database, environment.id, wordpressVersion);
    return {
      environment_id: environment.id,
      display_name: displayName,
      backup_id: backup.id,
      backup_created_at: backup.createdAt.toISOString(),
      damaged_backups: damaged,
    };
  }

  /**
   * Waits for a response. Finally accepts any: the site may have been broken or in maintenance mode when it was
   * deleted.
   */
  async function waitForAnswer({ address }: EnvironmentToRestore, stop: AbortSignal): Promise<void> {
    const options = { deadlineSeconds: probeSeconds, backoff: quickBackoff, stop };
    const error = await attempt((signal) => probe(address, signal, "answer"), options);
    if (error !== null) await probe(address, stop, "sign");
  }

  return {
    kind,
    turnFrom: "make",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const backups = await Promise.all(input.environments.map(backupOf));
          // All environments, and the largest fetched backup: only one is fetched at a time.
          const sizes = backups.map(({ bytes }) => bytes);
          const moreBytes = sizes.reduce((sum, bytes) => sum + bytes, Math.max(0, ...sizes));
          await requireDiskSpace(runtime, { copies: [], moreBytes }, "The restore");
        },
      },
      {
        name: "make",
        deadlineSeconds: 7_200,
        run: make,
        undo: async ({ input, operationId }) => {
          for (const { environment } of input.environments) await runtime.destroy(environment);
          await archives.removeWorkFolder(workName(operationId));
        },
      },
      {
        name: "publish",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setEnvironmentState(database, ids(input), "serving");
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setEnvironmentState(database, ids(input), "adding");
          await publisher.publish();
        },
      },
      {
        name: "probe",
        deadlineSeconds: 600,
        run: async ({ input, signal }) => {
          for (const toRestore of input.environments) await waitForAnswer(toRestore, signal);
        },
      },
    ],
    succeeded: async (transaction, { input, operationId }) => {
      const [first] = input.environments;
      if (!first || !(await environmentExists(transaction, first.environment.id))) {
        throw new StepFailure("The site was deleted during the restore.");
      }
      if (input.isSite) {
        await setSiteState(transaction, input.siteId, "live");
        await removeDeletedSite(transaction, input.siteId);
      } else {
        await removeDeletedEnvironment(transaction, first.environment.id);
      }
      const environments = restoredIn(await readResult(transaction, operationId));
      const leftOut = input.environments.flatMap((toRestore) => toRestore.leftOut ?? []);
      const warnings = [warningOf(environments), leftOutWarning(leftOut)].filter((warning) => warning !== null);
      if (warnings.length > 0) await endActivityWithWarning(transaction, operationId, warnings.join(" "));
      const restored = environments.map((each) => ({ ...each }));
      return {
        address: first.address,
        environments: restored,
        left_out_domains: leftOut,
      } satisfies OperationResult<"restoreDeletedSite">;
    },
    // Its backups and its entry among the deleted ones stay, so the restore can be repeated.
    failed: async (transaction, { input }) => {
      if (input.isSite) return removeSiteRows(transaction, input.siteId);
      for (const id of ids(input)) await removeEnvironmentRows(transaction, id);
    },
  };
}

function restoredIn(result: Json): readonly RestoredEnvironment[] {
  const hasList = typeof result === "object" && result !== null && "environments" in result;
  return hasList && Array.isArray(result.environments) ? result.environments.filter(isRestoredEnvironment) : [];
}

function isRestoredEnvironment(value: Json): value is RestoredEnvironment {
  return typeof value === "object" && value !== null && "environment_id" in value && "damaged_backups" in value;
}

/** Returns a warning if environments were restored from older backups, or null. */
function warningOf(environments: readonly RestoredEnvironment[]): string | null {
  const older = environments.filter(({ damaged_backups }) => damaged_backups > 0);
  if (older.length === 0) return null;
  return older
    .map((one) => olderBackupWarning(`${one.display_name}:`, one.damaged_backups, one.backup_created_at))
    .join(" ");
}

function leftOutWarning(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const reason = "another site uses them now, or another company has proven that it owns them";
  return `These domains were not restored, because ${reason}: ${names.join(", ")}. Add them again to see which proof they need.`;
}

/** Also says how to restore a site without the environment. */
function allDamagedMessage(displayName: string, candidates: readonly FinishedBackup[]): string {
  const ids = candidates.map(({ id }) => id).join(", ");
  return (
    `The environment ${displayName} can't be restored: all of its backups (${ids}) are missing or damaged in the archives. ` +
    "If it is not the live environment, remove these backups to restore the site without it."
  );
}
