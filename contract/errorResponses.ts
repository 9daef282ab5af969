/** The error responses of the OpenAPI document: shared ones, and one for each set of refusal codes. */
import { type TSchema, Type } from "typebox";
import type { Components, Node } from "./components.ts";
import { type Endpoint, isOwnResource, refusalsOf } from "./endpoint.ts";
import { errorDescriptions, errorMessages, errorSchema, faults } from "./errors.ts";
import { exampleOf } from "./examples.ts";
import { refusalDetails } from "./refusalDetails.ts";
import { type RefusalCode, refusalReasons } from "./refusals.ts";

/** Names of the shared responses. */
const names = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "ContentTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
} as const;
const statuses = [401, 403, 404, 409, 413, 415, 429, 500, 503] as const satisfies readonly (keyof typeof names)[];

/** Codes that are explained where the headers are described. */
const ofHeaders: readonly RefusalCode[] = [
  "idempotency_key_reused",
  "idempotency_key_malformed",
  "when_busy_malformed",
];

export interface ErrorResponses {
  /** The error responses of an endpoint, by status. */
  of(row: Endpoint): Node;
  /** The shared responses by name. */
  shared(): Node;
}

/** `headers` are those of every response. */
export function makeErrorResponses(components: Components, headers: Node): ErrorResponses {
  const shared = new Map<string, unknown>();
  for (const status of statuses) {
    const name = names[status];
    shared.set(name, {
      description: errorDescriptions[status],
      headers: { ...headers, ...ownHeaders(status) },
      content: components.content(errorSchema(status, { title: name.endsWith("Error") ? name : `${name}Error` })),
    });
  }

  function badRequest(row: Endpoint): Node {
    const codes = refusalsOf(row);
    const own = codes.filter((code) => !ofHeaders.includes(code));
    if (own.length > 0) return refusal(own, codes);
    const name = nameOfPlain(row);
    if (!shared.has(name)) shared.set(name, refusal(own, codes));
    return { $ref: `#/components/responses/${name}` };
  }

  /** The 400 of calls that can be refused with these codes. `explained` are listed with their meanings. */
  function refusal(explained: readonly RefusalCode[], codes: readonly RefusalCode[]): Node {
    const list = explained.map((code) => `- \`${code}\`: ${refusalReasons[code]}`).join("\n");
    const data = codes.length === 0 ? faults : Type.Union([faults, refusalData(codes)]);
    const [first] = codes;
    return {
      description: `${errorDescriptions[400]}${list && ` Or the request is refused; \`data.code\` says why:\n\n${list}`}`,
      headers,
      content: {
        "application/json": {
          schema: components.publish(errorSchema(400, { data })),
          examples: {
            malformed: { $ref: "#/components/examples/malformed" },
            ...(first && { refused: { summary: "The request is refused.", value: refusalExample(first) } }),
          },
        },
      },
    };
  }

  return {
    of: (row) => ({
      400: badRequest(row),
      ...Object.fromEntries(
        statuses
          .filter((status) => canHappen(row, status))
          .map((status) => [status, { $ref: `#/components/responses/${names[status]}` }]),
      ),
    }),
    shared: () => Object.fromEntries(shared),
  };
}

export const malformedExample = {
  summary: "The request is malformed.",
  value: { message: errorMessages[400], status: 400, data: exampleOf(faults) },
};

// Endpoints without a body read one too, and can refuse it.
function canHappen(
  { params, resource, operation, responses, isHidden = false }: Endpoint,
  status: keyof typeof names,
): boolean {
  if (status === 401) return resource.kind !== "anyone";
  if (status === 404) return params !== undefined || !isOwnResource(resource) || isHidden;
  if (status === 409) return operation !== undefined;
  return status !== 500 || responses[500] === undefined;
}

function nameOfPlain({ method, operation }: Endpoint): string {
  if (operation !== undefined) return "BadOperationRequest";
  return method === "GET" ? "BadRequest" : "BadWriteRequest";
}

function ownHeaders(status: keyof typeof names): Node {
  if (status === 429 || status === 503)
    return {
      "Retry-After": header("Seconds to wait: at most 30, or an hour if too many invitations were mailed.", "integer"),
    };
  return status === 401 ? { "WWW-Authenticate": header("`Bearer`.", "string") } : {};
}

export function header(description: string, type: string): Node {
  return { description, schema: { type } };
}

/** `data` of a refusal with one of these codes. */
export function refusalData(codes: readonly RefusalCode[]) {
  const details = Map.groupBy(
    codes.flatMap((code) => Object.entries(detailsOf(code)).map(([name, schema]) => ({ code, name, schema }))),
    ({ name }) => name,
  );
  const members = [...details].map(([name, uses]) => [name, Type.Optional(merged(name, uses))]);
  return Type.Object({
    code: Type.Enum([...codes], { description: "Why the request is refused." }),
    ...Object.fromEntries(members),
  });
}

interface Use {
  readonly code: RefusalCode;
  readonly schema: TSchema;
}

/** One schema for a member that several codes have. Its description says which. */
function merged(name: string, uses: readonly Use[]): TSchema {
  const [first] = uses;
  if (first === undefined) throw new Error(`No code has the member ${name}`);
  const byText = Map.groupBy(uses, ({ schema }) => descriptionOf(schema));
  const form = ({ schema }: Use) => JSON.stringify({ ...schema, description: "", examples: [] });
  if (uses.some((use) => form(use) !== form(first))) throw new Error(`The member ${name} has two different forms`);
  // A shared schema keeps its own description.
  if ("title" in first.schema) return first.schema;
  const description = [...byText]
    .map(([text, group]) => `With ${group.map(({ code }) => `\`${code}\``).join(", ")}: ${text}`)
    .join(" ");
  return { ...first.schema, description };
}

function descriptionOf(schema: TSchema): string {
  return "description" in schema ? String(schema.description) : "";
}

function detailsOf(code: RefusalCode): Readonly<Record<string, TSchema>> {
  const found: Partial<Record<RefusalCode, Readonly<Record<string, TSchema>>>> = refusalDetails;
  return found[code] ?? {};
}

function refusalExample(code: RefusalCode) {
  const details = Object.entries(detailsOf(code)).map(([name, schema]) => [name, exampleOf(schema)]);
  // Without the sentence about `data`.
  const message = refusalReasons[code].split(";", 1)[0]?.replaceAll("`", "").replace(/\.?$/, ".");
  return { message, status: 400, data: { code, ...Object.fromEntries(details) } };
}
