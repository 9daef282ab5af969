/** The states of operations: as they are sent, and as they are documented, which is more precise. */
import { type TSchema, Type } from "typebox";
import { blockedBy, errorSchema, operationKind } from "./errors.ts";
import { environmentBusyMessage, operationKinds, operationMessages } from "./operationKinds.ts";
import { operationResults, WpCliResult } from "./operationResults.ts";
import { nullable, uuid } from "./schema.ts";

export const progress = {
  idSite: Type.Optional(uuid("The site that the operation acts on.")),
  idEnv: Type.Optional(uuid("The environment that the operation acts on.")),
  step: nullable(Type.String({ description: "The current step, or null.", examples: ["provision"] })),
  steps_done: Type.Integer({ description: "Number of finished steps.", examples: [1] }),
  steps_total: Type.Integer({ description: "Number of steps in total.", examples: [3] }),
  started_at: nullable(
    Type.String({
      format: "date-time",
      description: "When it started, or null if it has not.",
      examples: ["2026-11-23T08:00:00.000Z"],
    }),
  ),
  finished_at: nullable(Type.String({ format: "date-time", description: "When it ended, or null if it has not." })),
};

export const blocking = {
  code: Type.Optional(
    Type.Literal("environment_busy", {
      description: "Only if it failed because another operation held the environment.",
    }),
  ),
  blocked_by: Type.Optional(
    blockedBy("Only with `code`: the operations that held the environment or were waiting for it, oldest first."),
  ),
};

const failure = {
  message: Type.String({ description: "Why it failed, for people.", examples: ["The site did not answer in time."] }),
  ...blocking,
  reference_id: Type.String({
    description: "Id of the log entry with the cause.",
    examples: ["0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53"],
  }),
};

/** The state as it is sent: results are stored as JSON, and sent as they are. */
export const OperationStatus = Type.Object({
  status: Type.Integer(),
  message: Type.String(),
  data: Type.Object({
    kind: operationKind,
    ...progress,
    result: Type.Optional(Type.Unsafe<unknown>({})),
    status: Type.Optional(Type.Integer()),
    ...Type.Partial(Type.Object(failure)).properties,
  }),
});

const Progress = Type.Object(progress, {
  title: "OperationProgress",
  description: "Progress of an operation and what it acts on.",
});

/** Both schemas at once. */
const both = (...parts: readonly TSchema[]) => Type.Unsafe<unknown>({ allOf: parts });

/** The data of a successful operation: one form for each result. */
function successData() {
  const kindsByResult = Map.groupBy(Object.entries(operationResults), ([, result]) => result);
  const withResult = [...kindsByResult].map(([result, entries]) => ({ result, kinds: entries.map(([kind]) => kind) }));
  const others = Object.keys(operationKinds).filter((kind) => !(kind in operationResults));
  const variants = [...withResult, { result: Type.Null({ description: "Always null." }), kinds: others }].map(
    ({ result, kinds }) =>
      both(Progress, Type.Object({ kind: Type.Enum(kinds, { description: "Kind of operation." }), result })),
  );
  return Type.Unsafe<unknown>({ oneOf: variants });
}

const exampleIds = {
  idSite: "54fb80af-576c-4fdc-ba4f-b596c83f15a1",
  idEnv: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53",
};
const exampleTimes = { started_at: "2026-11-23T08:00:00.000Z", finished_at: "2026-11-23T08:00:01.200Z" };

/** The kind and progress of a successful operation. */
export const exampleOfSuccess = {
  kind: "addSite",
  ...exampleIds,
  step: null,
  steps_done: 4,
  steps_total: 4,
  ...exampleTimes,
};

interface State {
  readonly status: 200 | 202 | 500;
  readonly message: string;
  readonly title: string;
  readonly data: TSchema;
  readonly example: object;
}

function state({ status, message, title, data, example }: State) {
  return Type.Object(
    { status: Type.Literal(status), message: Type.Literal(message), data },
    { title, description: "State of an operation.", examples: [{ status, message, data: example }] },
  );
}

export const Succeeded = state({
  status: 200,
  message: operationMessages.succeeded,
  title: "OperationSucceeded",
  data: successData(),
  example: { ...exampleOfSuccess, result: { address: "http://demo.localhost:8081" } },
});

export const InProgress = state({
  status: 202,
  message: operationMessages.running,
  title: "OperationInProgress",
  data: both(Progress, Type.Object({ kind: operationKind })),
  example: { ...exampleOfSuccess, step: "publish", steps_done: 1, finished_at: null },
});

const OperationFailed = state({
  status: 500,
  message: operationMessages.failed,
  title: "OperationFailed",
  data: both(
    Progress,
    Type.Object({
      kind: operationKind,
      status: Type.Literal(500),
      ...failure,
      result: Type.Optional(
        Type.Intersect([WpCliResult], { description: "Output of a WP-CLI command, for keys that may write." }),
      ),
    }),
  ),
  example: {
    kind: "restartPhp",
    ...exampleIds,
    step: null,
    steps_done: 0,
    steps_total: 1,
    ...exampleTimes,
    status: 500,
    message: environmentBusyMessage,
    code: "environment_busy",
    blocked_by: [{ operation_id: "backups:add-manual-54fb80af-576c-4fdc-ba4f-b596c83f15a1", kind: "addManualBackup" }],
    reference_id: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53",
  },
});

/** The operation has failed, or the request has. */
export const Failed = Type.Union([OperationFailed, errorSchema(500, { title: "InternalError" })]);
