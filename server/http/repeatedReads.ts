/**
 * Answers reads that are repeated while nothing has changed, and requests beyond the rate limit, before Fastify sees them.
 *
 * Clients poll, so most reads get the same bytes as the last time. The last response of each read is kept, together with the
 * database snapshot from before it was made. If a new snapshot is equal, nothing was committed in between by any process, so the
 * response would be the same, and is sent again. All requests of a moment share one such question to the database, and no change
 * that was acknowledged before a request began is ever missed.
 *
 * Everything else of a request is checked as always: key, rate limit, allowed addresses, open requests. A response is kept
 * only as long as its key, which is read from the database again every second. All other requests go on to Fastify.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import type { Caller } from "@sitewright/server/app/company/access.ts";
import { isAddressAllowed } from "@sitewright/server/app/company/allowedAddresses.ts";
import type { App } from "@sitewright/server/app/context.ts";
import type { FinishedAnswer } from "@sitewright/server/app/idempotency.ts";
import { LRUCache } from "lru-cache";
import type { TakeRequest } from "./connections.ts";
import { type Dependency, dependencyOf } from "./dependencies.ts";
import { clientAddress, type IsTrustedProxy } from "./edgeSocket.ts";
import { isCurrent, notModified } from "./entityTags.ts";
import { errorAnswer } from "./faults.ts";
import type { FindEndpoint } from "./findEndpoint.ts";
import type { CountRequest, Usage } from "./rateLimits.ts";
import { isSecure } from "./sessionCookies.ts";
import { tokenFacts } from "./tokens.ts";

/** A request that was counted before it went on to Fastify. */
interface Admission {
  readonly usage: Usage;
  /** Why the database could not be asked; otherwise undefined. */
  readonly failure?: unknown;
}

interface Kept {
  /** The key with which the response was made. */
  readonly caller: Caller;
  readonly row: Endpoint;
  readonly response: Response;
}

interface Response {
  readonly dependsOn: Dependency;
  /** From before it was made. Null: unknown. */
  readonly snapshot: string | null;
  readonly tag: string;
  /** Names and values, one after another. */
  readonly headers: readonly string[];
  readonly headersOf304: readonly string[];
  /** Null: only the tag is known. */
  readonly body: string | Buffer | null;
}

export interface RepeatedReads {
  /** Answers the request, or passes it on to `next`. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, next: RequestListener) => void;
  /** The admission of a request that was passed on, or undefined. */
  readonly admissionOf: (request: IncomingMessage) => Admission | undefined;
  /** Keeps the response to a read. `snapshot`: the latest before anything was read for it. */
  readonly keep: (request: IncomingMessage, endpoint: NamedEndpoint, made: MadeResponse) => void;
}

interface NamedEndpoint {
  readonly name: string;
  readonly row: Endpoint;
}

interface MadeResponse {
  readonly caller: Caller;
  readonly snapshot: string | null;
  readonly answer: FinishedAnswer<unknown>;
}

interface RepeatedReadsOptions {
  readonly app: Pick<App, "identities" | "keyUse" | "snapshots">;
  readonly count: CountRequest;
  readonly findEndpoint: FindEndpoint;
  readonly take: TakeRequest;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly isTrustedProxy: IsTrustedProxy;
}

/** Bytes. */
const maxKept = 32_000_000;
const maxBody = 100_000;
/** About what an entry takes without its body. */
const entrySize = 1_000;

