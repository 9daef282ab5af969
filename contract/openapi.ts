/** The OpenAPI 3.1 document, generated from the table of endpoints. */
import type { TSchema } from "typebox";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { ApiError, describeError, type ErrorStatus, refusalReasons } from "./errors.ts";
import { whenBusyValues } from "./operations.ts";

type Node = { [key: string]: unknown };

const description = `Sitewright creates, serves and deletes WordPress sites for companies.

Send an API key as \`Authorization: Bearer <key>\`. Bodies are JSON. Calls that take longer than a moment return 202 and an \`operation_id\`; follow the operation with \`GET /operations/{operation_id}\`.

All errors have the same shape: \`message\` for people, \`status\`, and \`data\`. A malformed request is a 400 whose \`data.errors\` lists every fault with a JSON pointer. A valid request that can't be carried out is a 400 with one of these codes in \`data.code\`:

${Object.entries(refusalReasons)
  .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
  .join("\n")}

Every response has the headers \`X-Request-Id\`, \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds since 1970). The query parameters of a GET may also be sent as a JSON body; the query takes precedence. Unknown fields are ignored.`;

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes it safe to repeat a request: it is carried out once, and repetitions with the same key within 24 hours get the first response again. 1 to 255 visible ASCII characters.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const whenBusy = {
  name: "When-Busy",
  in: "header",
  required: false,
  description:
    "What to do if another operation holds the environment. `queue`: the operation waits its turn. `fail`: the operation is accepted and fails at once. `refuse`: the call returns 409.",
  schema: { type: "string", enum: [...whenBusyValues], default: "fail" },
};

const rateHeaders = {
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  "X-RateLimit-Limit": { $ref: "#/components/headers/X-RateLimit-Limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/X-RateLimit-Remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/X-RateLimit-Reset" },
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
  Logs: "PHP errors and access logs.",
  Mail: "Outgoing mail of sites: the setting, and stored mail to read or send.",
  "WordPress users": "WordPress administrators and login links.",
  Operations: "Work that continues after the request that started it.",
  "API keys": "API keys of a company and their permissions.",
  "Activity log": "Who did what, and when.",
  Regions: "Regions that a site can be labelled with.",
  "PHP versions": "PHP versions that sites can run.",
  Authentication: "The calling API key.",
};

/** The whole document as plain JSON. `origin` is the address of this server, such as `https://panel.example.com`. */
export function openApiDocument(origin = ""): Node {
  const named = new Map<string, unknown>();
  const paths: { [path: string]: Node } = {};
  for (const [name, row] of Object.entries<Endpoint>(endpoints)) {
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operationOf(name, row, named) };
  }
  const tags = [...new Set(Object.values<Endpoint>(endpoints).map(({ tag }) => tag))].map((name) => ({
    name,
    description: tagDescriptions[name] ?? "",
  }));
  const responses = Object.fromEntries(
    errorStatuses.map((status) => [errorNames[status], errorResponse(status, named)]),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "Sitewright",
      version: "2",
      description,
      license: { name: "GPL-2.0-or-later", identifier: "GPL-2.0-or-later" },
    },
    servers: [{ url: `${origin}/v2`, description: "This installation" }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key of the company: `sk_…`." },
      },
      headers: {
        "X-Request-Id": header("Id of this request in the log.", "string"),
        "X-RateLimit-Limit": header("Maximum number of requests per minute.", "integer"),
        "X-RateLimit-Remaining": header("Number of requests left.", "integer"),
        "X-RateLimit-Reset": header("When the full number is available again, in seconds since 1970.", "integer"),
      },
      responses,
      schemas: Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}

function header(text: string, type: string): Node {
  return { description: text, schema: { type } };
}

function operationOf(name: string, row: Endpoint, named: Map<string, unknown>): Node {
  return {
    operationId: name,
    tags: [row.tag],
    summary: row.summary,
    description: row.description,
    ...(row.deprecated && { deprecated: true }),
    parameters: parametersOf(row, named),
    ...(row.body && {
      requestBody: {
        required: hasRequiredField(row.body),
        content: { "application/json": { schema: publish(row.body, named) } },
      },
    }),
    responses: { ...successes(row, named), ...errors(row) },
    "x-verb": row.verb,
    ...(row.operation && { "x-operation": row.operation }),
  };
}

/** If all fields of a body are optional, so is the body. */
function hasRequiredField({ required }: NonNullable<Endpoint["body"]>): boolean {
  const names: readonly string[] = required ?? [];
  return names.length > 0;
}

function parametersOf(row: Endpoint, named: Map<string, unknown>): Node[] {
  const from = (place: "path" | "query", schema: Endpoint["query"]) => {
    const requiredNames: readonly string[] = schema?.required ?? [];
    return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description: text, ...rest } = toNode(publish(property, named));
      const required = place === "path" || requiredNames.includes(name);
      return { name, in: place, required, ...(text !== undefined && { description: text }), schema: rest };
    });
  };
  return [
    ...from("path", row.params),
    ...from("query", row.query),
    ...(row.method === "GET" ? [] : [idempotencyKey]),
    ...(row.operation ? [whenBusy] : []),
  ];
}

function successes(row: Endpoint, named: Map<string, unknown>): Node {
  const entries = Object.entries(row.responses).map(([status, { description: text, body }]) => [
    status,
    {
      description: text,
      headers: {
        ...rateHeaders,
        ...(row.operation && { Location: header("Path at which to follow the operation.", "string") }),
      },
      content: { "application/json": { schema: publish(body, named) } },
    },
  ]);
  return Object.fromEntries(entries);
}

/** Names of the shared error responses. */
const errorNames = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "ContentTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  500: "InternalError",
} as const;
type SharedStatus = keyof typeof errorNames;
const errorStatuses = [400, 401, 403, 404, 409, 413, 415, 429, 500] as const satisfies readonly SharedStatus[];

function errors(row: Endpoint): Node {
  // Endpoints without a body read one too, and can refuse it.
  const statuses: SharedStatus[] = [
    400,
    401,
    403,
    ...(row.resource.kind === "key" ? [] : [404 as const]),
    ...(row.operation ? [409 as const] : []),
    413,
    415,
    429,
    ...(row.responses[500] ? [] : [500 as const]),
  ];
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${errorNames[status]}` }]),
  );
}

function errorResponse(status: ErrorStatus, named: Map<string, unknown>): Node {
  const { description: text, example } = describeError(status);
  const extra =
    status === 429
      ? { "Retry-After": header("Seconds to wait, at most 30.", "integer") }
      : status === 401
        ? { "WWW-Authenticate": header("`Bearer`.", "string") }
        : {};
  return {
    description: text,
    headers: { ...rateHeaders, ...extra },
    content: { "application/json": { schema: publish(ApiError, named), example } },
  };
}

/** The schema as JSON. Object schemas with a title move to `components` and are referenced. */
function publish(schema: unknown, named: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => publish(item, named));
  if (schema === null || typeof schema !== "object") return schema;
  const node = toNode(schema);
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, publish(value, named)]));
  if (typeof node.title !== "string" || node.type !== "object") return copy;
  const published = named.get(node.title);
  if (published !== undefined && JSON.stringify(published) !== JSON.stringify(copy)) {
    throw new Error(`Two different schemas have the title ${node.title}`);
  }
  named.set(node.title, copy);
  return { $ref: `#/components/schemas/${node.title}` };
}

function toNode(value: unknown): Node {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
