/** Restarts PHP gracefully: running requests finish first. */
import { setPhpRun } from "../../store/sites/environmentStates.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";

export type RestartPhpInput = {
  readonly environmentId: string;
  /** Must differ from the previous value: the edge replaces the PHP processes when it changes. */
  readonly run: number;
};

export function restartPhp({ database, publisher }: Services): OperationDefinition<RestartPhpInput> {
  return {
    kind: "restartPhp",
    steps: [
      {
        name: "restart",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await phpOf(database, input.environmentId);
          await setPhpRun(database, input.environmentId, input.run);
          await publisher.publish();
        },
      },
    ],
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
