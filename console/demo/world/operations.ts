/** Operations of the demo: they take a few seconds, and then take effect. */
import { environmentBusyMessage, type OperationKind, operationKinds } from "@sitewright/contract/operationKinds.ts";
import type { OperationResult, operationResults } from "@sitewright/contract/operationResults.ts";
import { finish, record } from "./activity.ts";
import { send } from "./events.ts";
import { isoOf, isoOrNull } from "./find.ts";
import { newId } from "./ids.ts";
import type { DemoOperation, Recorded, World } from "./world.ts";

/** Milliseconds. */
const stepMilliseconds = 900;

/** The steps of operations that have several. */
const stepsOf: Partial<Record<OperationKind, readonly string[]>> = {
  addSite: ["provision", "publish", "probe", "password"],
  addPlainSite: ["provision", "publish", "probe"],
  cloneSite: ["provision", "copy", "publish", "probe"],
  addEnvironment: ["provision", "publish", "probe", "password"],
  addPlainEnvironment: ["provision", "publish", "probe"],
  cloneEnvironment: ["provision", "copy", "publish", "probe"],
  deleteSite: ["backup", "withdraw", "retire", "destroy"],
  deleteEnvironment: ["backup", "withdraw", "retire", "destroy"],
  pushEnvironment: ["stage", "freeze", "trial and backup", "switch", "prune"],
  restoreBackup: ["stage", "freeze", "backup", "switch", "tidy"],
  restoreDeletedSite: ["make", "publish", "probe"],
  restoreDeletedEnvironment: ["make", "publish", "probe"],
  resetSite: ["prepare", "stage", "trial", "backup", "switch"],
  modifyPhpVersion: ["trial", "switch"],
  changeRuntime: ["trial", "switch", "check"],
  updatePlugins: ["fetch", "backup", "update", "check", "tidy"],
  updateThemes: ["fetch", "backup", "update", "check", "tidy"],
  updateWordPress: ["fetch", "backup", "update", "check", "tidy"],
};

/** Without a result of their own, operations have null. */
type Made<Kind extends OperationKind> = Kind extends keyof typeof operationResults ? OperationResult<Kind> : null;

interface NewOperation<Kind extends OperationKind> {
  readonly kind: Kind;
  readonly siteId?: string | null;
  readonly environmentId?: string | null;
  /** A description for people, in English. */
  readonly text: string;
  /** Does it, at the end. */
  readonly apply: () => Made<Kind>;
  /** Why it fails instead. Absent: it succeeds. */
  readonly problem?: string | null;
  /** Called when it has ended. */
  readonly ended?: (operation: DemoOperation) => void;
}

/** Begins an operation. Returns its id. It fails at once if another one holds the environment. */
export function start<Kind extends OperationKind>(world: World, given: NewOperation<Kind>): string {
  const { kind, siteId = null, environmentId = null, text } = given;
  const { prefix, category } = operationKinds[kind];
  const operation: DemoOperation = {
    id: `${prefix}${newId()}`,
    ...{ kind, siteId, environmentId },
    steps: stepsOf[kind] ?? ["run"],
    createdAt: world.clock.now(),
    state: "running",
    stepsDone: 0,
    finishedAt: null,
    message: null,
    blockedBy: holdersOf(world, environmentId),
    result: null,
  };
  world.operations.unshift(operation);
  const recorded = record(world, { type: kind, category, siteId, isDone: false, text });
  send(world, "operation.started", summaryOf(operation));
  if (operation.blockedBy.length > 0) end(world, operation, recorded, environmentBusyMessage);
  else advance(world, operation, recorded, given);
  return operation.id;
}

const holdersOf = ({ operations }: World, environmentId: string | null) =>
  operations
    .filter((one) => environmentId !== null && one.environmentId === environmentId && one.state === "running")
    .map(({ id, kind }) => ({ operation_id: id, kind }));

export const isBusy = (world: World, environmentId: string): boolean => holdersOf(world, environmentId).length > 0;

function advance<Kind extends OperationKind>(
  world: World,
  operation: DemoOperation,
  recorded: Recorded,
  given: NewOperation<Kind>,
): void {
  world.clock.later(stepMilliseconds, () => {
    operation.stepsDone += 1;
    if (operation.stepsDone < operation.steps.length) {
      send(world, "operation.progress", summaryOf(operation));
      return advance(world, operation, recorded, given);
    }
    const { problem = null, apply, ended } = given;
    if (problem === null) operation.result = apply();
    end(world, operation, recorded, problem);
    ended?.(operation);
  });
}

function end(world: World, operation: DemoOperation, recorded: Recorded, problem: string | null): void {
  operation.state = problem === null ? "succeeded" : "failed";
  operation.message = problem;
  operation.finishedAt = world.clock.now();
  finish(world, recorded, problem);
  send(world, problem === null ? "operation.succeeded" : "operation.failed", summaryOf(operation));
}

/** The progress of an operation, as the API has it. */
export function progressOf({
  kind,
  siteId,
  environmentId,
  steps,
  stepsDone,
  state,
  createdAt,
  finishedAt,
}: DemoOperation) {
  return {
    kind,
    ...(siteId !== null && { idSite: siteId }),
    ...(environmentId !== null && { idEnv: environmentId }),
    step: state === "running" ? (steps[stepsDone] ?? null) : null,
    steps_done: stepsDone,
    steps_total: steps.length,
    started_at: isoOf(createdAt),
    finished_at: isoOrNull(finishedAt),
  };
}

export function summaryOf(operation: DemoOperation) {
  const { id, state, createdAt, message } = operation;
  return {
    operation_id: id,
    state,
    ...progressOf(operation),
    created_at: isoOf(createdAt),
    message,
    ...blockingOf(operation),
  };
}

export const blockingOf = ({ blockedBy }: DemoOperation) =>
  blockedBy.length === 0 ? {} : { code: "environment_busy" as const, blocked_by: [...blockedBy] };

/** An operation on a name that begins with `fail` fails at the end, to show a failure. */
export const problemOf = (name: string): string | null =>
  /^fail/i.test(name) ? "The site did not answer in time. Nothing was kept." : null;
