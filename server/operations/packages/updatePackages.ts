/**
 * Updates one or more plugins or themes of an environment. Downloads and checks them first. Then freezes the
 * environment, checks that they are still newer than the installed versions (`../steps/requireOlder.ts`), and installs
 * them in a copy of the environment. The copy is tried out, including the database changes that the new versions make
 * on their first page, and then replaces the current release (`../steps/takeOver.ts`).
 */

import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { applyOffers } from "../../packages/applyOffers.ts";
import { versionKey } from "../../packages/versions.ts";
import type { Database, DatabaseTransaction, PackageKind } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type NotedUpdates, notePackageUpdates } from "../../store/packages/packageUpdates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupSpace, workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { fetchPackage } from "../steps/fetchPackage.ts";
import { requireOlderPackages } from "../steps/requireOlder.ts";
import type { Services } from "../steps/services.ts";
import { freezeAndStage, takeOver } from "../steps/takeOver.ts";
import { comparedFrontPage, loginAndDashboard, updateCheckPage } from "../steps/trial.ts";

export type PackageUpdate = {
  readonly name: string;
  /** Its name in the package source. */
  readonly slug: string;
  /** The plugin's main file or the theme's folder, as WordPress identifies it. */
  readonly file: string;
  /** The installed version when the update was requested. */
  readonly from: string;
  readonly to: string;
};

export type UpdatePackagesInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
  readonly kind: PackageKind;
  readonly updates: readonly PackageUpdate[];
  /** Paths of further pages to try out. Absent: none. */
  readonly checks?: readonly string[];
  /** How much screenshots of these and of the front page may differ, in percent. Absent or null: no screenshots. */
  readonly pictureThreshold?: number | null;
};

type Context = StepContext<UpdatePackagesInput>;

/** Disk space for a package's zip, its content, and the copy in the release. */
const packageBytes = 300_000_000;

export function updatePackages(services: Services, kind: OperationKind): OperationDefinition<UpdatePackagesInput> {
  const { database, runtime, archives } = services;
  const workFolderName = (operationId: string) => `${workName(operationId)}-packages`;

  async function fetch({ input, operationId, signal }: Context): Promise<void> {
    const { target, kind: packageKind, updates } = input;
    const { packageSource } = services;
    if (packageSource === null) throw new StepFailure("This installation no longer has a package source.");
    await requireOlderPackages(runtime, target, packageKind, updates);
    await note(database, input, "updating");
    const copies = [{ environment: target, files: 1, database: 1 }, await backupSpace(database, target)];
    await requireDiskSpace(runtime, { copies, moreBytes: packageBytes }, "The update");
    const folder = await archives.workFolder(workFolderName(operationId));
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
    const folder = archives.workPlace(workFolderName(operationId));
    const packages = updates.map(({ name }) => ({ kind: packageKind, name, folder: `${folder}/${name}` }));
    await runtime.installPackages(target, token, packages);
  }

  return {
    kind,
    turnFrom: "hold",
    steps: [
      {
        name: "fetch",
        deadlineSeconds: 1_800,
        run: fetch,
        undo: ({ operationId }) => archives.removeWorkFolder(workFolderName(operationId)),
      },
      ...freezeAndStage<UpdatePackagesInput>(services, stage),
      ...takeOver<UpdatePackagesInput>(services, {
        what: "The site with the update",
        note: ({ updates }) => `Before an update of ${namesOf(updates)}`,
        sharesTargetData: () => false,
        isSameSite: true,
        pages: ({ checks = [] }) => [comparedFrontPage, ...loginAndDashboard, ...checks.map(updateCheckPage)],
        visualCheck: ({ checks: paths = [], pictureThreshold: threshold = null }) =>
          threshold === null ? null : { paths, threshold },
      }),
      {
        name: "tidy",
        deadlineSeconds: 60,
        run: ({ operationId }) => archives.removeWorkFolder(workFolderName(operationId)),
      },
    ],
    pointOfNoReturn: "prune",
    succeeded: async (transaction, { input, operationId }) => {
      await note(transaction, input, "updated");
      // The packages are read again soon; until then the list must not show the old state.
      await applyOffers(transaction, [input.target.id]);
      // The result is missing if an earlier version of Sitewright ran the "stage" step.
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

function resultOf(updates: readonly PackageUpdate[]): OperationResult<"updatePlugin"> {
  return { updated: updates.map(({ name, from, to }) => ({ name, from, to })) };
}

const maxNamed = 3;

/** Lists the updates for the name of the backup. */
function namesOf(updates: readonly PackageUpdate[]): string {
  const named = updates.slice(0, maxNamed).map(({ name, to }) => `${name} to ${to}`);
  const more = updates.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}
