/** The changes that staging a release would make, as the result of an operation. */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { StageChanges } from "@sitewright/runtimes/runtime.ts";

export function stageChangesAsJson({
  files: { added, changed, removed },
  lost,
}: StageChanges): OperationResult<"comparePush"> {
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
