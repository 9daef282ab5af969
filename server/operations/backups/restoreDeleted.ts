/**
 * A deleted site, or an environment that was deleted from a site, is there again under the same ids: made of its newest backup
 * that is whole, made known, and seen to answer before it is shown. If anything fails it can be restored as before.
 */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import { backupForOperation, findBackup, listFinishedBackups } from "../../store/backups/backups.ts";
import { removeDeletedEnvironment } from "../../store/backups/deletedEnvironments.ts";
import { removeDeletedSite } from "../../store/backups/deletedSites.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { warnOfOperation } from "../../store/company/activity.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { isEnvironmentThere, removeEnvironmentRows } from "../../store/sites/environments.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { attempt, quickPace } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { makeOfLatestIntactBackup, olderBackupWarning } from "../steps/latestIntactBackup.ts";
import type { Services } from "../steps/services.ts";

/** One that is restored, and of what. */
export type Returning = {
  readonly environment: { readonly id: string; readonly number: number };
  readonly address: string;
  readonly backupId: number;
  /** Names of domains that are in use elsewhere by now. Absent: none. */
  readonly leftOut?: readonly string[];
};

/** The ids are those of the rows that the request inserted. */
export type RestoreDeletedInput = {
  readonly siteId: string;
  /** Whether the site comes back with them; otherwise it is there. */
  readonly isSite: boolean;
  /** The live one, where it is among them, is the first. */
  readonly environments: readonly Returning[];
};

/** What one of them was made of. */
type Returned = {
  readonly environment_id: string;
  readonly display_name: string;
  readonly backup_id: number;
  readonly backup_created_at: string;
  /** Newer backups that are missing or damaged. */
  readonly damaged_backups: number;
};

/** For what passes by itself before its first page comes. */
const patienceSeconds = 20;

export function restoreDeleted(services: Services, kind: OperationKind): OperationDefinition<RestoreDeletedInput> {
  const { database, runtime, archives, publisher, probe } = services;
  const ids = ({ environments }: RestoreDeletedInput) => environments.map(({ environment }) => environment.id);

  async function backupOf({ backupId }: Returning) {
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure("The backup is not there any more.");
    return backup;
  }

  async function make({ input, operationId, signal }: StepContext<RestoreDeletedInput>): Promise<void> {
    const returned = [...returnedIn(await readResult(database, operationId))];
    // One after the other: each has the operation's work folder for itself.
    for (const returning of input.environments) {
      if (returned.some(({ environment_id }) => environment_id === returning.environment.id)) continue;
      returned.push(await makeOne(returning, workName(operationId), signal));
      await saveResult(database, operationId, { environments: returned });
    }
  }

  async function makeOne(returning: Returning, work: string, signal: AbortSignal): Promise<Returned> {
    const { environment, address, backupId } = returning;
    const candidates = (await listFinishedBackups(database, environment.id)).filter(({ id }) => id <= backupId);
    const displayName = (await backupForOperation(database, backupId))?.environment_display_name ?? "";
    const made = await makeOfLatestIntactBackup(services, { candidates, work, environment, address }, signal);
    if (made === null) throw new StepFailure(noneIsWhole(displayName, candidates));
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

  /** It may have been closed for maintenance, or broken, when it was deleted: then that is what it is again. */
  async function seeAnswer({ address }: Returning, stop: AbortSignal): Promise<void> {
    const patience = { deadlineSeconds: patienceSeconds, pace: quickPace, stop };
    const error = await attempt((signal) => probe(address, signal, "answer"), patience);
    if (error !== null) await probe(address, stop, "sign");
  }

  return {
    kind,
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const backups = await Promise.all(input.environments.map(backupOf));
          // All of it as environments, and the largest at one moment as it comes from the archives.
          const sizes = backups.map(({ bytes }) => bytes);
          const moreBytes = sizes.reduce((sum, bytes) => sum + bytes, Math.max(0, ...sizes));
          const room = { copies: [], moreBytes, freeBytes: await archives.freeBytes() };
          await requireRoom(runtime, room, "Bringing it back");
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
          for (const returning of input.environments) await seeAnswer(returning, signal);
        },
      },
    ],
    succeeded: async (transaction, { input, operationId }) => {
      const [first] = input.environments;
      if (!first || !(await isEnvironmentThere(transaction, first.environment.id))) {
        throw new StepFailure("The site was deleted while this was restored.");
      }
      if (input.isSite) {
        await setSiteState(transaction, input.siteId, "live");
        await removeDeletedSite(transaction, input.siteId);
      } else {
        await removeDeletedEnvironment(transaction, first.environment.id);
      }
      const environments = returnedIn(await readResult(transaction, operationId));
      const leftOut = input.environments.flatMap((returning) => returning.leftOut ?? []);
      const warnings = [warningOf(environments), leftOutWarning(leftOut)].filter((warning) => warning !== null);
      if (warnings.length > 0) await warnOfOperation(transaction, operationId, warnings.join(" "));
      const returned = environments.map((each) => ({ ...each }));
      return { address: first.address, environments: returned, left_out_domains: leftOut };
    },
    // It can still be restored.
    failed: async (transaction, { input }) => {
      if (input.isSite) return removeSiteRows(transaction, input.siteId);
      for (const id of ids(input)) await removeEnvironmentRows(transaction, id);
    },
  };
}

function returnedIn(result: Json): readonly Returned[] {
  const isThere = typeof result === "object" && result !== null && "environments" in result;
  return isThere && Array.isArray(result.environments) ? result.environments.filter(isReturned) : [];
}

function isReturned(value: Json): value is Returned {
  return typeof value === "object" && value !== null && "environment_id" in value && "damaged_backups" in value;
}

/** What the owner should know although everything is there again. */
function warningOf(environments: readonly Returned[]): string | null {
  const older = environments.filter(({ damaged_backups }) => damaged_backups > 0);
  if (older.length === 0) return null;
  return older
    .map((one) => olderBackupWarning(`${one.display_name}:`, one.damaged_backups, one.backup_created_at))
    .join(" ");
}

function leftOutWarning(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `Without these domains, which are in use elsewhere by now: ${names.join(", ")}.`;
}

/** Says how to restore the rest of a site anyway. */
function noneIsWhole(displayName: string, candidates: readonly FinishedBackup[]): string {
  const ids = candidates.map(({ id }) => id).join(", ");
  return (
    `What the environment ${displayName} would be restored from is missing or damaged in the archives: none of its ` +
    `backups (${ids}) is whole. Where it is a further environment of a site, remove these backups; the site is then restored without it.`
  );
}
