/** Another version of PHP: tried out beside the one in use, then visitors are moved. */
import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../store/database.ts";
import { setPhpOptOut, setPhpVersion } from "../store/environmentStates.ts";
import { readResult, saveResult } from "../store/operations.ts";
import { workName } from "./backup.ts";
import { requireRoom } from "./diskRoom.ts";
import { type OperationDefinition, StepFailure } from "./operation.ts";
import { phpOf } from "./phpOf.ts";
import type { Services } from "./services.ts";

type Ref = { readonly id: string; readonly number: number };

export type ModifyPhpVersionInput = {
  readonly environment: Ref;
  readonly to: string;
  readonly address: string;
  /** Null: as before. */
  readonly isOptOut: boolean | null;
  /** For a change that nobody asked for: only while it has this version and its owner did not opt out. Null: always. */
  readonly onlyFrom: string | null;
};

/** What the first step found. */
function isBefore(found: Json): found is { readonly from: string } {
  return typeof found === "object" && found !== null && "from" in found && typeof found.from === "string";
}

export function modifyPhpVersion({
  database,
  runtime,
  publisher,
  tryOut,
}: Services): OperationDefinition<ModifyPhpVersionInput> {
  /** A copy of what visitors use: on another PHP a plugin may want to change that at its first page, and fail. */
  async function rehearse(environment: Ref, operationId: string): Promise<EnvironmentLayout> {
    const token = workName(operationId);
    await requireRoom(runtime, { copies: [{ environment, files: 1, database: 1 }] }, "Trying it out");
    const nothing = { files: "none", database: "none", addresses: [] } as const;
    await runtime.stage({ environment, source: environment, token, ...nothing });
    return runtime.rehearse(environment, token);
  }

  return {
    kind: "modifyPhpVersion",
    steps: [
      {
        name: "trial",
        deadlineSeconds: 600,
        run: async ({ input: { environment, to, address, onlyFrom }, operationId, signal }) => {
          // It may have waited for another change: what it is undone to is known only now.
          const { version: from, isOptOut } = await phpOf(database, environment.id);
          if (onlyFrom !== null && (isOptOut || from !== onlyFrom)) {
            throw new StepFailure(`The environment is not to be moved off PHP ${onlyFrom} any more.`);
          }
          await saveResult(database, operationId, { from });
          const layout = await runtime.layout(environment);
          if (layout === null) throw new StepFailure("The environment's files are not there.");
          const candidate = { environment, phpVersion: to, address, what: `The site on PHP ${to}` };
          if (await tryOut({ ...candidate, layout, isReadOnly: true }, signal)) return;
          await tryOut({ ...candidate, layout: await rehearse(environment, operationId), isReadOnly: false }, signal);
        },
        undo: ({ input, operationId }) => runtime.unstage(input.environment, workName(operationId)),
      },
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input, operationId }) => {
          await setPhpVersion(database, input.environment.id, input.to);
          await publisher.publish();
          await runtime.unstage(input.environment, workName(operationId));
        },
        undo: async ({ input, operationId }) => {
          const found = await readResult(database, operationId);
          if (!isBefore(found)) return;
          await setPhpVersion(database, input.environment.id, found.from);
          await publisher.publish();
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      if (input.isOptOut !== null) await setPhpOptOut(transaction, input.environment.id, input.isOptOut);
      return { php_version: input.to };
    },
    failed: async () => undefined,
  };
}
