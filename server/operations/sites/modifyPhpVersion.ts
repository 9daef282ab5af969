/**
 * Changes the PHP version: tries out the new one while the environment is backed up, and then switches visitors to it.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setPhpOptOut, setPhpVersion } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp, workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import { inParallel } from "../steps/inParallel.ts";
import { phpOf } from "../steps/phpOf.ts";
import { runTrialWithRetries } from "../steps/runTrialWithRetries.ts";
import type { Services } from "../steps/services.ts";
import { comparedFrontPage } from "../steps/trial.ts";

type Ref = { readonly id: string; readonly number: number };

export type ModifyPhpVersionInput = {
  readonly environment: Ref;
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

const trialSeconds = 600;

export function modifyPhpVersion(services: Services): OperationDefinition<ModifyPhpVersionInput> {
  const { database, runtime, publisher, runTrial } = services;

  /** Copies the live data for the trial: on a new PHP version, a plugin may change its data and then fail. */
  async function rehearse(environment: Ref, operationId: string): Promise<EnvironmentLayout> {
    const token = workName(operationId);
    await requireDiskSpace(runtime, { copies: [{ environment, files: 1, database: 1 }] }, "The trial");
    const nothing = { files: "none", database: "none", addresses: [] } as const;
    await runtime.stage({ environment, source: environment, token, ...nothing });
    return runtime.rehearse(environment, token);
  }

  async function tryVersion(
    { environment, to, address }: ModifyPhpVersionInput,
    operationId: string,
    stop: AbortSignal,
  ): Promise<void> {
    const php = { ...(await phpOf(database, environment.id)), version: to };
    const layout = await runtime.layout(environment);
    if (layout === null) throw new StepFailure("The environment's files are missing.");
    const candidate = { environment, php, address, what: `The site on PHP ${to}`, page: comparedFrontPage };
    if (await runTrialWithRetries(runTrial, { ...candidate, layout, isReadOnly: true }, trialSeconds, stop)) return;
    const rehearsal = { ...candidate, layout: await rehearse(environment, operationId), isReadOnly: false };
    await runTrialWithRetries(runTrial, rehearsal, trialSeconds, stop);
  }

  /** The environment is not frozen for the backup, because the change does not replace its files or its database. */
  async function tryAndBackUp({ input, operationId, signal }: StepContext<ModifyPhpVersionInput>): Promise<void> {
    const { environment, to, address, onlyFrom } = input;
    // Earlier operations in the queue may have changed the version, so the one for the undo is read only now.
    const { version: from, isOptOut } = await phpOf(database, environment.id);
    if (onlyFrom !== null && (isOptOut || from !== onlyFrom)) {
      throw new StepFailure(`The automatic change from PHP ${onlyFrom} no longer applies to this environment.`);
    }
    await saveResult(database, operationId, { from });
    // If only the opt-out changes, no backup is needed.
    if (from === to) return tryVersion(input, operationId, signal);
    await requireDiskSpace(runtime, { copies: [await backupSpace(database, environment)] }, `The change to PHP ${to}`);
    const name = `Before PHP ${to}`;
    const request = { environment, address, operationId, type: "system-generated", name, note: name } as const;
    await inParallel(signal, [
      (stop) => tryVersion(input, operationId, stop),
      (stop) => backUp(services, request, stop),
    ]);
  }

  return {
    kind: "modifyPhpVersion",
    turnFrom: "trial",
    steps: [
      {
        name: "trial",
        deadlineSeconds: 3_600,
        run: tryAndBackUp,
        undo: async ({ input, operationId }) => {
          await runtime.unstage(input.environment, workName(operationId));
          await undoBackUp(services, operationId);
        },
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
