/**
 * A deleted site, or an environment that was deleted from a site, is there again under the same ids: made of its backup,
 * made known, and seen to answer before it is shown. If anything fails it can be brought back as before.
 */
import type { OperationKind } from "@sitewright/contract/operations.ts";
import { findBackup } from "../store/backups.ts";
import { removeDeletedEnvironment } from "../store/deletedEnvironments.ts";
import { removeDeletedSite } from "../store/deletedSites.ts";
import { isEnvironmentThere, removeEnvironmentRows } from "../store/environments.ts";
import { setEnvironmentState } from "../store/routes.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../store/siteStates.ts";
import { attempt, quickPace } from "./attempt.ts";
import { workName } from "./backup.ts";
import { requireRoom } from "./diskRoom.ts";
import { makeOfBackup } from "./fetchBackup.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "./operation.ts";
import type { Services } from "./services.ts";

/** One that is brought back, and of what. */
export type Returning = {
  readonly environment: { readonly id: string; readonly number: number };
  readonly address: string;
  readonly backupId: number;
};

/** The ids are those of the rows that the request inserted. */
export type RestoreDeletedInput = {
  readonly siteId: string;
  /** Whether the site comes back with them; otherwise it is there. */
  readonly isSite: boolean;
  /** The live one, where it is among them, is the first. */
  readonly environments: readonly Returning[];
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
    // One after the other: each has the operation's work folder for itself.
    for (const returning of input.environments) {
      const { environment, address } = returning;
      const work = { backup: await backupOf(returning), work: workName(operationId), environment, address };
      const { wordpressVersion } = await makeOfBackup(services, work, signal);
      if (wordpressVersion !== null) await noteWordPressVersion(database, environment.id, wordpressVersion);
    }
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
    succeeded: async (transaction, { input }) => {
      const [first] = input.environments;
      if (!first || !(await isEnvironmentThere(transaction, first.environment.id))) {
        throw new StepFailure("The site was deleted while this was brought back.");
      }
      if (input.isSite) {
        await setSiteState(transaction, input.siteId, "live");
        await removeDeletedSite(transaction, input.siteId);
      } else {
        await removeDeletedEnvironment(transaction, first.environment.id);
      }
      return { address: first.address };
    },
    // It can still be brought back.
    failed: async (transaction, { input }) => {
      if (input.isSite) return removeSiteRows(transaction, input.siteId);
      for (const id of ids(input)) await removeEnvironmentRows(transaction, id);
    },
  };
}
