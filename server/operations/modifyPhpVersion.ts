/** Another version of PHP: tried out beside the one in use, then visitors are moved. */
import { setPhpOptOut, setPhpVersion } from "../store/environmentStates.ts";
import { type OperationDefinition, StepFailure } from "./operation.ts";
import type { Services } from "./services.ts";

export type ModifyPhpVersionInput = {
  readonly environment: { readonly id: string; readonly number: number };
  readonly from: string;
  readonly to: string;
  readonly address: string;
  /** Null: as before. */
  readonly isOptOut: boolean | null;
};

export function modifyPhpVersion({
  database,
  runtime,
  publisher,
  tryOut,
}: Services): OperationDefinition<ModifyPhpVersionInput> {
  return {
    kind: "modifyPhpVersion",
    steps: [
      {
        name: "trial",
        deadlineSeconds: 90,
        run: async ({ input: { environment, to, address }, signal }) => {
          const layout = await runtime.layout(environment);
          if (layout === null) throw new StepFailure("The environment's files are not there.");
          await tryOut({ environment, phpVersion: to, layout, address, what: `The site on PHP ${to}` }, signal);
        },
      },
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setPhpVersion(database, input.environment.id, input.to);
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setPhpVersion(database, input.environment.id, input.from);
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
