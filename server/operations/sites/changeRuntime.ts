/**
 * Moves an environment to another runtime: tries out the site there while the environment is backed up, and then switches visitors to
 * it. Files and database stay in place.
 *
 * The environment is not frozen: while the edge switches, new requests wait until the former runtime has finished the running ones
 * (`runtimes/movingServing.ts`). The last step waits for that too, so nothing of the former runtime is running when the operation
 * ends.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type Php, setRuntime } from "../../store/sites/environmentStates.ts";
import type { OperationDefinition, StepContext } from "../engine/operation.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { phpOf } from "../steps/phpOf.ts";
import { runTrialWithRetries } from "../steps/runTrialWithRetries.ts";
import type { Services } from "../steps/services.ts";
import { comparedFrontPage, comparedLoginPage } from "../steps/trial.ts";
import { layoutFor, type PhpTrial, removeRehearsal, tryPhp, tryPhpAndBackUp, undoTryPhp } from "../steps/tryPhp.ts";

export type ChangeRuntimeInput = {
  readonly environment: EnvironmentInput;
  /** Name of the new runtime. */
  readonly runtime: string;
  /** The new PHP version, or null to keep the one that the environment has when the operation starts. */
  readonly phpVersion: string | null;
  readonly address: string;
};

type Context = StepContext<ChangeRuntimeInput>;
type Engine = Pick<Php, "runtime" | "version">;

/** What is stored while the operation runs. */
interface Change {
  readonly from: Engine;
  readonly to: Engine;
}

const checkSeconds = 240;

export function changeRuntime(services: Services): OperationDefinition<ChangeRuntimeInput> {
  const { database, publisher, runTrial } = services;

  const trialOf = ({ environment, address }: ChangeRuntimeInput, php: Engine, operationId: string): PhpTrial => ({
    operationId,
    environment,
    address,
    php,
    pages: [comparedFrontPage, comparedLoginPage],
    what: `The site under the runtime ${php.runtime}`,
  });

  async function tryAndBackUp({ input, operationId, signal }: Context): Promise<void> {
    // Earlier operations in the queue may have changed both, so they are read only now.
    const { runtime: name, version } = await phpOf(database, input.environment.id);
    const from = { runtime: name, version };
    const to = { runtime: input.runtime, version: input.phpVersion ?? version };
    await saveResult(database, operationId, { from, to });
    const trial = trialOf(input, to, operationId);
    // If nothing changes, no backup is needed.
    if (from.runtime === to.runtime && from.version === to.version) return tryPhp(services, trial, signal);
    const backup = { name: `Before the move to the runtime ${to.runtime}`, change: "The move" };
    await tryPhpAndBackUp(services, trial, backup, signal);
  }

  async function use(environment: EnvironmentInput, engine: Engine): Promise<void> {
    await setRuntime(database, environment.id, engine);
    await publisher.publish();
  }

  return {
    kind: "changeRuntime",
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
        deadlineSeconds: 60,
        run: async ({ input: { environment }, operationId }) => {
          await use(environment, requireChange(await readResult(database, operationId)).to);
          await removeRehearsal(services, { environment, operationId });
        },
        undo: async ({ input, operationId }) => {
          const found = parseChange(await readResult(database, operationId));
          if (found !== null) await use(input.environment, found.from);
        },
      },
      {
        name: "check",
        deadlineSeconds: 300,
        // As a visitor would: the page waits for the former runtime's last requests.
        run: async ({ input, operationId, signal }) => {
          const { to } = requireChange(await readResult(database, operationId));
          const trial = trialOf(input, to, operationId);
          const page = { layout: await layoutFor(services, trial), page: comparedFrontPage, isReadOnly: false };
          await runTrialWithRetries(runTrial, { ...trial, ...page }, checkSeconds, signal);
        },
      },
    ],
    succeeded: async (transaction, { operationId }) => {
      const { runtime: name, version } = requireChange(await readResult(transaction, operationId)).to;
      return { runtime: name, php_version: version } satisfies OperationResult<"changeRuntime">;
    },
    failed: async () => undefined,
  };
}

function isEngine(found: unknown): found is Engine {
  return (
    typeof found === "object" &&
    found !== null &&
    "runtime" in found &&
    "version" in found &&
    typeof found.runtime === "string" &&
    typeof found.version === "string"
  );
}

function parseChange(found: Json): Change | null {
  if (typeof found !== "object" || found === null || !("from" in found) || !("to" in found)) return null;
  const { from, to } = found;
  return isEngine(from) && isEngine(to) ? { from, to } : null;
}

/** Throws if the trial has stored nothing. */
function requireChange(found: Json): Change {
  const change = parseChange(found);
  if (change === null) throw new Error("The former and the new runtime are not stored");
  return change;
}
