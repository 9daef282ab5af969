/**
 * The edge's admin API, on a Unix socket in a folder that only this installation's user can enter.
 *
 * - `PUT /table`: puts a complete table in force and returns `{ generation }`. An older table changes nothing; the
 *   response has the newer generation.
 * - `POST /settle`: responds when all writes to a frozen environment have ended.
 * - `GET /status`: what the edge is serving.
 * - `POST /usage`: usage since the edge started, of each environment that had requests, or whose usage has changed since an
 *   earlier report.
 * - `POST /analytics`: counts of requests by the minute that control has not stored yet.
 * - `POST /try`: sends one request to an environment that need not be served, and returns the outcome.
 * - `POST /logins/take`: the logins since the last such request.
 * - `POST /login`: makes a login link valid for one use.
 * - `POST /cache/purge`: clears cached pages and returns how many were in memory.
 * - `POST /task`: runs a platform task or a script in a served environment's PHP, and returns the outcome.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import * as v from "valibot";
import type { StoredMinutes } from "./analytics/minutes.ts";
import { type AnswerTimesOfStatus, answerTimeBuckets } from "./answerTimes.ts";
import type { BodyUsage } from "./bodies/bodies.ts";
import type { EdgeParts } from "./parts.ts";
import { readTaskOrder, runTask } from "./php/task.ts";
import { readTrialOrder, runTrial } from "./php/trial.ts";
import type { UpstreamStatus } from "./php/upstream.ts";
import { checkInput, count, InvalidInput, text } from "./tables/checkInput.ts";
import { readTable } from "./tables/readTable.ts";
import { createUsageReports, type EarlierReport, type UsageReports } from "./usage.ts";

const settleOrder = v.object({ environmentId: text });
const earlierReport: v.GenericSchema<unknown, EarlierReport | null> = v.nullable(
  v.object({ run: text, report: count }),
);
const storedMinutes: v.GenericSchema<unknown, StoredMinutes | null> = v.nullable(v.object({ run: text, last: count }));
const purgeOrder = v.object({
  environmentId: text,
  urls: v.optional(v.array(text), []),
  subtrees: v.optional(v.array(text), []),
  tags: v.optional(v.array(text), []),
  everything: v.optional(v.boolean(), false),
});
const loginOffer = v.object({
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "expected SHA-256 as 64 hexadecimal digits")),
  environmentId: text,
  userId: count,
  login: text,
  seconds: count,
});

interface EdgeStatus extends UpstreamStatus {
  /** Request bodies. */
  readonly bodies: BodyUsage;
  readonly generation: number;
  readonly environments: number;
  /** The public HTTP port. */
  readonly port: number;
  readonly answers: { readonly buckets: readonly number[]; readonly times: readonly AnswerTimesOfStatus[] };
}

/** Creates the server, not listening yet. `port` is called for each status request. */
export function createAdminServer(parts: EdgeParts, port: () => number): Server {
  const usage = createUsageReports(randomUUID(), parts.upstream, parts.analytics);
  return createServer((request, response) => {
    answer({ ...parts, usage }, port, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof InvalidInput || error instanceof SyntaxError) return reply(response, 400, { message });
      parts.log.error({ err: error, url: request.url }, "admin request failed");
      reply(response, 500, { message });
    });
  });
}

async function answer(
  parts: EdgeParts & { readonly usage: UsageReports },
  port: () => number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const endpoint = `${request.method} ${request.url}`;
  if (endpoint === "PUT /table") return putTable(parts, request, response);
  if (endpoint === "POST /try") return answerTrial(parts, request, response);
  if (endpoint === "POST /task") return answerTask(parts, request, response);
  if (endpoint === "POST /login") return addLogin(parts, request, response);
  if (endpoint === "POST /logins/take") return reply(response, 200, { logins: parts.loginEvents.take() });
  if (endpoint === "POST /cache/purge") return purge(parts, request, response);
  if (endpoint === "POST /settle") return settle(parts, request, response);
  if (endpoint === "POST /usage") {
    return reply(response, 200, parts.usage.next(checkInput(earlierReport, await json(request))));
  }
  if (endpoint === "POST /analytics") {
    return reply(response, 200, parts.analytics.report(checkInput(storedMinutes, await json(request))));
  }
  if (endpoint === "GET /status") return reply(response, 200, status(parts, port()));
  reply(response, 404, {
    message:
      "Endpoints: PUT /table, GET /status, POST /usage, POST /analytics, POST /cache/purge, POST /login, POST /logins/take, POST /settle, POST /task, POST /try",
  });
}

async function putTable(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const table = readTable(await json(request));
  const generation = await parts.routes.set(table);
  parts.log.info({ generation, environments: table.environments.length }, "routes updated");
  reply(response, 200, { generation });
}

async function settle(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { environmentId } = checkInput(settleOrder, await json(request));
  await parts.writes.settled(environmentId);
  reply(response, 200, { environmentId });
}

async function purge(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { coalescing, pageCache } = parts;
  const { environmentId, ...scope } = checkInput(purgeOrder, await json(request));
  coalescing.stopSharing(environmentId);
  reply(response, 200, { removed: pageCache.purge(environmentId, scope) });
}

async function answerTrial(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const order = readTrialOrder(await json(request));
  const aborted = new AbortController();
  response.once("close", () => aborted.abort());
  const trial = await runTrial(order, parts.upstream, aborted.signal);
  parts.log.info(
    { environment: order.environment.id, status: trial.status, reason: trial.reason },
    "test request finished",
  );
  reply(response, 200, trial);
}

/** Upper limit for a login link's lifetime, as a safeguard. */
const maxLoginSeconds = 3600;

async function addLogin(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { hash, seconds, ...login } = checkInput(loginOffer, await json(request));
  const isServed = parts.routes.of(login.environmentId) !== null;
  if (isServed) parts.logins.add(hash, login, Math.min(seconds, maxLoginSeconds));
  reply(response, 200, { isServed });
}

async function answerTask(parts: EdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const order = readTaskOrder(await json(request));
  const aborted = new AbortController();
  response.once("close", () => aborted.abort());
  const result = await runTask(order, parts, aborted.signal);
  const what = "task" in order.work ? order.work.task : `/${order.work.path.segments.join("/")}`;
  parts.log.info(
    { environment: order.environmentId, what, status: result.status, reason: result.reason },
    "task finished",
  );
  reply(response, 200, result);
}

function status({ routes, upstream, bodies, answerTimes }: EdgeParts, port: number): EdgeStatus {
  const table = routes.table();
  const answers = { buckets: answerTimeBuckets, times: answerTimes.read() };
  const upstreamStatus = upstream.status?.() ?? { workers: [], preparedWorkers: 0, machinery: {} };
  const served = { generation: table.generation, environments: table.environments.length, port };
  return { ...served, ...upstreamStatus, bodies: bodies.usage(), answers };
}

function reply(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}
