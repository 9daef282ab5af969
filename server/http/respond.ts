/** Handles an authenticated request: authorises, validates, calls the handler at most once per key, and serialises. */
import { addAbortSignal, Readable } from "node:stream";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { whenBusyValues } from "@sitewright/contract/operations.ts";
import { authorise, type Caller } from "@sitewright/server/app/company/access.ts";
import { describeActor } from "@sitewright/server/app/company/actor.ts";
import type { Identified } from "@sitewright/server/app/company/identities.ts";
import type { App, Context, RequestDatabase } from "@sitewright/server/app/context.ts";
import {
  afterChange,
  Busy,
  DatabaseUnavailable,
  NotFound,
  PasswordChangeRequired,
  QueueFull,
  Refused,
  SecondFactorRequired,
  TooManyMails,
} from "@sitewright/server/app/failures.ts";
import {
  type FinishedAnswer,
  type makeAnswerOnce,
  type TakePlace,
  withoutKey,
} from "@sitewright/server/app/idempotency.ts";
import { boundQueue } from "@sitewright/server/app/operationQueue.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReadBody } from "./bodies.ts";
import { entityTagOf, entityTagOfParts, unlessUnchanged } from "./entityTags.ts";
import { answerToClientError } from "./faults.ts";
import { calls, responseHandlers } from "./handlers.ts";
import { type AnyAnswer, makeAnswer } from "./handling.ts";
import { callerNow, callOf, isInPath, pathParameters, type Route, targetOf } from "./identity.ts";
import { listResponse } from "./lists.ts";
import { originOf } from "./paths.ts";
import type { CheckedInput } from "./reading/input.ts";
import type { RepeatedReads } from "./repeatedReads.ts";
import { signInCookieOf } from "./sessionCookies.ts";
import { limitTaking, takenInTime } from "./takingLimit.ts";
import { secretOf } from "./tokens.ts";

interface CachedBody {
  /** As bytes if it is long, because it would be encoded again for each response. Short ones are sent together with the head. */
  readonly body: Buffer | string;
  readonly tag: string;
}

/** In characters. */
const maxShortBody = 4_096;

/** Serialised bodies of an endpoint, by cache key. */
type CachedBodies = WeakMap<object, CachedBody>;

/**
 * A handler of any endpoint. The method form makes every handler assignable to it; the row's schemas check at run time
 * that its input fits.
 */
interface AnyHandler<Returned> {
  handle(context: Context, input: CheckedInput): Returned | Promise<Returned>;
}

const callsByName = new Map(Object.entries<AnyHandler<unknown>["handle"]>(calls));
const responseHandlersByName = new Map(Object.entries<AnyHandler<AnyAnswer>["handle"]>(responseHandlers));

function handlerOf({ name, row }: Route): AnyHandler<AnyAnswer>["handle"] {
  const responseHandler = responseHandlersByName.get(name);
  if (responseHandler) return responseHandler;
  const call = callsByName.get(name);
  if (!call) throw new Error(`No handler for ${name}`);
  const answerWith = makeAnswer(row);
  return async (context, input) => answerWith(await call(context, input), input);
}

interface ResponderOptions {
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly reads: RepeatedReads;
  readonly answerOnce: ReturnType<typeof makeAnswerOnce>;
  readonly contextOf: MakeContext;
  /** How long a client may take over a page of a list. */
  readonly pageMilliseconds: number;
}

/** Makes the Fastify handler of one endpoint. */
export function makeResponder(
  app: App,
  route: Route,
  { stopping, reads, answerOnce, contextOf, pageMilliseconds }: ResponderOptions,
) {
  const handler = handlerOf(route);
  const cachedBodies: CachedBodies = new WeakMap();
  return async (request: FastifyRequest<{ Body: ReadBody | undefined }>, reply: FastifyReply) => {
    const { identified, snapshot } = request;
    if (!identified) throw new Error("The request was not authenticated");
    const afterwards: (() => Promise<void>)[] = [];
    const handle = async (access: RequestDatabase): Promise<AnyAnswer> => {
      const input = await readAllowed(app, route, request, identified);
      const context = contextOf(route.row, identified.caller, { request, reply, access, stopping, afterwards });
      return handler(context, input);
    };
    const key = route.row.method === "GET" ? undefined : idempotencyKeyOf(request);
    const run = async (access: RequestDatabase) => finish(reply, await handle(access));
    const answer =
      key === undefined
        ? await sendable(
            { request, reply, stopping, pageMilliseconds, cachedBodies },
            await handle(withoutKey(app.database, takePlaceOf(app, identified))),
          )
        : await once(answerOnce, identified, request, reply, { key, run, takePlace: takePlaceOf(app, identified) });
    if (request.method === "GET") reads.keep(request.raw, route, { caller: identified.caller, snapshot, answer });
    // After a refusal the transaction was rolled back, so there is nothing to follow up.
    if (answer.status < 300) await followUp(afterwards);
    const { status, body } = answer;
    reply.code(status);
    if (body !== null) reply.header("content-type", "application/json; charset=utf-8");
    return reply.headers(answer.headers).send(body ?? undefined);
  };
}

