/** From an identified request to its answer: checked, allowed, done once, serialised. */
import { Readable } from "node:stream";
import { whenBusyValues } from "@sitewright/contract/operations.ts";
import { authorise, type Identified } from "@sitewright/server/app/company/access.ts";
import { describeActor } from "@sitewright/server/app/company/actor.ts";
import type { App, Context, RequestTransaction } from "@sitewright/server/app/context.ts";
import { Busy, NotFound, Refused } from "@sitewright/server/app/failures.ts";
import { answerOnce, type FinishedAnswer } from "@sitewright/server/app/idempotency.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReadBody } from "./bodies.ts";
import { answerToRequestFault } from "./faults.ts";
import { answerers, calls } from "./handlers.ts";
import { type AnyAnswer, makeAnswer } from "./handling.ts";
import { isInPath, pathParameters, type Route, targetOf, tokenOf } from "./identity.ts";
import type { CheckedInput } from "./input.ts";
import { originOf } from "./paths.ts";

/** Bodies by what they were made of. As bytes: a text of that length would be made into new ones for each answer. */
const written = new WeakMap<object, Buffer>();

/**
 * A handler whose endpoint is not known to the compiler. The method form lets it stand for every handler:
 * that its input fits is what the row's schemas have checked.
 */
interface AnyHandler<Returned> {
  handle(context: Context, input: CheckedInput): Returned | Promise<Returned>;
}

const callsByName = new Map(Object.entries<AnyHandler<unknown>["handle"]>(calls));
const answerersByName = new Map(Object.entries<AnyHandler<AnyAnswer>["handle"]>(answerers));

function handlerOf({ name, row }: Route): AnyHandler<AnyAnswer>["handle"] {
  const answerer = answerersByName.get(name);
  if (answerer) return answerer;
  const call = callsByName.get(name);
  if (!call) throw new Error(`No handler for ${name}`);
  const answerWith = makeAnswer(row);
  return async (context, input) => answerWith(await call(context, input));
}

/** Makes the Fastify handler of one endpoint. */
export function makeResponder(app: App, route: Route, stopping: AbortSignal) {
  const handler = handlerOf(route);
  return async (request: FastifyRequest<{ Body: ReadBody | undefined }>, reply: FastifyReply) => {
    const { identified } = request;
    if (!identified) throw new Error("A request got past the gate without a caller");
    const afterwards: (() => Promise<void>)[] = [];
    const handle = async (transaction: RequestTransaction | null): Promise<AnyAnswer> => {
      const input = await readAllowed(app, route, request, identified);
      const context = contextOf(app, identified, { request, reply, transaction, stopping, afterwards });
      return handler(context, input);
    };
    const key = route.row.method === "GET" ? undefined : idempotencyKeyOf(request);
    const run = async (transaction: RequestTransaction) => finish(reply, await handle(transaction));
    const answer =
      key === undefined
        ? sendable(reply, await handle(null))
        : await once(app, identified, request, reply, { key, run });
    // A refusal has taken back what there was to follow up.
    if (answer.status < 300) for (const work of afterwards) await work();
    return reply.code(answer.status).headers(answer.headers).type("application/json; charset=utf-8").send(answer.body);
  };
}

/**
 * Whose the thing is comes before what is wrong with the request, wherever the path says which thing it is:
 * nobody learns anything about another company's by sending nonsense to it.
 */
async function readAllowed(
  app: App,
  { row, reader }: Route,
  request: FastifyRequest<{ Body: ReadBody | undefined }>,
  identified: Identified,
): Promise<CheckedInput> {
  const allow = async (input: CheckedInput) =>
    authorise(row, identified.caller, await targetOf(app, row, input, identified));
  const params = reader.params(pathParameters(request));
  if (!params) throw new NotFound();
  if (isInPath(row)) await allow({ params, query: {}, body: {} });
  const query = request.query !== null && typeof request.query === "object" ? { ...request.query } : {};
  const input = reader.input({ params, query, body: request.body });
  if (!isInPath(row)) await allow(input);
  return input;
}

