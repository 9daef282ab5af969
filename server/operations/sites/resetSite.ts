/**
 * Replaces a site's live WordPress with a fresh one that has the same title, administrator and language. It is created
 * in a scratch environment without visitors, staged as the live environment's next release, tried out, and switched to
 * with one rename. The undo is the reverse rename.
 *
 * During the backup the edge refuses writes to the live environment, so that nothing is accepted and then lost.
 */
import type { WordPressFacts } from "@sitewright/runtimes/runtime.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setFrozen } from "../../store/sites/environmentStates.ts";
import { noteWordPressVersion } from "../../store/sites/siteStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";

/** The runtime is absent in orders from before there were several. */
type Scratch = EnvironmentInput & { readonly runtime?: string };

/** The secret is the hash of the new password. */
export type ResetSiteInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  /** The live environment. */
  readonly environment: EnvironmentInput;
  /** A new environment without a database row, in which the new WordPress is created. */
  readonly scratch: Scratch;
  /** The live environment's address. */
  readonly address: string;
};

export function resetSite(services: Services): OperationDefinition<ResetSiteInput> {
  const { database, runtime, publisher, runTrial, waitForWrites } = services;

  async function freeze({ environment }: ResetSiteInput, isFrozen: boolean): Promise<void> {
    await setFrozen(database, environment.id, isFrozen);
    await publisher.publish();
  }

  return {
    kind: "resetSite",
    turnFrom: "prepare",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { environment } }) =>
          requireDiskSpace(runtime, { copies: [await backupSpace(database, environment)] }, "The reset"),
      },
      {
        name: "prepare",
        deadlineSeconds: 1_800,
        run: (context) => prepare(services, context),
        undo: ({ input }) => runtime.destroy(input.scratch),
      },
      {
        name: "stage",
        deadlineSeconds: 600,
        run: ({ input: { environment, scratch: source, token } }) =>
          runtime.stage({ environment, source, token, files: "all", database: "all", addresses: [] }),
        undo: ({ input }) => runtime.unstage(input.environment, input.token),
      },
      {
        name: "trial",
        deadlineSeconds: 90,
        run: async ({ input, signal }) => {
          const { environment, token, address } = input;
          const php = await phpOf(database, environment.id);
          const layout = await runtime.staged(environment, token);
          if (layout === null) throw new StepFailure("The new release no longer exists.");
          const what = "The fresh WordPress";
          await runTrial({ environment, php, layout, address, what, isReadOnly: false }, signal);
        },
      },
      {
        name: "freeze",
        deadlineSeconds: 60,
        run: async ({ input, signal }) => {
          await freeze(input, true);
          await waitForWrites(input.environment.id, signal);
        },
        undo: ({ input }) => freeze(input, false),
      },
      {
        name: "backup",
        deadlineSeconds: 3_600,
        run: ({ input: { environment, address }, operationId, signal }) => {
          const note = "Before a reset";
          const request = { environment, address, operationId, type: "system-generated", name: note, note } as const;
          return backUp(services, request, signal);
        },
        undo: ({ operationId }) => undoBackUp(services, operationId),
      },
      {
        name: "switch",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          await runtime.switchTo(input.environment, input.token);
          await freeze(input, false);
        },
        undo: async ({ input }) => {
          await runtime.switchBack(input.environment, input.token);
          await freeze(input, false);
        },
      },
      {
        name: "tidy",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          await runtime.destroy(input.scratch);
          await runtime.prune(input.environment);
        },
      },
    ],
    pointOfNoReturn: "tidy",
    succeeded: async (transaction, { input, operationId }) => {
      const version = await readResult(transaction, operationId);
      if (typeof version === "string") await noteWordPressVersion(transaction, input.environment.id, version);
      return null;
    },
    failed: async () => undefined,
  };
}

/** Creates the new WordPress in the scratch environment, and stores its version until the operation ends. */
async function prepare(
  { database, runtime }: Services,
  { input, operationId, secret }: StepContext<ResetSiteInput>,
): Promise<void> {
  const { scratch, address } = input;
  const { version: phpVersion } = await phpOf(database, input.environment.id);
  const facts = await wordPressFacts(runtime, input);
  const wordpress = { ...facts, address, adminPasswordDigest: secret() };
  const { wordpressVersion } = await runtime.provision({ environment: scratch, phpVersion, wordpress });
  await saveResult(database, operationId, wordpressVersion);
}

async function wordPressFacts(
  runtime: Pick<Services["runtime"], "wordpress">,
  { environment }: ResetSiteInput,
): Promise<WordPressFacts> {
  const facts = await runtime.wordpress(environment);
  if (facts !== null) return facts;
  throw new StepFailure("The live environment has no WordPress, so it can't be reset. Create a new site instead.");
}
