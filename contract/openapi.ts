/** The OpenAPI 3.1 document, generated from the table of endpoints. */
import type { TSchema } from "typebox";
import { type Components, makeComponents, type Node } from "./components.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { type ErrorResponses, header, makeErrorResponses, malformedExample } from "./errorResponses.ts";
import { type OperationKind, operationKinds } from "./operationKinds.ts";
import { whenBusyValues } from "./operations.ts";

const description = `Sitewright creates, serves and deletes WordPress sites for companies.

Send an API key as \`Authorization: Bearer <key>\`. Bodies are JSON. Calls that start longer work return 202 and an \`operation_id\`; follow the operation with \`GET /operations/{operation_id}\`.

All errors have the same shape: \`message\` for people, \`status\`, and \`data\`. A malformed request is a 400 whose \`data.errors\` lists every fault with a JSON pointer. A valid request that can't be carried out is a 400 with a code in \`data.code\`; each call lists its codes. Messages may change, codes do not.

Every response has the headers \`X-Request-Id\`, \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds since 1970). Responses to most reads have an \`ETag\`: clients that poll send it as \`If-None-Match\`, and get a 304 without a body as long as nothing has changed. The query parameters of a GET may also be sent as a JSON body; the query takes precedence. Unknown fields are ignored.`;

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes it safe to repeat a request: it is carried out once, and repetitions with the same key within 24 hours get the first response again. 1 to 255 visible ASCII characters, else the request is refused (`idempotency_key_malformed`). A different request with the same key is refused too (`idempotency_key_reused`).",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description:
    "The `ETag` of an earlier response. If the response would be the same, it is a 304 without a body, which is faster.",
  schema: { type: "string" },
};

const lastEventId = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Id of the last event that the client has. Browsers send it when they connect again.",
  schema: { type: "string" },
};

const whenBusy = {
  name: "When-Busy",
  in: "header",
  required: false,
  description:
    "What to do if another operation holds the environment. `queue`: the operation waits its turn; if a hundred already wait, the call returns 429. `fail`: the operation is accepted and fails at once. `refuse`: the call returns 409. Other values are refused (`when_busy_malformed`).",
  schema: { type: "string", enum: [...whenBusyValues], default: "fail" },
};

const rateHeaders = {
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  "X-RateLimit-Limit": { $ref: "#/components/headers/X-RateLimit-Limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/X-RateLimit-Remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/X-RateLimit-Reset" },
};

const notModified = {
  description: "The body would be the same as that of the response whose `ETag` the request has as `If-None-Match`.",
  headers: { ...rateHeaders, ETag: { $ref: "#/components/headers/ETag" } },
};

const tagDescriptions: Readonly<Record<string, string>> = {
  Sites: "WordPress sites. Each has a live environment and any number of others.",
  Environments: "The live version of a site and its copies, each with its own files, database and address.",
  Backups: "Backups, restores and downloads.",
  "Plugins and themes":
    "Installed plugins and themes, known vulnerabilities, and safe updates, also of WordPress itself.",
  Domains: "Domains of environments, their verification, certificates and HTTPS.",
  "Redirect rules": "Redirects of old URLs, by path or regular expression.",
  DNS: "Zones and records of the domains that this installation is authoritative for.",
  Tools: "WP-CLI, search and replace, PHP versions, and blocked IP addresses.",
  "Edge caching": "The page cache.",
  Limits: "PHP threads, memory, request time and disk space: limits and usage.",
  Analytics: "Visits, requests, bandwidth, response times and disk space over time.",
  Logs: "PHP errors and access logs.",
  Mail: "Outgoing mail of sites: the setting, and stored mail to read or send.",
  "WordPress users": "WordPress administrators and login links.",
  Operations: "Work that continues after the request that started it.",
  Users: "Users of a company.",
  "API keys": "API keys of a company and their permissions.",
  "Activity log": "Who did what, and when.",
  Events: "What happens in a company, while it happens.",
  Regions: "Where sites can be created.",
  "PHP versions": "PHP versions that sites can run.",
  Authentication: "The calling API key.",
  Labels: "Labels, which group sites, and can limit what people and API keys see.",
  Operator: "The installation, for its operators.",
  Sessions: "People who sign in, their sessions and passwords.",
};

/** The address of an installation with the default settings. */
const defaultOrigin = "http://127.0.0.1:8080";

