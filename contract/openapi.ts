/** The OpenAPI 3.1 document, made from the table of endpoints. */
import type { TSchema } from "typebox";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { ApiError, describeError, type ErrorStatus, refusalReasons } from "./errors.ts";
import { whenBusyValues } from "./operations.ts";

type Node = { [key: string]: unknown };

const description = `Sitewright creates, serves and deletes WordPress sites for companies.

Send an API key as \`Authorization: Bearer <key>\`. Bodies are JSON. Work that takes longer than a moment is answered with 202 and an \`operation_id\`; follow it with \`GET /operations/{operation_id}\`.

Every error has one shape: \`message\` for people, \`status\`, and \`data\`. A malformed request is a 400 whose \`data.errors\` lists every fault with a JSON pointer. A well-formed one that can't be done is a 400 with one of these as \`data.code\`:

${Object.entries(refusalReasons)
  .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
  .join("\n")}

Every answer carries \`X-Request-Id\`, \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds since 1970). The query parameters of a GET may also be sent as a JSON body; the query wins. Fields that are not known are ignored.`;

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 visible ASCII characters. The same key with the same request gets the first answer again for 24 hours, and is carried out once.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const whenBusy = {
  name: "When-Busy",
  in: "header",
  required: false,
  description:
    "What happens while another operation holds the environment. `queue`: the operation waits in line. `fail`: it is accepted and fails at once. `refuse`: the call is answered 409.",
  schema: { type: "string", enum: [...whenBusyValues], default: "fail" },
};

const rateHeaders = {
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  "X-RateLimit-Limit": { $ref: "#/components/headers/X-RateLimit-Limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/X-RateLimit-Remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/X-RateLimit-Reset" },
};

const tagDescriptions: Readonly<Record<string, string>> = {
  Sites: "WordPress sites, each with a live environment and any number of others.",
  Environments: "Copies of a site with files, database and address of their own: staging, tests, clones.",
  Backups: "Backups, restores, downloads, and deleted sites and environments that can be restored.",
  "Plugins and themes": "What is installed, what is out of date or vulnerable, and safe updates.",
  Domains: "Names that lead to environments, their verification and HTTPS.",
  "Redirect rules": "Redirects of old URLs, by path or regular expression.",
  DNS: "Zones and records of domains whose DNS this installation serves.",
  Tools: "WP-CLI, search and replace, PHP and blocked addresses.",
  "Edge caching": "The page cache.",
  Limits: "PHP processes, memory, disk space and their usage.",
  Logs: "PHP errors and access logs.",
  Mail: "Mail that sites send, to read or to send on.",
  "WordPress users": "Administrators and login links.",
  Operations: "Work that takes longer than a request.",
  "API keys": "Keys of a company, and what they may do.",
  "Activity log": "Who did what, and when.",
  Regions: "Labels for new sites.",
  "PHP versions": "PHP versions of this installation.",
  Authentication: "Check a key.",
};

/** The whole document as plain JSON. `origin`: where this server answers, such as `https://panel.example.com`. */
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
        "X-RateLimit-Limit": header("Requests that the key may make in a minute.", "integer"),
        "X-RateLimit-Remaining": header("How many of them are left.", "integer"),
        "X-RateLimit-Reset": header("When all of them are there again, in seconds since 1970.", "integer"),
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
        required: needsSomething(row.body),
        content: { "application/json": { schema: publish(row.body, named) } },
      },
    }),
    responses: { ...successes(row, named), ...errors(row) },
    "x-verb": row.verb,
    ...(row.operation && { "x-operation": row.operation }),
  };
}

/** A body of which every field may be left out may be left out itself. */
function needsSomething({ required }: NonNullable<Endpoint["body"]>): boolean {
  const names: readonly string[] = required ?? [];
  return names.length > 0;
}

function parametersOf(row: Endpoint, named: Map<string, unknown>): Node[] {
  const from = (place: "path" | "query", schema: Endpoint["query"]) => {
    const needed: readonly string[] = schema?.required ?? [];
    return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description: text, ...rest } = toNode(publish(property, named));
      const required = place === "path" || needed.includes(name);
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
        ...(row.operation && { Location: header("Where to follow the operation.", "string") }),
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
  // A body is read, and can be refused, even if the endpoint has none.
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

/** A schema as JSON. One that has a title stands under `components` and is referred to. */
function publish(schema: unknown, named: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => publish(item, named));
  if (schema === null || typeof schema !== "object") return schema;
  const node = toNode(schema);
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, publish(value, named)]));
  if (typeof node.title !== "string" || node.type !== "object") return copy;
  const known = named.get(node.title);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) {
    throw new Error(`Two schemas are called ${node.title}`);
  }
  named.set(node.title, copy);
  return { $ref: `#/components/schemas/${node.title}` };
}

function toNode(value: unknown): Node {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
