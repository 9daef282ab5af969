/**
 * A fresh WordPress in the place of a site's live one, with its title, its administrator and its language. It is made as
 * an environment of its own that nobody serves, becomes the live environment's next release, is tried out, and is
 * switched to by one rename; the same rename undoes it.
 *
 * What could be written to the live environment while it is backed up is refused by the edge, so that nothing is
 * accepted that is in neither the backup nor the site.
 */
import type { WordPressFacts } from "@sitewright/runtimes/runtime.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setFrozen } from "../../store/sites/environmentStates.ts";
import { noteWordPressVersion } from "../../store/sites/siteStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupRoom, removeBackUp } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";

type Ref = { readonly id: string; readonly number: number };

/** The new password's digest is the secret. */
export type ResetSiteInput = {
  /** Names the release that is built. */
  readonly token: string;
  /** The live one. */
  readonly environment: Ref;
  /** Fresh, without a row: where the new WordPress is made. */
  readonly scratch: Ref;
  /** Of the live environment. */
  readonly address: string;
};

export function resetSite(services: Services): OperationDefinition<ResetSiteInput> {
  const { database, runtime, publisher, tryOut, settle } = services;

  async function freeze({ environment }: ResetSiteInput, isFrozen: boolean): Promise<void> {
    await setFrozen(database, environment.id, isFrozen);
    await publisher.publish();
  }

  return {
    kind: "resetSite",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { environment } }) =>
          requireRoom(runtime, { copies: [await backupRoom(database, environment)] }, "The reset"),
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
          const { version: phpVersion } = await phpOf(database, environment.id);
          const layout = await runtime.staged(environment, token);
          if (layout === null) throw new StepFailure("What was built for the reset is not there any more.");
          const what = "The fresh WordPress";
          await tryOut({ environment, phpVersion, layout, address, what, isReadOnly: false }, signal);
        },
      },
      {
        name: "freeze",
        deadlineSeconds: 60,
        run: async ({ input, signal }) => {
          await freeze(input, true);
          await settle(input.environment.id, signal);
        },
        undo: ({ input }) => freeze(input, false),
      },
      {
        name: "backup",
        deadlineSeconds: 3_600,
        run: ({ input: { environment, address }, operationId, signal }) => {
          const note = "Before a reset";
          const wish = { environment, address, operationId, type: "system-generated", name: note, note } as const;
          return backUp(services, wish, signal);
        },
        undo: ({ operationId }) => removeBackUp(services, operationId),
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

/** Makes the new WordPress beside the live one, and keeps which version it is until it is the site's. */
async function prepare(
  { database, runtime }: Services,
  { input, operationId, secret }: StepContext<ResetSiteInput>,
): Promise<void> {
  const { scratch, address } = input;
  const { version: phpVersion } = await phpOf(database, input.environment.id);
  const facts = await factsOf(runtime, input);
  const wordpress = { ...facts, address, adminPasswordDigest: secret() };
  const { wordpressVersion } = await runtime.provision({ environment: scratch, phpVersion, wordpress });
  await saveResult(database, operationId, wordpressVersion);
}

async function factsOf(
  runtime: Pick<Services["runtime"], "wordpress">,
  { environment }: ResetSiteInput,
): Promise<WordPressFacts> {
  const facts = await runtime.wordpress(environment);
  if (facts !== null) return facts;
  throw new StepFailure(
    "The live environment has no WordPress whose title and administrator could be kept. Create a new site instead.",
  );
}
