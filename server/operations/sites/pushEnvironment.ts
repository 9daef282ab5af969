/**
 * One environment's database and files over another's. The next release is built beside the one that visitors see, and
 * takes its place (`../steps/takeOver.ts`).
 *
 * The time for which writing is refused is short: where the target's own tables or files are copied into its next
 * release it begins before they are, otherwise when it is built, just before the backup is taken.
 */

import type { OperationDefinition } from "../engine/operation.ts";
import { backupRoom } from "../steps/backup.ts";
import { type Copy, type NextSize, requireQuota, requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";
import { freeze, takeOver, thaw } from "../steps/takeOver.ts";

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

/** Whether a part that is not pushed is served by the next release too. */
export function sharesOwn({ files, database }: Pick<PushInput, "files" | "database">): boolean {
  return files === "none" || database === "none";
}

export function pushEnvironment(services: Services): OperationDefinition<PushInput> {
  const { database, runtime } = services;
  return {
    kind: "pushEnvironment",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          await requireQuota(services, nextSize(input), "The push");
          const copies = [...stagedCopies(input), await backupRoom(database, input.target)];
          await requireRoom(runtime, { copies }, "The push");
        },
      },
      {
        name: "hold",
        deadlineSeconds: 60,
        run: async ({ input, signal }) => {
          if (copiesOwn(input)) await freeze(services, input.target, signal);
        },
        undo: ({ input }) => thaw(services, input.target),
      },
      {
        name: "stage",
        deadlineSeconds: 3_600,
        run: ({ input }) => runtime.stage(stageOf(input)),
        undo: ({ input }) => runtime.unstage(input.target, input.token),
      },
      ...takeOver<PushInput>(services, {
        what: "What would be pushed",
        note: ({ sourceName }) => `Before a push from ${sourceName}`,
        sharesOwn,
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}

/** What the next release is made of. Named files and tables are mixed with the target's own, of which all are copied. */
function stagedCopies({ source, target, files, database }: PushInput): readonly Copy[] {
  const isMixed = { files: typeof files !== "string", database: typeof database !== "string" };
  return [
    { environment: source, files: files === "all" ? 1 : 0, database: database === "none" ? 0 : 1 },
    { environment: target, files: isMixed.files ? 1 : 0, database: isMixed.database ? 1 : 0 },
  ];
}

/** Named files and tables are taken for none: how large they are is not known before they are copied. */
function nextSize({ source, target, files, database }: PushInput): NextSize {
  return { target, files: files === "all" ? source : target, database: database === "all" ? source : target };
}

function stageOf({ target, source, token, files, database, addresses }: PushInput) {
  return { environment: target, source, token, files, database, addresses };
}
