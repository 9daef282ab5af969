/**
 * Changes the PHP version: tries out the new one while the environment is backed up, and then switches visitors to it.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setPhpOptOut, setPhpVersion } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";
import { comparedFrontPage } from "../steps/trial.ts";
import { removeRehearsal, tryPhp, tryPhpAndBackUp, undoTryPhp } from "../steps/tryPhp.ts";

export type ModifyPhpVersionInput = {
  readonly environment: EnvironmentInput;
  readonly to: string;
  readonly address: string;
  /** Whether to opt out of automatic changes, or null to keep the setting. */
  readonly isOptOut: boolean | null;
  /**
   * For automatic changes: fails unless the environment still has this version and has not opted out. Null: no
   * condition.
   */
  readonly onlyFrom: string | null;
};

/** The stored version before the change. */
function isPreviousVersion(found: Json): found is { readonly from: string } {
  return typeof found === "object" && found !== null && "from" in found && typeof found.from === "string";
}

export function modifyPhpVersion(services: Services): OperationDefinition<ModifyPhpVersionInput> {
  const { database, publisher } = services;

  async function tryAndBackUp({ input, operationId, signal }: StepContext<ModifyPhpVersionInput>): Promise<void> {
    const { environment, to, address, onlyFrom } = input;
    // Earlier operations in the queue may have changed the version, so the one for the undo is read only now.
    const current = await phpOf(database, environment.id);
    const { version: from, isOptOut } = current;
    if (onlyFrom !== null && (isOptOut || from !== onlyFrom)) {
      throw new StepFailure(`The automatic change from PHP ${onlyFrom} no longer applies to this environment.`);
    }
    await saveResult(database, operationId, { from });
    const php = { ...current, version: to };
    const what = `The site on PHP ${to}`;
    const trial = { operationId, environment, address, php, pages: [comparedFrontPage], what };
    // If only the opt-out changes, no backup is needed.
    if (from === to) return tryPhp(services, trial, signal);
    await tryPhpAndBackUp(services, trial, { name: `Before PHP ${to}`, change: `The change to PHP ${to}` }, signal);
  }

  return {
    kind: "modifyPhpVersion",
    turnFrom: "trial",
    steps: [
      {
        name: "trial",
        deadlineSeconds: 3_600,
        run: tryAndBackUp,
        undo: ({ input: { environment }, operationId }) => undoTryPhp(services, { environment, operationId }),
      },
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input: { environment, to }, operationId }) => {
          await setPhpVersion(database, environment.id, to);
          await publisher.publish();
          await removeRehearsal(services, { environment, operationId });
        },
        undo: async ({ input, operationId }) => {
          const found = await readResult(database, operationId);
          if (!isPreviousVersion(found)) return;
          await setPhpVersion(database, input.environment.id, found.from);
          await publisher.publish();
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      if (input.isOptOut !== null) await setPhpOptOut(transaction, input.environment.id, input.isOptOut);
      return { php_version: input.to } satisfies OperationResult<"modifyPhpVersion">;
    },
    failed: async () => undefined,
  };
}
