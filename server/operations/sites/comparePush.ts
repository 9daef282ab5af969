/** Previews a push: which files it would change, and which rows it would lose. */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { StageChanges } from "@sitewright/runtimes/runtime.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";
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
          const { files: changes, lost } = await runtime.compare({
            environment: target,
            source,
            files,
            database: tables,
            addresses,
          });
          await saveResult(database, operationId, asJson({ files: changes, lost }));
        },
      },
    ],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}

function asJson({ files: { added, changed, removed }, lost }: StageChanges): OperationResult<"comparePush"> {
  const part = ({ count, bytes, listed }: StageChanges["files"]["added"]) => ({
    count,
    bytes,
    listed: listed.map((file) => ({ path: file.path, bytes: file.bytes })),
  });
  return {
    files: { added: part(added), changed: part(changed), removed: part(removed) },
    rows_lost: lost.map(({ table, rows }) => ({ table, rows })),
  };
}
