/**
 * Updates WordPress itself. Installs the new version in a copy of the environment, upgrades the copy's database through
 * WordPress's own upgrade page, tries out the site, and then replaces the current release (`../steps/takeOver.ts`).
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupSpace, workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { fetchWordPress, wordPressFolder } from "../steps/fetchWordPress.ts";
import { phpOf } from "../steps/phpOf.ts";
import { requireOlderWordPress } from "../steps/requireOlder.ts";
import type { Services } from "../steps/services.ts";
import { freezeAndStage, takeOver } from "../steps/takeOver.ts";
import { comparedFrontPage, frontPage, loginAndDashboard, type TrialPage, updateCheckPage } from "../steps/trial.ts";

export type UpdateWordPressInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
  /** The installed version when the update was requested. */
  readonly from: string;
  readonly to: string;
  /** Paths of further pages to try out. */
  readonly checks: readonly string[];
  /** How much screenshots of these and of the front page may differ, in percent. Null: no screenshots. */
  readonly pictureThreshold: number | null;
};

type Context = StepContext<UpdateWordPressInput>;

/** Disk space for the zip, its content, the shared code, and the copy in the release. */
const wordPressBytes = 400_000_000;

/** The page that upgrades the database. Works without a login, and does nothing if the database is up to date. */
const databaseUpgrade: TrialPage = {
  url: "/wp-admin/upgrade.php?step=1",
  name: "database upgrade",
  fault: (answer, hasError) =>
    answer.status === 200 ? frontPage.fault(answer, hasError) : `has the status ${answer.status}`,
};

export function updateWordPress(services: Services): OperationDefinition<UpdateWordPressInput> {
  const { database, runtime, archives } = services;
  const workFolderName = (operationId: string) => `${workName(operationId)}-wordpress`;

  async function fetch({ input: { target, to }, operationId, signal }: Context): Promise<void> {
    const { packageSource } = services;
    if (packageSource === null) throw new StepFailure("This installation no longer has a package source.");
    const from = await requireOlderWordPress(runtime, target, to);
    const copies = [{ environment: target, files: 1, database: 1 }, await backupSpace(database, target)];
    await requireDiskSpace(runtime, { copies, moreBytes: wordPressBytes }, "The update");
    const { version: phpVersion } = await phpOf(database, target.id);
    const folder = await archives.workFolder(workFolderName(operationId));
    await fetchWordPress(packageSource, { from, to, phpVersion }, folder, signal);
  }

  async function stage({ input: { target, token, to: version }, operationId }: Context): Promise<void> {
    const from = await requireOlderWordPress(runtime, target, version);
    await saveResult(database, operationId, { from, to: version } satisfies OperationResult<"updateWordPress">);
    const whole = { files: "all", database: "all", addresses: [] } as const;
    await runtime.stage({ environment: target, source: target, token, ...whole });
    const folder = wordPressFolder(archives.workPlace(workFolderName(operationId)));
    await runtime.installWordPress(target, token, { version, folder });
  }

  return {
    kind: "updateWordPress",
    turnFrom: "hold",
    steps: [
      {
        name: "fetch",
        deadlineSeconds: 1_800,
        run: fetch,
        undo: ({ operationId }) => archives.removeWorkFolder(workFolderName(operationId)),
      },
      ...freezeAndStage<UpdateWordPressInput>(services, stage),
      ...takeOver<UpdateWordPressInput>(services, {
        what: "The site with the update",
        note: ({ to }) => `Before the update to WordPress ${to}`,
        sharesTargetData: () => false,
        isSameSite: true,
        pages: ({ checks }) => [
          databaseUpgrade,
          comparedFrontPage,
          ...loginAndDashboard,
          ...checks.map(updateCheckPage),
        ],
        visualCheck: ({ checks: paths, pictureThreshold: threshold }) =>
          threshold === null ? null : { paths, threshold },
      }),
      {
        name: "tidy",
        deadlineSeconds: 60,
        run: ({ operationId }) => archives.removeWorkFolder(workFolderName(operationId)),
      },
    ],
    pointOfNoReturn: "prune",
    // The result is missing if an earlier version of Sitewright ran the "stage" step.
    succeeded: async (transaction, { operationId, input: { from, to } }) =>
      (await readResult(transaction, operationId)) ?? { from, to },
    failed: async () => undefined,
  };
}