/** Does the work that follows a commit. */
async function followUp(afterwards: readonly (() => Promise<void>)[]): Promise<void> {
  try {
    for (const work of afterwards) await work();
  } catch (error) {
    throw afterChange(error);
  }
}

/**
 * Authorises the request and reads its input. If the path names the resource, ownership is checked before the input, so
 * that invalid requests reveal nothing about other companies' resources.
 */
async function readAllowed(
  app: App,
  { row, reader }: Route,
  request: FastifyRequest<{ Body: ReadBody | undefined }>,
  identified: Identified,
): Promise<CheckedInput> {
  const allow = async (input: CheckedInput) => {
    const { caller } = identified;
    const target = await targetOf(app, row, input, identified);
    if (caller.kind === "key" && target !== null && target.companyId !== caller.companyId) {
      app.refusedKeys.foreign(caller, request.ip, callOf(row));
    }
    authorise(row, caller, target);
  };
  const params = reader.params(pathParameters(request));
  if (!params) throw new NotFound();
  if (isInPath(row)) await allow({ params, query: {}, body: {} });
  const query = request.query !== null && typeof request.query === "object" ? { ...request.query } : {};
  const input = reader.input({ params, query, body: request.body });
  if (!isInPath(row)) await allow(input);
  return input;
}

interface Sending extends Pick<ResponderOptions, "stopping" | "pageMilliseconds"> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly cachedBodies: CachedBodies;
}

/**
 * Sends parts one after another; joining them would need the same memory again for each request. Text that is read while it is
 * sent ends when the server stops, since a slow client could take for ever. Reads get an entity tag, unless they are such text.
 */
function sendable(
  { request, reply, stopping, pageMilliseconds, cachedBodies }: Sending,
  answer: AnyAnswer,
): FinishedAnswer<string | Buffer | Readable | null> | Promise<FinishedAnswer<string | Readable | null>> {
  const { parts, text, live, list } = answer;
  const condition = request.headers["if-none-match"];
  if (list !== undefined) return listResponse({ reply, condition, stopping, pageMilliseconds }, list);
  if (text !== undefined) {
    const body = addAbortSignal(stopping, Readable.from(text, { objectMode: false }));
    return { status: answer.status, headers: answer.headers ?? {}, body };
  }
  if (live !== undefined) {
    const taken = takenInTime(live, limitTaking(reply.raw, pageMilliseconds));
    const body = addAbortSignal(stopping, Readable.from(taken, { objectMode: false }));
    return { status: answer.status, headers: answer.headers ?? {}, body };
  }
  if (parts !== undefined) {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const headers = { ...answer.headers, "content-length": String(bytes) };
    const body = Readable.from(parts, { objectMode: false });
    return unlessUnchanged({ status: answer.status, headers, body }, entityTagOfParts(parts), condition);
  }
  if (request.method !== "GET") return finish(reply, answer);
  const cached = answer.cacheKey && cachedBody(cachedBodies, reply, answer, answer.cacheKey);
  const body = cached?.body ?? serialise(reply, answer);
  const finished = { status: answer.status, headers: answer.headers ?? {}, body };
  return answer.status === 200 ? unlessUnchanged(finished, cached?.tag ?? entityTagOf(body), condition) : finished;
}

function finish(reply: FastifyReply, answer: AnyAnswer): FinishedAnswer<string> {
  return { status: answer.status, headers: answer.headers ?? {}, body: serialise(reply, answer) };
}

/** Serialises the body by the response schema, which decides which fields are sent. */
function serialise(reply: FastifyReply, { status, body }: AnyAnswer): string {
  reply.code(status);
  return String(reply.serialize(body));
}

function cachedBody(cachedBodies: CachedBodies, reply: FastifyReply, answer: AnyAnswer, key: object): CachedBody {
  const known = cachedBodies.get(key);
  if (known !== undefined) return known;
  const text = serialise(reply, answer);
  const body = text.length > maxShortBody ? Buffer.from(text) : text;
  const made = { body, tag: entityTagOf(body) };
  cachedBodies.set(key, made);
  return made;
}

/**
 * Companies take turns, so that none of them uses all connections to the database. A request that waits for longer than others
 * wait for the database has changed nothing yet.
 */
function takePlaceOf({ transactions }: App, { caller }: Pick<Identified, "caller">): TakePlace {
  return async () => {
    const deadline = AbortSignal.timeout(placeMilliseconds);
    return transactions.take(caller.companyId, deadline).catch((error: unknown) => {
      throw new DatabaseUnavailable(error);
    });
  };
}

const placeMilliseconds = 15_000;

interface OnceOptions {
  readonly key: string;
  readonly takePlace: TakePlace;
  readonly run: (access: RequestDatabase) => Promise<FinishedAnswer>;
}

