/** The endpoint that follows an operation. */
import { Type } from "typebox";
import { endpoint, result } from "./endpoint.ts";
import { limit, nullable, offset, pattern, uuid } from "./schema.ts";

const OPERATION_ID = "sites:add-54fb80af-576c-4fdc-ba4f-b596c83f15a1";

/** What happens to an operation whose environment is busy: it fails at once, waits in line, or the call is answered 409. */
export const whenBusyValues = ["fail", "queue", "refuse"] as const;

/** Body of every 202 that starts an operation. */
export const Accepted = Type.Object(
  {
    operation_id: Type.String({
      description: "Follow it with `GET /operations/{operation_id}`. It exists before this answer is sent.",
      examples: [OPERATION_ID],
    }),
    message: Type.String({ examples: ["Adding site in progress"] }),
    status: Type.Literal(202),
  },
  { title: "Accepted", description: "The work was accepted and continues after this answer." },
);

const blocking = {
  code: Type.Optional(
    Type.Literal("environment_busy", {
      description: "Only if it failed because another operation held the environment.",
    }),
  ),
  blocked_by: Type.Optional(
    Type.Array(Type.Object({ operation_id: Type.String({ examples: [OPERATION_ID] }), kind: Type.String() }), {
      description: "With that code: the operations that held the environment or were in line for it, oldest first.",
    }),
  ),
};

const OperationData = Type.Object(
  {
    idSite: Type.Optional(uuid("The site that the operation acts on.")),
    idEnv: Type.Optional(uuid("The environment that the operation acts on.")),
    result: Type.Optional(Type.Unsafe<unknown>({ description: "The result; depends on the kind of operation." })),
    kind: Type.Optional(Type.String({ examples: ["addSite"] })),
    step: Type.Optional(nullable(Type.String({ description: "The current step.", examples: ["provision"] }))),
    steps_done: Type.Optional(Type.Integer({ examples: [1] })),
    steps_total: Type.Optional(Type.Integer({ examples: [3] })),
    started_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    finished_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    status: Type.Optional(Type.Integer({ description: "Only after a failure: the HTTP status." })),
    message: Type.Optional(Type.String({ description: "Only after a failure: the reason." })),
    ...blocking,
    reference_id: Type.Optional(
      Type.String({ description: "Only after a failure: the id under which the log has the cause." }),
    ),
  },
  { title: "OperationData", description: "Progress of an operation and what it acts on." },
);

const OperationStatus = Type.Object(
  { status: Type.Integer(), message: Type.String(), data: OperationData },
  { title: "OperationStatus", description: "State of an operation. `status` is the HTTP status." },
);

const operationId = Type.Object({
  operation_id: Type.String({
    maxLength: 100,
    pattern: pattern("^[\\u0021-\\u007e]+$", "must be an operation's id"),
    description: "The id from a 202. The colon may be percent-encoded.",
    examples: [OPERATION_ID],
  }),
});

const bytes = (when: string) => Type.Integer({ minimum: 0, description: `Size of the screenshot ${when}.` });

const picture = (when: string) =>
  Type.Optional(
    Type.String({
      description: `Screenshot ${when}: a PNG as a data URL. Only if this page was requested with \`path\`.`,
      examples: ["data:image/png;base64,iVBORw0KGgo="],
    }),
  );

const ComparedPage = Type.Object(
  {
    path: Type.String({ examples: ["/"] }),
    difference: Type.Number({
      minimum: 0,
      maximum: 100,
      description: "Share of the screenshot that differs, in percent.",
    }),
    before_bytes: bytes("before the update"),
    after_bytes: bytes("after the update"),
    before: picture("before the update"),
    after: picture("after the update"),
  },
  { title: "ComparedPage" },
);

export const listOperationPictures = endpoint({
  method: "GET",
  path: "/operations/{operation_id}/pictures",
  tag: "Operations",
  summary: "Compare screenshots from before and after an update",
  description:
    "Available if the environment has screenshots turned on. Lists each page with the difference between its two screenshots. The screenshots themselves are sent for one page at a time, selected by `path`. They are kept for 30 days.",
  params: operationId,
  query: Type.Object({
    path: Type.Optional(
      Type.String({ maxLength: 500, description: "The page whose screenshots are wanted.", examples: ["/"] }),
    ),
  }),
  responses: {
    200: result(
      ["operation", "pictures"],
      "The compared pages. Empty if there are no screenshots, or none of the requested page.",
      Type.Array(ComparedPage),
    ),
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
});

const operationStates = ["waiting", "running", "succeeded", "failed"] as const;

const OperationSummary = Type.Object(
  {
    operation_id: Type.String({ examples: [OPERATION_ID] }),
    state: Type.Enum(operationStates, { description: "`waiting`: in line behind other operations." }),
    kind: Type.String({ examples: ["addSite"] }),
    idSite: Type.Optional(uuid("The site that the operation acts on.")),
    idEnv: Type.Optional(uuid("The environment that the operation acts on.")),
    step: nullable(Type.String({ description: "The current step, or null.", examples: ["provision"] })),
    steps_done: Type.Integer({ examples: [1] }),
    steps_total: Type.Integer({ examples: [3] }),
    created_at: Type.String({ format: "date-time" }),
    started_at: nullable(Type.String({ format: "date-time" })),
    finished_at: nullable(Type.String({ format: "date-time" })),
    message: nullable(Type.String({ description: "Why it failed, or null." })),
    ...blocking,
  },
  { title: "OperationSummary" },
);

export const listOperations = endpoint({
  method: "GET",
  path: "/operations",
  tag: "Operations",
  summary: "List operations",
  description: "Newest first: what waits, what runs, and what ended in the last 7 days or longer.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company. Default: the key's company.")),
    state: Type.Optional(Type.Enum(operationStates, { description: "Only operations in this state." })),
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
        total: Type.Integer({ minimum: 0, description: "Number of matches before paging." }),
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
    "Answers 202 while the operation waits or runs, 200 when it has succeeded and 500 when it has failed. A failed operation has undone its changes, except for a WP-CLI command, whose output is in `data.result`; `data.message` says why it failed. Finished operations stay readable for at least 7 days. With `wait`, the request stays open until the operation ends, so no polling is needed.",
  params: operationId,
  query: Type.Object({
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 30,
        description: "Seconds to hold the request open for the end of the operation.",
      }),
    ),
  }),
  responses: {
    200: { description: "It has succeeded.", body: OperationStatus },
    202: { description: "It waits or runs. `Retry-After` says in seconds when to ask again.", body: OperationStatus },
    500: { description: "It has failed (`data.message` says why), or this request has.", body: OperationStatus },
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
  bucket: "operations",
});
