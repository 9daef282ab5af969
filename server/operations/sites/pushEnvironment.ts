/**
 * Pushes one environment's database and files over another's. Builds the target's next release while visitors see the
 * current one, and then switches to it (`../steps/takeOver.ts`).
 *
 * Writes are refused for as short a time as possible. If tables or files of the target are copied into the next
 * release, the target is frozen before the copy; otherwise only after the release is built, just before the backup.
 */

import type { OperationDefinition } from "../engine/operation.ts";
import { backupSpace } from "../steps/backup.ts";
import { type Copy, requireDiskSpace, requireQuota, type SizeAfter } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";
import { freeze, takeOver, thaw } from "../steps/takeOver.ts";

/** Which files or tables to push: all, none, or the named ones. */
export type PushPart = "all" | "none" | readonly string[];

export type PushInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly source: EnvironmentInput;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
  readonly files: PushPart;
  readonly database: PushPart;
  readonly addresses: readonly { readonly from: string; readonly to: string }[];
  readonly sourceName: string;
};

/** Whether data of the target is copied into the next release, so that it must not change after the copy. */
export function copiesTargetData({ files, database }: Pick<PushInput, "files" | "database">): boolean {
  return typeof files !== "string" || typeof database !== "string";
}

/** Whether the next release shares the target's current files or database, because they are not pushed. */
export function sharesTargetData({ files, database }: Pick<PushInput, "files" | "database">): boolean {
  return files === "none" || database === "none";
}

export function pushEnvironment(services: Services): OperationDefinition<PushInput> {
  const { database, runtime } = services;
  return {
    kind: "pushEnvironment",
    turnFrom: "hold",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          await requireQuota(services, sizeAfter(input), "The push");
          const copies = [...stagedCopies(input), await backupSpace(database, input.target)];
          await requireDiskSpace(runtime, { copies }, "The push");
        },
      },
      {
        name: "hold",
        deadlineSeconds: 60,
        run: async ({ input, signal }) => {
          if (copiesTargetData(input)) await freeze(services, input.target, signal);
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
        what: "The pushed site",
        note: ({ sourceName }) => `Before a push from ${sourceName}`,
        sharesTargetData,
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}

/**
 * Returns the copies that the next release consists of. If only some files or tables are pushed, all of the target's
 * are copied, too.
 */
function stagedCopies({ source, target, files, database }: PushInput): readonly Copy[] {
  const isMixed = { files: typeof files !== "string", database: typeof database !== "string" };
  return [
    { environment: source, files: files === "all" ? 1 : 0, database: database === "none" ? 0 : 1 },
    { environment: target, files: isMixed.files ? 1 : 0, database: isMixed.database ? 1 : 0 },
  ];
}

/** Ignores named files and tables, because their size is unknown before the copy. */
function sizeAfter({ source, target, files, database }: PushInput): SizeAfter {
  return { target, files: files === "all" ? source : target, database: database === "all" ? source : target };
}

function stageOf({ target, source, token, files, database, addresses }: PushInput) {
  return { environment: target, source, token, files, database, addresses };
}