async function once(
  answerOnce: ResponderOptions["answerOnce"],
  { caller }: Identified,
  request: FastifyRequest<{ Body: ReadBody | undefined }>,
  reply: FastifyReply,
  { key, run, takePlace }: OnceOptions,
): Promise<FinishedAnswer> {
  const fingerprint = JSON.stringify([request.method, request.url, request.body?.text ?? ""]);
  const refusal = (error: unknown) => {
    const answer = isTemporary(error) ? null : answerToClientError(error);
    return answer && finish(reply, answer);
  };
  const keyedRequest = {
    apiKeyId: caller.keyId,
    takePlace,
    token: secretOf(request.raw, request.protocol === "https"),
    key,
    fingerprint,
  };
  const answer = await answerOnce(keyedRequest, { run, refusal });
  return answer.isRepeated ? { ...answer, headers: { ...answer.headers, "idempotency-replayed": "true" } } : answer;
}

/** Whether a repetition of the refused request may succeed, so that the answer must not be stored for it. */
function isTemporary(error: unknown): boolean {
  if (error instanceof Refused) return error.code === "too_many_sign_ins";
  return [Busy, QueueFull, TooManyMails, PasswordChangeRequired, SecondFactorRequired].some(
    (kind) => error instanceof kind,
  );
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused("idempotency_key_malformed", "The Idempotency-Key must be 1 to 255 visible ASCII characters.");
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly access: RequestDatabase;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** Work to do after the transaction has been committed. */
  readonly afterwards: (() => Promise<void>)[];
}

/** Makes the context of a request. */
type MakeContext = (row: Endpoint, caller: Caller, exchange: Exchange) => Context;

/** What the lazy parts of a context are computed from. */
interface ContextOrigin {
  readonly caller: Caller;
  readonly exchange: Exchange;
}

/**
 * Computed when they are used: few rules need them, and some are expensive. They belong to a prototype, because V8 would give each
 * object with its own getters its own shape.
 */
const lazyParts = {
  actor: {
    get() {
      const { request } = this.exchange;
      return describeActor(this.caller, request.ip, request.headers["user-agent"]);
    },
  },
  signal: {
    get() {
      return signalOf(this.exchange);
    },
  },
  origin: {
    get() {
      return originOf(this.exchange.request);
    },
  },
  database: {
    get() {
      return this.exchange.access.database;
    },
  },
  signInCookie: {
    get() {
      return signInCookieOf(this.exchange.request);
    },
  },
  lastEventId: {
    get() {
      const header = this.exchange.request.headers["last-event-id"];
      return typeof header === "string" ? header : null;
    },
  },
} satisfies PropertyDescriptorMap & ThisType<ContextOrigin>;

type OwnParts = Omit<Context, Exclude<keyof App, "acceptOperation"> | keyof typeof lazyParts> & ContextOrigin;

/** Copying the many parts of the app would take longer than the rest of a short request, so contexts inherit them. */
export function makeContexts(app: App): MakeContext {
  const prototype: object = Object.create(app, lazyParts);
  return (row, caller, exchange) => {
    const { request, reply, access, afterwards } = exchange;
    const own: OwnParts = {
      caller,
      exchange,
      // It closes once; `once` would take more memory.
      onGone: (listener) => void reply.raw.on("close", listener),
      callerNow: () => callerNow(app, row, request),
      readInTurn: (work) => app.readings.run(caller.companyId, work, signalOf(exchange)),
      ...busyPolicy(app, row.operation === undefined ? "fail" : whenBusyOf(request)),
      afterCommit: (work) => void afterwards.push(work),
      inTransaction: access.inTransaction,
      inOwnTransaction: (work) => withoutKey(app.database, takePlaceOf(app, { caller })).inTransaction(work),
    };
    return Object.assign(Object.create(prototype), own);
  };
}

/** Aborted when the client disconnects, or the server stops. */
function signalOf({ reply, stopping }: Exchange): AbortSignal {
  return AbortSignal.any([stopping, clientGoneSignal(reply)]);
}

/** Aborted when the client disconnects. Listens on the response, because the request closes once it has been read. */
function clientGoneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

type WhenBusy = (typeof whenBusyValues)[number];

/** Implements `refuse` as `fail` with a rolled-back transaction. */
function busyPolicy(app: App, whenBusy: WhenBusy): Pick<Context, "whenBusy" | "acceptOperation"> {
  if (whenBusy === "fail") return { whenBusy, acceptOperation: app.acceptOperation };
  if (whenBusy === "queue") return { whenBusy, acceptOperation: boundQueue(app.acceptOperation) };
  const acceptOperation: App["acceptOperation"] = async (transaction, request) => {
    const accepted = await app.acceptOperation(transaction, request);
    if (accepted.blockedBy.length > 0) throw new Busy(accepted.blockedBy);
    return accepted;
  };
  return { whenBusy: "fail", acceptOperation };
}

function whenBusyOf(request: FastifyRequest): WhenBusy {
  const header = request.headers["when-busy"] ?? "fail";
  const found = whenBusyValues.find((value) => value === header);
  if (found !== undefined) return found;
  throw new Refused("when_busy_malformed", 'When-Busy must be "fail", "queue" or "refuse".');
}