/** Where parts are one body they are sent as they are: to make one of them would take as much memory again for each request. */
function sendable(reply: FastifyReply, answer: AnyAnswer): FinishedAnswer<string | Buffer | Readable> {
  const { parts } = answer;
  if (parts === undefined) return finish(reply, answer);
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const headers = { ...answer.headers, "content-length": String(bytes) };
  return { status: answer.status, headers, body: Readable.from(parts, { objectMode: false }) };
}

/** Serialises by the allow-list of the endpoint's schema for that status. */
function finish(reply: FastifyReply, answer: AnyAnswer): FinishedAnswer {
  reply.code(answer.status);
  return { status: answer.status, headers: answer.headers ?? {}, body: write(reply, answer) };
}

function write(reply: FastifyReply, answer: AnyAnswer): string | Buffer {
  const { basis } = answer;
  const known = basis === undefined ? undefined : written.get(basis);
  if (known !== undefined) return known;
  const text = String(reply.serialize(answer.body));
  if (basis === undefined) return text;
  const bytes = Buffer.from(text);
  written.set(basis, bytes);
  return bytes;
}

interface OnceOptions {
  readonly key: string;
  readonly run: (transaction: RequestTransaction) => Promise<FinishedAnswer>;
}

async function once(
  app: App,
  { caller }: Identified,
  request: FastifyRequest<{ Body: ReadBody | undefined }>,
  reply: FastifyReply,
  { key, run }: OnceOptions,
): Promise<FinishedAnswer> {
  const fingerprint = JSON.stringify([request.method, request.url, request.body?.text ?? ""]);
  const refusal = (error: unknown) => {
    // Once the environment is free, the same request is to be carried out.
    const answer = error instanceof Busy ? null : answerToRequestFault(error);
    return answer && finish(reply, answer);
  };
  const wish = { apiKeyId: caller.keyId, token: tokenOf(request), key, fingerprint };
  const answer = await answerOnce(app.database, wish, { run, refusal });
  return answer.isRepeated ? { ...answer, headers: { ...answer.headers, "idempotency-replayed": "true" } } : answer;
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused("idempotency_key_malformed", "An Idempotency-Key must be 1 to 255 visible ASCII characters.");
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly transaction: RequestTransaction | null;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** What is to be done when the transaction is committed. */
  readonly afterwards: (() => Promise<void>)[];
}

function contextOf(app: App, { caller }: Identified, exchange: Exchange): Context {
  const { request, reply, transaction, stopping, afterwards } = exchange;
  return {
    ...app,
    caller,
    // Few rules ask for the next two, and neither costs nothing.
    get actor() {
      return describeActor(caller, request.ip, request.headers["user-agent"]);
    },
    get signal() {
      return AbortSignal.any([stopping, goneSignal(reply)]);
    },
    origin: originOf(request),
    ...busyPolicy(app, whenBusyOf(request)),
    database: transaction ?? app.database,
    afterCommit: (work) => void afterwards.push(work),
    inTransaction: (work) => (transaction ? work(transaction) : app.database.transaction().execute(work)),
  };
}

/** The request closes when it has been read; the response when it was sent, or nobody is there to read it. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

type WhenBusy = (typeof whenBusyValues)[number];

/** `refuse` is `fail` whose transaction is rolled back. */
function busyPolicy(app: App, wish: WhenBusy): Pick<Context, "whenBusy" | "acceptOperation"> {
  if (wish !== "refuse") return { whenBusy: wish, acceptOperation: app.acceptOperation };
  const acceptOperation: App["acceptOperation"] = async (transaction, request) => {
    const accepted = await app.acceptOperation(transaction, request);
    if (accepted.blockedBy.length > 0) throw new Busy(accepted.blockedBy);
    return accepted;
  };
  return { whenBusy: "fail", acceptOperation };
}

function whenBusyOf(request: FastifyRequest): WhenBusy {
  const wish = request.headers["when-busy"] ?? "fail";
  const found = whenBusyValues.find((value) => value === wish);
  if (found !== undefined) return found;
  throw new Refused("when_busy_malformed", 'When-Busy must be "fail", "queue" or "refuse".');
}
