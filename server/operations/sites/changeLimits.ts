/**
 * Changes the limits of several environments at once. The new limits apply to all requests after the end of the
 * operation; running requests finish under the old limits.
 */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OwnLimits, ownLimits, setLimits } from "../../store/sites/limits.ts";
import { type OperationDefinition, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type ChangeLimitsInput = {
  readonly environmentIds: readonly string[];
  /** Omitted limits stay as they are; null restores the installation's default. */
  readonly changes: {
    readonly php_threads?: number;
    readonly php_memory_mb?: number;
    readonly request_seconds?: number | null;
    readonly disk_quota_bytes?: number | null;
  };
};

/** The limits before the change, which the first step stores. */
type Found = { readonly before: readonly (OwnLimits & { readonly id: string })[] };

function isFound(found: unknown): found is Found {
  return typeof found === "object" && found !== null && "before" in found && Array.isArray(found.before);
}

export function changeLimits(
  { database, publisher }: Services,
  kind: OperationKind,
): OperationDefinition<ChangeLimitsInput> {
  return {
    kind,
    steps: [
      {
        // Earlier operations in the queue may have changed the limits, so the values for the undo are read only now.
        name: "note",
        deadlineSeconds: 30,
        run: async ({ input, operationId }) => {
          const before = await ownLimits(database, input.environmentIds);
          if (before.length === 0) throw new StepFailure("The environment no longer exists.");
          await saveResult(database, operationId, { before: before.map((each) => ({ ...each })) });
        },
      },
      {
        name: "change",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setLimits(database, input.environmentIds, input.changes);
          await publisher.publish();
        },
        undo: async ({ operationId }) => {
          const found: unknown = await readResult(database, operationId);
          if (!isFound(found)) return;
          for (const { id, ...limits } of found.before) await setLimits(database, [id], limits);
          await publisher.publish();
        },
      },
    ],
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
