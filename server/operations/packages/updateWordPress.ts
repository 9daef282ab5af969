/**
 * A newer version of WordPress itself in an environment. As with plugins, a copy of everything that the environment has becomes its
 * next release and gets it. There the database is brought to the new version, as WordPress's own page for that does it, and
 * the site is tried out; then it takes the present one's place by one rename (`../steps/takeOver.ts`).
 */
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupRoom, workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { fetchWordPress, wordPressIn } from "../steps/fetchWordPress.ts";
import { phpOf } from "../steps/phpOf.ts";
import { requireOlderWordPress } from "../steps/requireOlder.ts";
import type { Services } from "../steps/services.ts";
import { holdAndStage, takeOver } from "../steps/takeOver.ts";
import { frontPage, loginAndDashboard, namedPage, sameFrontPage, type TrialPage } from "../steps/trial.ts";

export type UpdateWordPressInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly target: { readonly id: string; readonly number: number };
  /** Of the target. */
  readonly address: string;
  /** When the update was asked for. */
  readonly from: string;
  readonly to: string;
  /** Paths that are asked for besides. */
  readonly checks: readonly string[];
  /** How much screenshots of these and of the front page may differ, in percent. Null: no screenshots. */
  readonly pictureThreshold: number | null;
};

type Context = StepContext<UpdateWordPressInput>;

/** A zip, what is in it, the code that is kept, and the copy in the release. */
const roomForWordPress = 400_000_000;

/** It needs no login, and says so if there is nothing to do. */
const databaseUpgrade: TrialPage = {
  url: "/wp-admin/upgrade.php?step=1",
  name: "database upgrade",
  fault: (answer, hasError) =>
    answer.status === 200 ? frontPage.fault(answer, hasError) : `has the status ${answer.status}`,
};

export function updateWordPress(services: Services): OperationDefinition<UpdateWordPressInput> {
  const { database, runtime, archives } = services;
  const workOf = (operationId: string) => `${workName(operationId)}-wordpress`;

  async function fetch({ input: { target, to }, operationId, signal }: Context): Promise<void> {
    const { packageSource } = services;
    if (packageSource === null) throw new StepFailure("This installation has no package source any more.");
    const from = await requireOlderWordPress(runtime, target, to);
    const copies = [{ environment: target, files: 1, database: 1 }, await backupRoom(database, target)];
    await requireRoom(runtime, { copies, moreBytes: roomForWordPress }, "The update");
    const { version: phpVersion } = await phpOf(database, target.id);
    const folder = await archives.workFolder(workOf(operationId));
    await fetchWordPress(packageSource, { from, to, phpVersion }, folder, signal);
  }

  async function stage({ input: { target, token, to: version }, operationId }: Context): Promise<void> {
    const from = await requireOlderWordPress(runtime, target, version);
    await saveResult(database, operationId, { from, to: version });
    const whole = { files: "all", database: "all", addresses: [] } as const;
    await runtime.stage({ environment: target, source: target, token, ...whole });
    const folder = wordPressIn(archives.workPlace(workOf(operationId)));
    await runtime.installWordPress(target, token, { version, folder });
  }

  return {
    kind: "updateWordPress",
    steps: [
      {
        name: "fetch",
        deadlineSeconds: 1_800,
        run: fetch,
        undo: ({ operationId }) => archives.removeWorkFolder(workOf(operationId)),
      },
      ...holdAndStage<UpdateWordPressInput>(services, stage),
      ...takeOver<UpdateWordPressInput>(services, {
        what: "The site with the update",
        note: ({ to }) => `Before the update to WordPress ${to}`,
        sharesOwn: () => false,
        isSameSite: true,
        pages: ({ checks }) => [databaseUpgrade, sameFrontPage, ...loginAndDashboard, ...checks.map(namedPage)],
        looks: ({ checks: paths, pictureThreshold: threshold }) => (threshold === null ? null : { paths, threshold }),
      }),
      {
        name: "tidy",
        deadlineSeconds: 60,
        run: ({ operationId }) => archives.removeWorkFolder(workOf(operationId)),
      },
    ],
    pointOfNoReturn: "prune",
    // Where an earlier version of Sitewright has built it, what was found then was not kept.
    succeeded: async (transaction, { operationId, input: { from, to } }) =>
      (await readResult(transaction, operationId)) ?? { from, to },
    failed: async () => undefined,
  };
}