/** The whole document as plain JSON. `origin` is the address of the server. */
export function openApiDocument(origin = defaultOrigin): Node {
  const rows = Object.entries<Endpoint>(endpoints);
  const components = makeComponents();
  const errors = makeErrorResponses(components, rateHeaders);
  const operations = rows.map(([name, row]) => ({ row, operation: operationOf(name, row, { components, errors }) }));
  const parameters = shareParameters(operations.map(({ operation }) => operation));
  const paths: { [path: string]: Node } = {};
  for (const { row, operation } of operations) {
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation };
  }
  const tags = [...new Set(rows.map(([, { tag }]) => tag))].map((name) => ({
    name,
    description: tagDescriptions[name] ?? "",
  }));
  return {
    openapi: "3.1.0",
    info: {
      title: "Sitewright API",
      version: "2",
      description,
      license: { name: "GPL-2.0-or-later", identifier: "GPL-2.0-or-later" },
    },
    servers: [{ url: `${origin}/v2`, description: "This installation" }],
    security: [{ apiKey: [] }, { session: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key of the company: `sk_…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "sitewright",
          description:
            "The session of a person (`POST /sessions`). Over HTTPS, the cookie's name is `__Host-sitewright`.",
        },
      },
      headers: {
        "X-Request-Id": header("Id of this request in the log.", "string"),
        "X-RateLimit-Limit": header("Maximum number of requests per minute.", "integer"),
        "X-RateLimit-Remaining": header("Number of requests left.", "integer"),
        "X-RateLimit-Reset": header("When the full number is available again, in seconds since 1970.", "integer"),
        Location: header("Path at which to follow the operation.", "string"),
        ETag: header("Changes when the body does. Send it as `If-None-Match` with the next request.", "string"),
      },
      parameters,
      examples: { malformed: malformedExample },
      responses: { ...errors.shared(), NotModified: notModified },
      schemas: components.schemas(),
    },
  };
}

interface Operation extends Node {
  parameters: Node[];
}

interface Parts {
  readonly components: Components;
  readonly errors: ErrorResponses;
}

function operationOf(name: string, row: Endpoint, { components, errors }: Parts): Operation {
  return {
    operationId: name,
    tags: [row.tag],
    summary: row.summary,
    description: row.description,
    ...securityOf(row),
    ...(row.deprecated && { deprecated: true }),
    parameters: parametersOf(row, components),
    ...(row.body && { requestBody: { required: mustBeSent(row.body), content: components.content(row.body) } }),
    responses: {
      ...successes(row, components),
      ...(hasEntityTag(row) && { 304: { $ref: "#/components/responses/NotModified" } }),
      ...errors.of(row),
    },
    "x-verb": row.verb,
    ...(row.operation && { "x-operation": row.operation }),
  };
}

/** Absent: an API key or a session. */
function securityOf({ resource }: Endpoint): Node {
  if (resource.kind === "anyone") return { security: [] };
  return resource.kind === "session" ? { security: [{ session: [] }] } : {};
}

/** A body without any field may be left out if it is valid. */
function mustBeSent(body: NonNullable<Endpoint["body"]>): boolean {
  const required: readonly string[] = body.required ?? [];
  return required.length > 0 || "minProperties" in body;
}

function parametersOf(row: Endpoint, { publish }: Components): Node[] {
  const from = (place: "path" | "query", schema: Endpoint["query"]) => {
    const requiredNames: readonly string[] = schema?.required ?? [];
    return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description: text, ...rest }: Node = { ...Object(publish(property)) };
      const required = place === "path" || requiredNames.includes(name);
      return { name, in: place, required, ...(text !== undefined && { description: text }), schema: rest };
    });
  };
  return [
    ...from("path", row.params),
    ...from("query", row.query),
    ...(row.method === "GET" || row.resource.kind === "anyone" ? [] : [idempotencyKey]),
    ...(hasEntityTag(row) ? [ifNoneMatch] : []),
    ...(row.operation ? [whenBusy] : []),
    ...(isEventStream(row) ? [lastEventId] : []),
  ];
}

/** Whether its responses have an `ETag`: those of all reads that are not sent as text while they are read. */
function hasEntityTag({ method, responses }: Endpoint): boolean {
  return method === "GET" && responses[200] !== undefined && responses[200].mediaTypes === undefined;
}

const isEventStream = ({ responses }: Endpoint): boolean =>
  responses[200]?.mediaTypes !== undefined && "text/event-stream" in responses[200].mediaTypes;

/** Replaces parameters that several operations have with references. Returns the parameters by name. */
function shareParameters(operations: readonly Operation[]): Node {
  const shared = new Map<string, string>();
  const uses = Map.groupBy(
    operations.flatMap(({ parameters }) => parameters),
    (parameter) => JSON.stringify(parameter),
  );
  for (const [text, [parameter, ...more]] of uses) {
    const name = String(parameter?.name);
    if (more.length > 0 && ![...shared.values()].includes(name)) shared.set(text, name);
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters.map((parameter) => {
      const name = shared.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  }
  return Object.fromEntries([...shared].map(([text, name]) => [name, JSON.parse(text)]));
}

function successes(row: Endpoint, components: Components): Node {
  const entries = Object.entries(row.responses).map(([status, { description: text, body, documented, mediaTypes }]) => [
    status,
    {
      description: text,
      headers: {
        ...rateHeaders,
        ...(row.operation && { Location: { $ref: "#/components/headers/Location" } }),
        ...(status === "200" && hasEntityTag(row) && { ETag: { $ref: "#/components/headers/ETag" } }),
      },
      content:
        mediaTypes === undefined
          ? components.content(documented ?? body, row.operation && acceptedExample(row.operation))
          : Object.fromEntries(Object.entries(mediaTypes).map(([type, example]) => [type, { schema: body, example }])),
    },
  ]);
  return Object.fromEntries(entries);
}

function acceptedExample(kind: OperationKind): Node {
  const { prefix, message } = operationKinds[kind];
  return { operation_id: `${prefix}54fb80af-576c-4fdc-ba4f-b596c83f15a1`, message, status: 202 };
}
