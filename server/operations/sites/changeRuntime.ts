/**
 * Moves an environment to another runtime: tries out the site there while the environment is backed up, and then switches visitors to
 * it. Files and database stay in place.
 *
 * The environment is not frozen: while the edge switches, new requests wait until the former runtime has finished the running ones
 * (`runtimes/movingServing.ts`). The last step waits for that too, so nothing of the former runtime is running when the operation
 * ends.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type Php, setRuntime } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp, workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import { inParallel } from "../steps/inParallel.ts";
import { phpOf } from "../steps/phpOf.ts";
import { runTrialWithRetries } from "../steps/runTrialWithRetries.ts";
import type { Services } from "../steps/services.ts";
import { type Candidate, comparedFrontPage, comparedLoginPage, type TrialPage } from "../steps/trial.ts";

type Ref = { readonly id: string; readonly number: number };

export type ChangeRuntimeInput = {
  readonly environment: Ref;
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

const trialSeconds = 600;
const checkSeconds = 240;
const pages: readonly TrialPage[] = [comparedFrontPage, comparedLoginPage];

export function changeRuntime(services: Services): OperationDefinition<ChangeRuntimeInput> {
  const { database, runtime, publisher, runTrial } = services;

  /** The release in the form that the new runtime serves. */
  async function layoutIn(environment: Ref, name: string): Promise<EnvironmentLayout> {
    const layout = await runtime.layout({ ...environment, runtime: name });
    if (layout === null) throw new StepFailure("The environment's files are missing.");
    return layout;
  }

  function candidate(
    { environment, address }: ChangeRuntimeInput,
    php: Engine,
  ): Omit<Candidate, "layout" | "isReadOnly"> {
    return { environment, php, address, what: `The site under the runtime ${php.runtime}` };
  }

  /** Copies the live data for the trial: visitors still use it under the current runtime. */
  async function rehearse(environment: Ref, to: Engine, operationId: string): Promise<EnvironmentLayout> {
    const token = workName(operationId);
    await requireDiskSpace(runtime, { copies: [{ environment, files: 1, database: 1 }] }, "The trial");
    const nothing = { files: "none", database: "none", addresses: [] } as const;
    await runtime.stage({ environment, source: environment, token, ...nothing });
    return runtime.rehearse({ ...environment, runtime: to.runtime }, token);
  }

  /** Tries out the pages read-only, and on a copy if one of them needs to write. */
  async function tryOut(input: ChangeRuntimeInput, to: Engine, operationId: string, stop: AbortSignal): Promise<void> {
    const tryPages = async (layout: EnvironmentLayout, isReadOnly: boolean): Promise<boolean> => {
      for (const page of pages) {
        const trial = { ...candidate(input, to), layout, page, isReadOnly };
        if (!(await runTrialWithRetries(runTrial, trial, trialSeconds, stop))) return false;
      }
      return true;
    };
    if (await tryPages(await layoutIn(input.environment, to.runtime), true)) return;
    await tryPages(await rehearse(input.environment, to, operationId), false);
  }

  async function tryAndBackUp({ input, operationId, signal }: Context): Promise<void> {
    const { environment, address } = input;
    // Earlier operations in the queue may have changed both, so they are read only now.
    const { runtime: name, version } = await phpOf(database, environment.id);
    const from = { runtime: name, version };
    const to = { runtime: input.runtime, version: input.phpVersion ?? version };
    await saveResult(database, operationId, { from, to });
    // If nothing changes, no backup is needed.
    if (from.runtime === to.runtime && from.version === to.version) return tryOut(input, to, operationId, signal);
    await requireDiskSpace(runtime, { copies: [await backupSpace(database, environment)] }, "The move");
    const note = `Before the move to the runtime ${to.runtime}`;
    const request = { environment, address, operationId, type: "system-generated", name: note, note } as const;
    await inParallel(signal, [
      (stop) => tryOut(input, to, operationId, stop),
      (stop) => backUp(services, request, stop),
    ]);
  }

  async function use(environment: Ref, engine: Engine): Promise<void> {
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
        undo: async ({ input, operationId }) => {
          await runtime.unstage(input.environment, workName(operationId));
          await undoBackUp(services, operationId);
        },
      },
      {
        name: "switch",
        deadlineSeconds: 60,
        run: async ({ input, operationId }) => {
          await use(input.environment, requireChange(await readResult(database, operationId)).to);
          await runtime.unstage(input.environment, workName(operationId));
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
          const layout = await layoutIn(input.environment, to.runtime);
          const check = { ...candidate(input, to), layout, page: comparedFrontPage, isReadOnly: false };
          await runTrialWithRetries(runTrial, check, checkSeconds, signal);
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
