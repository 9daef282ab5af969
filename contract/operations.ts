/** The endpoint that follows an operation. */
import { Type } from "typebox";
import { endpoint, result } from "./endpoint.ts";
import { nullable, pattern, uuid } from "./schema.ts";

const OPERATION_ID = "sites:add-54fb80af-576c-4fdc-ba4f-b596c83f15a1";

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
  { title: "Accepted", description: "The work was accepted and goes on after this answer." },
);

const OperationData = Type.Object(
  {
    idSite: Type.Optional(uuid("The site that it acts on.")),
    idEnv: Type.Optional(uuid("The environment that it acts on.")),
    result: Type.Optional(Type.Unsafe<unknown>({ description: "What it produced; depends on its kind." })),
    kind: Type.Optional(Type.String({ examples: ["addSite"] })),
    step: Type.Optional(nullable(Type.String({ description: "What it is doing.", examples: ["provision"] }))),
    steps_done: Type.Optional(Type.Integer({ examples: [1] })),
    steps_total: Type.Optional(Type.Integer({ examples: [3] })),
    started_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    finished_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    status: Type.Optional(Type.Integer({ description: "With a failure only: the HTTP status again." })),
    message: Type.Optional(Type.String({ description: "With a failure only: the reason." })),
    reference_id: Type.Optional(
      Type.String({ description: "With a failure only: the id under which the log has the cause." }),
    ),
  },
  { title: "OperationData", description: "How far an operation is and what it acts on." },
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

const bytes = (when: string) =>
  Type.Integer({ minimum: 0, description: `Of the PNG that shows how it looked ${when}.` });

const picture = (when: string) =>
  Type.Optional(
    Type.String({
      description: `How it looked ${when}: a PNG, as a data URL. Only where this page was asked for.`,
      examples: ["data:image/png;base64,iVBORw0KGgo="],
    }),
  );

const ComparedPage = Type.Object(
  {
    path: Type.String({ examples: ["/"] }),
    difference: Type.Number({ minimum: 0, maximum: 100, description: "So many percent of the picture are another." }),
    before_bytes: bytes("before"),
    after_bytes: bytes("afterwards"),
    before: picture("before"),
    after: picture("afterwards"),
  },
  { title: "ComparedPage" },
);

export const listOperationPictures = endpoint({
  method: "GET",
  path: "/operations/{operation_id}/pictures",
  tag: "Operations",
  summary: "How pages looked before an update and after it",
  description:
    "Where its environment wanted pictures to be taken. Each page is listed with the difference between its two pictures; the pictures themselves are sent of one page at a time, the one whose path is asked for. They are kept for 30 days.",
  params: operationId,
  query: Type.Object({
    path: Type.Optional(
      Type.String({ maxLength: 500, description: "Of the page whose pictures are wanted.", examples: ["/"] }),
    ),
  }),
  responses: {
    200: result(
      ["operation", "pictures"],
      "The pages; none where no pictures were taken, or none of the page that was asked for.",
      Type.Array(ComparedPage),
    ),
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
});

export const getOperation = endpoint({
  method: "GET",
  path: "/operations/{operation_id}",
  tag: "Operations",
  summary: "Follow an operation",
  description:
    "Answers 202 while the operation waits or runs, 200 when it has succeeded and 500 when it has failed. A failed operation has undone what it did, except for a command of WP-CLI, of which `data.result` tells; `data.message` says why it failed. Finished operations stay readable for at least 7 days. With `wait` the request is held open until the operation ends, so that no polling is needed.",
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