export function makeRepeatedReads({
  app,
  count,
  findEndpoint,
  take,
  stopping,
  isTrustedProxy,
}: RepeatedReadsOptions): RepeatedReads {
  const kept = new LRUCache<string, Kept>({ maxSize: maxKept });
  const admissions = new WeakMap<IncomingMessage, Admission>();

  const nameOf = ({ keyId }: Caller, request: IncomingMessage) => `${keyId} ${request.url}`;

  /** Whether the last response can be sent once more, now or after a look at the database. */
  function isUsable({ response }: Kept, { headers }: IncomingMessage): boolean {
    return response.body !== null || isCurrent(headers["if-none-match"], response.tag);
  }

  /** The last response, if the key has not changed since. */
  function find(request: IncomingMessage, caller: Caller): Kept | null {
    const found = isPlainRead(request) ? kept.get(nameOf(caller, request)) : undefined;
    return found?.caller === caller && isUsable(found, request) ? found : null;
  }

  /** Whether the request has been dealt with; if not, it goes on to Fastify. */
  function answer(request: IncomingMessage, response: ServerResponse, next: RequestListener): boolean {
    const caller =
      isPlain(request) && !stopping.aborted
        ? app.identities.known(tokenFacts(request, isSecure(request, isTrustedProxy)))
        : null;
    const address = caller && clientAddress(request, isTrustedProxy);
    if (caller === null || address === null) return false;
    const found = find(request, caller);
    const row = found?.row ?? findEndpoint(request);
    if (row === null || row.resource.kind === "anyone" || !isAddressAllowed(caller.allowedAddresses, address))
      return false;
    const release = take(address);
    if (release === null) return false;
    const usage = count(row, caller);
    const finish = (isUnchanged: boolean, failure?: unknown) => {
      if (usage.isExceeded) {
        sendRefusal(response, usage);
        return releaseWhenSent(response, release);
      }
      if (found === null || !isUnchanged || stopping.aborted) {
        release();
        admissions.set(request, { usage, failure });
        return next(request, response);
      }
      app.keyUse.note(caller.keyId);
      send(request, response, usage, found.response);
      releaseWhenSent(response, release);
    };
    if (usage.isExceeded || found === null) finish(false);
    else if (found.response.dependsOn === "key") finish(true);
    else {
      app.snapshots.read((snapshot, failure) => {
        // If the client has gone, nobody gets the answer.
        if (response.destroyed) release();
        else finish(snapshot !== null && snapshot === found.response.snapshot, failure);
      });
    }
    return true;
  }

  return {
    answer: (request, response, next) => {
      if (!answer(request, response, next)) next(request, response);
    },
    admissionOf: (request) => admissions.get(request),
    keep(request, { name, row }, { caller, snapshot, answer: { status, headers, body } }) {
      const dependsOn = dependencyOf(name);
      const { etag } = headers;
      if (dependsOn === null || etag === undefined || (status !== 200 && status !== 304)) return;
      if (!isPlainRead(request)) return;
      const isShort = (typeof body === "string" || Buffer.isBuffer(body)) && body.length <= maxBody;
      const response = {
        dependsOn,
        snapshot,
        tag: etag,
        headers: isShort ? flat({ ...contentHeaders(body), ...headers }) : [],
        headersOf304: flat(notModified(etag).headers),
        body: isShort ? body : null,
      };
      // A character may take two bytes.
      const size = entrySize + 2 * ((request.url?.length ?? 0) + (response.body?.length ?? 0));
      kept.set(nameOf(caller, request), { caller, row, response }, { size });
    },
  };
}

/** Bytes. Node reads a body that nobody wants to its end, which is not worth it for longer ones. */
const maxUnreadBody = 16_384;

/** Whether it can be answered without reading its body. */
function isPlain({ httpVersion, headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  const isShort = length === undefined || Number(length) <= maxUnreadBody;
  return httpVersion === "1.1" && headers.host !== undefined && headers["transfer-encoding"] === undefined && isShort;
}

/** Whether it is a GET without anything unusual. */
function isPlainRead(request: IncomingMessage): boolean {
  return request.method === "GET" && request.headers["content-length"] === undefined && isPlain(request);
}

const json = "application/json; charset=utf-8";

function contentHeaders(body: string | Buffer) {
  return { "content-type": json, "content-length": String(Buffer.byteLength(body)) };
}

const flat = (headers: Readonly<Record<string, string>>): readonly string[] => Object.entries(headers).flat();

/** Headers with their values for this request. */
function ownHeaders({ headers }: Usage): string[] {
  return [
    "x-request-id",
    randomUUID(),
    "x-ratelimit-limit",
    headers["x-ratelimit-limit"],
    "x-ratelimit-remaining",
    headers["x-ratelimit-remaining"],
    "x-ratelimit-reset",
    headers["x-ratelimit-reset"],
  ];
}

function send(request: IncomingMessage, response: ServerResponse, usage: Usage, made: Response): void {
  if (isCurrent(request.headers["if-none-match"], made.tag)) {
    response.writeHead(304, [...ownHeaders(usage), ...made.headersOf304]).end();
  } else {
    response.writeHead(200, [...ownHeaders(usage), ...made.headers]).end(made.body);
  }
}

/** A response that the system has not taken yet, because the client does not read, still counts as an open request. */
function releaseWhenSent(response: ServerResponse, release: () => void): void {
  if (response.closed || response.socket?.writableLength === 0) release();
  else response.once("close", release);
}

const refusal = JSON.stringify(errorAnswer(429).body);
const refusalHeaders = flat(contentHeaders(refusal));

function sendRefusal(response: ServerResponse, usage: Usage): void {
  const retry = ["retry-after", usage.headers["retry-after"] ?? "1"];
  response.writeHead(429, [...ownHeaders(usage), ...retry, ...refusalHeaders]).end(refusal);
}
