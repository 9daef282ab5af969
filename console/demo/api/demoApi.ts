/** The API of the demo: takes requests as the real one does, with the contract's rows, checks and words. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { type ErrorStatus, errorMessages } from "@sitewright/contract/errors.ts";
import { operationKinds } from "@sitewright/contract/operationKinds.ts";
import { type CheckedInput, type InputReader, makeInputReader } from "@sitewright/server/http/reading/input.ts";
import { Malformed } from "@sitewright/server/http/reading/malformed.ts";
import { NotFound, Refusal } from "../world/failures.ts";
import { signedInPerson } from "../world/find.ts";
import type { Role, World } from "../world/world.ts";
import { calls, handlers } from "./handlers.ts";

interface AnyAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handler of any endpoint. The row's schemas check at run time that its input fits. */
interface AnyHandler<Returned> {
  handle(world: World, input: CheckedInput): Returned | Promise<Returned>;
}

const callsByName = new Map(Object.entries<AnyHandler<unknown>["handle"]>(calls));
const handlersByName = new Map(Object.entries<AnyHandler<AnyAnswer>["handle"]>(handlers));

interface Route {
  readonly name: string;
  readonly row: Endpoint;
  readonly pattern: URLPattern;
  reader?: InputReader;
}

const routes: readonly Route[] = Object.entries<Endpoint>(endpoints)
  // A fixed path such as `/sites/clone` comes before one with an id.
  .toSorted(([, one], [, other]) => one.path.split("{").length - other.path.split("{").length)
  .map(([name, row]) => ({
    ...{ name, row },
    pattern: new URLPattern({ pathname: `/v2${row.path.replaceAll(/\{(\w+)\}/g, ":$1")}` }),
  }));

/** The name of the endpoint that a request is for. Null: there is no such one. */
export function endpointOf({ method, url }: Request): string | null {
  return routes.find(({ row, pattern }) => row.method === method && pattern.test(url))?.name ?? null;
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });

/** An error as the API sends it. */
export function errorResponse(
  status: ErrorStatus,
  data: unknown = null,
  {
    message = errorMessages[status],
    headers = {},
  }: { readonly message?: string; readonly headers?: Record<string, string> } = {},
): Response {
  return json(status, { message, status, data }, headers);
}

/** Answers a request from the world, and changes the world accordingly. */
export async function answer(world: World, request: Request): Promise<Response> {
  try {
    return await handle(world, request);
  } catch (error) {
    if (error instanceof Malformed) return errorResponse(400, { errors: error.faults });
    if (error instanceof Refusal) return errorResponse(400, { code: error.code, ...error.details }, error);
    if (error instanceof NotFound) return errorResponse(404);
    throw error;
  }
}

async function handle(world: World, request: Request): Promise<Response> {
  const route = routes.find(({ row, pattern }) => row.method === request.method && pattern.test(request.url));
  const params = route?.pattern.exec(request.url)?.pathname.groups;
  if (route === undefined || params === undefined) return errorResponse(404);
  const { row, name } = route;
  const refusal = row.resource.kind === "anyone" ? null : notAllowed(world, row);
  if (refusal !== null) return refusal;
  route.reader ??= makeInputReader(row);
  const input = await inputOf(route.reader, request, params);
  const handler = handlersByName.get(name);
  if (handler !== undefined) {
    const { status, body, headers } = await handler(world, input);
    return json(status, body, headers);
  }
  const call = callsByName.get(name);
  if (call === undefined) return errorResponse(404, null, { message: `The demo does not have ${name}.` });
  return answerWith(row, await call(world, input), input);
}

const text = (value: string | undefined): string => decodeURIComponent(value ?? "");

async function inputOf(reader: InputReader, request: Request, groups: Readonly<Record<string, string | undefined>>) {
  const params = reader.params(Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, text(value)])));
  if (params === null) throw new NotFound();
  const sent = await request.text();
  const query = Object.fromEntries(new URL(request.url).searchParams);
  return reader.input({ params, query, body: sent === "" ? undefined : { value: JSON.parse(sent) } });
}

const ranks: Readonly<Record<Role, number>> = { viewer: 0, billing: 0, developer: 1, admin: 2, owner: 3 };

/** Why the person in front of this tab must not do that. */
function notAllowed(world: World, { role, verb }: Endpoint): Response | null {
  if (world.sessionId === null || !world.sessions.some(({ id }) => id === world.sessionId)) return errorResponse(401);
  const needed = role ?? (verb === "read" ? "viewer" : "developer");
  if (ranks[signedInPerson(world).access.role] >= ranks[needed]) return null;
  return errorResponse(403, { code: "scope_missing", needs: `role:${needed}` });
}

async function answerWith({ operation, dryRunOperation, responses }: Endpoint, value: unknown, { body }: CheckedInput) {
  const [[status = "200", response] = []] = Object.entries(responses);
  if (operation !== undefined) {
    const kind = body.dry_run === true ? (dryRunOperation ?? operation) : operation;
    return json(Number(status), { operation_id: value, message: operationKinds[kind].message, status: 202 });
  }
  const fields = response?.result?.fields ?? [];
  const wrapped = fields.reduceRight<unknown>((inner, field) => ({ [field]: inner }), await listed(value));
  return json(Number(status), wrapped);
}

interface Page {
  readonly items: readonly unknown[];
}

const isList = (value: unknown): value is { readonly read: () => Promise<Page> } =>
  typeof value === "object" && value !== null && "read" in value;

/** Lists in pages have only one here. */
const listed = async (value: unknown): Promise<unknown> => (isList(value) ? (await value.read()).items : value);
