/**
 * One environment's database and files over another's. The next release is built beside the one that visitors see,
 * tried out, and switched to by one rename; the same rename undoes it.
 *
 * What could be written to the target in between is refused by the edge for that time, so that nothing is accepted
 * and then lost. That time is short: where the target's own tables or files are copied into its next release it
 * begins before they are, otherwise when it is built, just before the backup is taken. `docs/decisions/pushing.md` says more.
 */
import type { WritablePart } from "@sitewright/runtimes/runtime.ts";
import { noteRelease, setFrozen } from "../store/environmentStates.ts";
import { atOnce } from "./atOnce.ts";
import { attempt, quickPace } from "./attempt.ts";
import { backUp, removeBackUp } from "./backup.ts";
import { requireRoom } from "./diskRoom.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "./operation.ts";
import { phpOf } from "./phpOf.ts";
import type { Services } from "./services.ts";
import type { Candidate } from "./trial.ts";

type Ref = { readonly id: string; readonly number: number };

/** What is pushed: everything, the named ones, or nothing. */
export type PushPart = "all" | "none" | readonly string[];

export type PushInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly source: Ref;
  readonly target: Ref;
  /** Of the target. */
  readonly address: string;
  readonly files: PushPart;
  readonly database: PushPart;
  readonly addresses: readonly { readonly from: string; readonly to: string }[];
  readonly sourceName: string;
};

/** Whether what is the target's own is copied, and must not change from then on. */
function copiesOwn({ files, database }: PushInput): boolean {
  return typeof files !== "string" || typeof database !== "string";
}

/** What is the target's own is served by the next release too: trying that out must not change it. */
function sharedOf({ files, database }: PushInput): readonly WritablePart[] {
  return [...(files === "none" ? (["files"] as const) : []), ...(database === "none" ? (["database"] as const) : [])];
}

const trialSeconds = 90;

export function pushEnvironment(services: Services): OperationDefinition<PushInput> {
  const { database, runtime, publisher, tryOut, settle } = services;

  async function freeze(input: PushInput, signal: AbortSignal): Promise<void> {
    await setFrozen(database, input.target.id, true);
    await publisher.publish();
    await settle(input.target.id, signal);
  }

  async function thaw(input: PushInput): Promise<void> {
    await setFrozen(database, input.target.id, false);
    await publisher.publish();
  }

  /** What passes by itself is waited for here: the backup beside it is not to be made anew for that. */
  async function patientlyTryOut(candidate: Candidate, stop: AbortSignal): Promise<boolean> {
    let isKnown = false;
    const patience = { deadlineSeconds: trialSeconds, pace: quickPace, stop };
    const error = await attempt(async (signal) => {
      isKnown = await tryOut(candidate, signal);
    }, patience);
    if (error === null) return isKnown;
    const message = error instanceof StepFailure ? error.message : "What would be pushed could not be tried out.";
    throw new StepFailure(message, { cause: error });
  }

  /** Where its first page wants to change what visitors use, it is tried out with a copy of that. */
  async function tryStaged(input: PushInput, stop: AbortSignal): Promise<void> {
    const { target, token, address } = input;
    const { version: phpVersion } = await phpOf(database, target.id);
    const staged = await runtime.staged(target, token);
    if (staged === null) throw new StepFailure("What was built for the push is not there any more.");
    const candidate = { environment: target, phpVersion, address, what: "What would be pushed" };
    if (await patientlyTryOut({ ...candidate, layout: staged, readOnly: sharedOf(input) }, stop)) return;
    const layout = await runtime.rehearse(target, token);
    await patientlyTryOut({ ...candidate, layout, readOnly: [] }, stop);
  }

  async function tryAndBackUp({ input, operationId, signal }: StepContext<PushInput>): Promise<void> {
    const note = `Before a push from ${input.sourceName}`;
    const { target: environment, address } = input;
    const wish = { environment, address, operationId, type: "system-generated", name: note, note } as const;
    await atOnce(signal, [(stop) => tryStaged(input, stop), (stop) => backUp(services, wish, stop)]);
  }

  return {
    kind: "pushEnvironment",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: ({ input }) => requireRoom(runtime, [input.source, input.target, input.target], "The push"),
      },
      {
        name: "hold",
        deadlineSeconds: 60,
        run: async ({ input, signal }) => {
          if (copiesOwn(input)) await freeze(input, signal);
        },
        undo: ({ input }) => thaw(input),
      },
      {
        name: "stage",
        deadlineSeconds: 3_600,
        run: ({ input }) => runtime.stage(stageOf(input)),
        undo: ({ input }) => runtime.unstage(input.target, input.token),
      },
      {
        name: "freeze",
        deadlineSeconds: 60,
        run: ({ input, signal }) => freeze(input, signal),
        undo: ({ input }) => thaw(input),
      },
      {
        name: "trial-and-backup",
        deadlineSeconds: 3_600,
        run: tryAndBackUp,
        undo: ({ operationId }) => removeBackUp(services, operationId),
      },
      {
        name: "switch",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          await runtime.switchTo(input.target, input.token);
          await thaw(input);
        },
        undo: async ({ input }) => {
          await runtime.switchBack(input.target, input.token);
          await thaw(input);
        },
      },
      {
        name: "prune",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const layout = await runtime.layout(input.target);
          if (layout !== null) {
            const { wordpressVersion, multisite } = layout;
            await noteRelease(database, input.target.id, { wordpressVersion, isWildcard: multisite === "subdomain" });
            await publisher.publish();
          }
          await runtime.prune(input.target);
        },
      },
    ],
    pointOfNoReturn: "prune",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}

function stageOf({ target, source, token, files, database, addresses }: PushInput) {
  return { environment: target, source, token, files, database, addresses };
}
