/**
 * Newer versions of plugins or themes, one or several, in an environment. They are fetched and looked through while nothing is
 * held. When nobody can change anything any more, and they are still newer than what is there (`../steps/requireOlder.ts`), a copy of
 * everything that the environment has becomes its next release, gets them, and is tried out: what they change in the
 * database when they are first asked for something, they change there. It takes the present one's place by one rename
 * (`../steps/takeOver.ts`).
 */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import { applyOffers } from "../../packages/applyOffers.ts";
import { versionKey } from "../../packages/versions.ts";
import type { Database, DatabaseTransaction, Json, PackageKind } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type NotedUpdates, notePackageUpdates } from "../../store/packages/packageUpdates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupRoom, workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { fetchPackage } from "../steps/fetchPackage.ts";
import { requireOlderPackages } from "../steps/requireOlder.ts";
import type { Services } from "../steps/services.ts";
import { holdAndStage, takeOver } from "../steps/takeOver.ts";
import { loginAndDashboard, namedPage, sameFrontPage } from "../steps/trial.ts";

export type PackageUpdate = {
  readonly name: string;
  /** As the source calls it. */
  readonly slug: string;
  /** As WordPress names it. */
  readonly file: string;
  /** When the update was asked for. */
  readonly from: string;
  readonly to: string;
};

export type UpdatePackagesInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly target: { readonly id: string; readonly number: number };
  /** Of the target. */
  readonly address: string;
  readonly kind: PackageKind;
  readonly updates: readonly PackageUpdate[];
  /** Paths that are asked for besides. Absent: none. */
  readonly checks?: readonly string[];
  /** How much screenshots of these and of the front page may differ, in percent. Absent or null: no screenshots. */
  readonly pictureThreshold?: number | null;
};

type Context = StepContext<UpdatePackagesInput>;

/** A zip, what is in it, and the copy in the release. */
const roomForPackages = 300_000_000;

export function updatePackages(services: Services, kind: OperationKind): OperationDefinition<UpdatePackagesInput> {
  const { database, runtime, archives } = services;
  const workOf = (operationId: string) => `${workName(operationId)}-packages`;

  async function fetch({ input, operationId, signal }: Context): Promise<void> {
    const { target, kind: packageKind, updates } = input;
    const { packageSource } = services;
    if (packageSource === null) throw new StepFailure("This installation has no package source any more.");
    await requireOlderPackages(runtime, target, packageKind, updates);
    await note(database, input, "updating");
    const copies = [{ environment: target, files: 1, database: 1 }, await backupRoom(database, target)];
    await requireRoom(runtime, { copies, moreBytes: roomForPackages }, "The update");
    const folder = await archives.workFolder(workOf(operationId));
    for (const { to: version, ...one } of updates) {
      await fetchPackage(packageSource, { ...one, version, kind: packageKind }, folder, signal);
    }
  }

  async function stage({ input, operationId }: Context): Promise<void> {
    const { target, token, kind: packageKind, updates } = input;
    const older = await requireOlderPackages(runtime, target, packageKind, updates);
    await saveResult(database, operationId, resultOf(older));
    const whole = { files: "all", database: "all", addresses: [] } as const;
    await runtime.stage({ environment: target, source: target, token, ...whole });
    const folder = archives.workPlace(workOf(operationId));
    const packages = updates.map(({ name }) => ({ kind: packageKind, name, folder: `${folder}/${name}` }));
    await runtime.installPackages(target, token, packages);
  }

  return {
    kind,
    steps: [
      {
        name: "fetch",
        deadlineSeconds: 1_800,
        run: fetch,
        undo: ({ operationId }) => archives.removeWorkFolder(workOf(operationId)),
      },
      ...holdAndStage<UpdatePackagesInput>(services, stage),
      ...takeOver<UpdatePackagesInput>(services, {
        what: "The site with the update",
        note: ({ updates }) => `Before an update of ${namesOf(updates)}`,
        sharesOwn: () => false,
        isSameSite: true,
        pages: ({ checks = [] }) => [sameFrontPage, ...loginAndDashboard, ...checks.map(namedPage)],
        looks: ({ checks: paths = [], pictureThreshold: threshold = null }) =>
          threshold === null ? null : { paths, threshold },
      }),
      {
        name: "tidy",
        deadlineSeconds: 60,
        run: ({ operationId }) => archives.removeWorkFolder(workOf(operationId)),
      },
    ],
    pointOfNoReturn: "prune",
    succeeded: async (transaction, { input, operationId }) => {
      await note(transaction, input, "updated");
      // It is read again in a moment; until then its old state must not be reported.
      await applyOffers(transaction, [input.target.id]);
      // Where an earlier version of Sitewright has built it, what was found then was not kept.
      return (await readResult(transaction, operationId)) ?? resultOf(input.updates);
    },
    failed: (transaction, { input }, kind) => note(transaction, input, kind ?? "failed"),
  };
}

function note(
  database: Database | DatabaseTransaction,
  { target, kind, updates }: UpdatePackagesInput,
  became: NotedUpdates["became"],
): Promise<void> {
  const noted = updates.map(({ name, to }) => ({ name, to, key: versionKey(to) }));
  return notePackageUpdates(database, { environmentId: target.id, kind, updates: noted, became });
}

function resultOf(updates: readonly PackageUpdate[]): Json {
  return { updated: updates.map(({ name, from, to }) => ({ name, from, to })) };
}

const mostNamed = 3;

/** For the note of a backup. */
function namesOf(updates: readonly PackageUpdate[]): string {
  const named = updates.slice(0, mostNamed).map(({ name, to }) => `${name} to ${to}`);
  const more = updates.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}
