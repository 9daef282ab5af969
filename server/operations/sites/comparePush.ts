/** Previews a push: which files it would change, and which rows it would lose. */
import { readResult, saveResult } from "../../store/operations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";
import { stageChangesAsJson } from "../steps/stageChanges.ts";
import type { PushInput } from "./pushEnvironment.ts";

export function comparePush({ database, runtime }: Services): OperationDefinition<PushInput> {
  return {
    kind: "comparePush",
    turnFrom: "compare",
    steps: [
      {
        name: "compare",
        deadlineSeconds: 1_800,
        run: async ({ input, operationId }) => {
          const { target, source, files, database: tables, addresses } = input;
          const changes = await runtime.compare({ environment: target, source, files, database: tables, addresses });
          await saveResult(database, operationId, stageChangesAsJson(changes));
        },
      },
    ],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}
