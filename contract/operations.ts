/** Operations: their list, their state, and the screenshots that they compared. */
import { Type } from "typebox";
import { endpoint, result } from "./endpoint.ts";
import { operationKind } from "./errors.ts";
import { operationKinds } from "./operationKinds.ts";
import {
  blocking,
  exampleOfSuccess,
  Failed,
  InProgress,
  OperationStatus,
  progress,
  Succeeded,
} from "./operationStates.ts";
import { limit, nullable, offset, pattern, uuid } from "./schema.ts";

const OPERATION_ID = "sites:add-54fb80af-576c-4fdc-ba4f-b596c83f15a1";

/** What to do if the environment is busy: accept the operation and let it fail at once, queue it, or answer 409. */
export const whenBusyValues = ["fail", "queue", "refuse"] as const;

/** Body of every 202 that starts an operation. */
export const Accepted = Type.Object(
  {
    operation_id: Type.String({
      description: "Id of the operation. Follow it with `GET /operations/{operation_id}`.",
      examples: [OPERATION_ID],
    }),
    message: Type.String({
      description: "The work in progress, as a text for people.",
      examples: ["Adding site in progress"],
    }),
    status: Type.Literal(202, { description: "The HTTP status of an accepted operation." }),
  },
  { title: "Accepted", description: "The operation was accepted and continues after this response." },
);

const operationId = Type.Object({
  operation_id: Type.String({
    maxLength: 100,
    pattern: pattern("^[\\u0021-\\u007e]+$", "must be the id of an operation"),
    description: "The id from a 202. The colon may be percent-encoded.",
    examples: [OPERATION_ID],
  }),
});

const bytes = (when: string) =>
  Type.Integer({ minimum: 0, description: `Size of the screenshot ${when}, in bytes.`, examples: [183_214] });

const screenshot = (when: string) =>
  Type.Optional(
    Type.String({
      description: `Screenshot ${when}, as a data URL with a PNG. Only for the page selected with \`path\`.`,
      examples: ["data:image/png;base64,iVBORw0KGgo="],
    }),
  );

const ComparedPage = Type.Object(
  {
    path: Type.String({ description: "Path of the page.", examples: ["/"] }),
    difference: Type.Number({
      minimum: 0,
      maximum: 100,
      description: "How much of the screenshot differs, in percent.",
      examples: [1.4],
    }),
    before_bytes: bytes("before the update"),
    after_bytes: bytes("after the update"),
    before: screenshot("before the update"),
    after: screenshot("after the update"),
  },
  { title: "ComparedPage" },
);

export const listOperationPictures = endpoint({
  method: "GET",
  path: "/operations/{operation_id}/pictures",
  tag: "Operations",
  summary: "Compare screenshots from before and after an update",
  description:
    "Lists the compared pages with the difference between their two screenshots, if the environment has screenshots turned on (`picture_threshold`). The screenshots themselves are included for one page at a time, selected with `path`. They are kept for 30 days.",
  params: operationId,
  query: Type.Object({
    path: Type.Optional(
      Type.String({ maxLength: 500, description: "The page whose screenshots to include.", examples: ["/"] }),
    ),
  }),
  responses: {
    200: result(
      ["operation", "pictures"],
      "The compared pages. Empty if there are no screenshots, or none of the selected page.",
      Type.Array(ComparedPage),
    ),
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
});

const operationStates = ["waiting", "running", "succeeded", "failed"] as const;

const OperationSummary = Type.Object(
  {
    operation_id: Type.String({ description: "Id of the operation.", examples: [OPERATION_ID] }),
    state: Type.Enum(operationStates, { description: "`waiting`: queued behind other operations." }),
    kind: operationKind,
    ...progress,
    created_at: Type.String({
      format: "date-time",
      description: "When it was requested.",
      examples: ["2026-11-23T08:00:00.000Z"],
    }),
    message: nullable(Type.String({ description: "Why it failed, or null." })),
    ...blocking,
  },
  {
    title: "OperationSummary",
    examples: [
      {
        operation_id: OPERATION_ID,
        state: "succeeded",
        ...exampleOfSuccess,
        created_at: "2026-11-23T08:00:00.000Z",
        message: null,
      },
    ],
  },
);

export const listOperations = endpoint({
  method: "GET",
  path: "/operations",
  tag: "Operations",
  summary: "List a company's operations",
  description: "Newest first. Finished operations are listed for at least 7 days.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company. Default: the key's company.")),
    state: Type.Optional(Type.Enum(operationStates, { description: "Only operations in this state." })),
    kind: Type.Optional(
      Type.Array(Type.Enum(Object.keys(operationKinds)), {
        minItems: 1,
        maxItems: 50,
        description: "Only operations of these kinds. Repeat it for several: `kind=updatePlugins&kind=updateThemes`.",
      }),
    ),
    site_id: Type.Optional(uuid("Only operations on this site.")),
    env_id: Type.Optional(uuid("Only operations on this environment.")),
    limit: limit("Maximum number of operations; values above 100 count as 100.", { default: 20 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "operations"],
      "The operations.",
      Type.Object({
        items: Type.Array(OperationSummary),
        total: Type.Integer({ minimum: 0, description: "Number of matches before paging.", examples: [1] }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "query.company", underSiteScope: "filtered" },
});

export const getOperation = endpoint({
  method: "GET",
  path: "/operations/{operation_id}",
  tag: "Operations",
  summary: "Follow an operation",
  description:
    "Returns 202 while the operation waits or runs, 200 after it has succeeded and 500 after it has failed. `data.message` says why it failed. A failed operation has undone its changes, except a WP-CLI command, whose output is in `data.result`. With `wait`, the request stays open until the operation ends, so you need not poll. Finished operations can be read for at least 7 days.",
  params: operationId,
  query: Type.Object({
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 30,
        description: "Maximum time to wait for the end of the operation, in seconds.",
      }),
    ),
  }),
  responses: {
    200: {
      description: "The operation has succeeded.",
      body: OperationStatus,
      documented: Succeeded,
    },
    202: {
      description:
        "The operation waits or runs. `Retry-After` is the number of seconds to wait before the next request.",
      body: OperationStatus,
      documented: InProgress,
    },
    500: {
      description: "The operation has failed (`data.message` says why), or this request has.",
      body: OperationStatus,
      documented: Failed,
    },
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
  bucket: "operations",
});
