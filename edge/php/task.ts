/**
 * Runs something in an environment's PHP for the platform: a platform task, which is one of Sitewright's own scripts,
 * or a script of the site that visitors could request too (`/wp-cron.php`). Both count as writes. A task prints its
 * result between two random marks, because plugins may print something as well.
 */
import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import * as v from "valibot";
import { resolve } from "../files/resolve.ts";
import type { VisitorPath } from "../http/path.ts";
import { withoutSecrets } from "../logs/masks.ts";
import { checkInput, hostName, text, visitorPath } from "../tables/checkInput.ts";
import type { Route, Routes } from "../tables/routes.ts";
import type { PhpParts } from "./answerWithPhp.ts";
import { logPhpFailure } from "./failureLog.ts";
import type { Script } from "./script.ts";
import {
  type NoAnswerReason,
  reasonOf,
  type UpstreamRequest,
  type UpstreamResponse,
  type UpstreamTask,
} from "./upstream.ts";

interface TaskOrder {
  readonly environmentId: string;
  /** The environment's host name and port, so that WordPress sees its own address. */
  readonly host: string;
  /** A task with its input, or the path of a script. */
  readonly work: { readonly task: string; readonly input: unknown } | { readonly path: VisitorPath };
  /** Time limit for PHP, counted from its start. */
  readonly deadlineSeconds: number;
  /** As `UpstreamRequest.isBackground`. */
  readonly isBackground: boolean;
}

interface TaskResult {
  /** 0 if there was no response. */
  readonly status: number;
  /** A task's result as JSON, or the beginning of a script's output; or null. */
  readonly body: string | null;
  /** The beginning of PHP's log output. */
  readonly errors: string;
  /**
   * Why there is no result, or null. `frozen`: nothing was started. `unfinished`: the environment was frozen and PHP
   * did not finish in time, so the outcome is unknown.
   */
  readonly reason: NoAnswerReason | "frozen" | "unfinished" | null;
}

const noResult: TaskResult = { status: 0, body: null, errors: "", reason: null };
const maxDeadlineSeconds = 3600;
const maxTaskBytes = 10_000_000;
const maxScriptBytes = 65_536;

const common = {
  environmentId: text,
  host: hostName,
  deadlineSeconds: v.pipe(v.number(), v.gtValue(0), v.maxValue(maxDeadlineSeconds)),
  isBackground: v.optional(v.boolean(), false),
};
const taskOrder = v.pipe(
  v.object({
    ...common,
    task: v.pipe(v.string(), v.regex(/^[a-z]+$/i, "expected letters")),
    input: v.optional(v.unknown(), {}),
  }),
  v.transform(({ task, input, ...order }) => ({ ...order, work: { task, input } })),
);
const scriptOrder = v.pipe(
  v.object({ ...common, url: visitorPath }),
  v.transform(({ url, ...order }) => ({ ...order, work: { path: url } })),
);
const isScriptOrder = v.object({ url: v.unknown() });

/** Throws `InvalidInput` if a field is missing or invalid. */
export function readTaskOrder(value: unknown): TaskOrder {
  return checkInput<TaskOrder>(v.is(isScriptOrder, value) ? scriptOrder : taskOrder, value);
}

interface TaskParts extends PhpParts {
  readonly routes: Routes;
}

/** Failures of PHP are part of the result. */
export async function runTask(order: TaskOrder, parts: TaskParts, signal: AbortSignal): Promise<TaskResult> {
  const route = parts.routes.of(order.environmentId);
  if (route === null) return { ...noResult, reason: "unavailable" };
  if ("path" in order.work) {
    const decision = await resolve(order.work.path, { ...route.environment, host: order.host }, route.lookUp);
    if (decision.kind !== "php") return { ...noResult, status: 404 };
    const request = requestFor(order, { ...decision, url: order.work.path.url }, signal);
    return runAsWrite(route, request, parts, (body) => readBeginning(body, maxScriptBytes));
  }
  const mark = randomBytes(24).toString("hex");
  const task = { name: order.work.task, input: JSON.stringify({ mark, input: order.work.input }) };
  const request = requestFor(order, { script: "/index.php", pathInfo: "", url: "/", task }, signal);
  return runAsWrite(route, request, parts, async (body) => betweenMarks(mark, await readBeginning(body, maxTaskBytes)));
}

interface ScriptRequest extends Script {
  readonly url: string;
  readonly task?: UpstreamTask;
}

function requestFor(
  { host, deadlineSeconds, isBackground }: TaskOrder,
  { url, script, pathInfo, task }: ScriptRequest,
  signal: AbortSignal,
): UpstreamRequest {
  return {
    method: "GET",
    url,
    script,
    pathInfo,
    headers: { host, accept: "*/*", "user-agent": "Sitewright" },
    body: null,
    remoteAddress: "127.0.0.1",
    https: false,
    fromPhp: false,
    signal,
    isReadOnly: false,
    deadlineSeconds,
    isBackground,
    ...(task && { task }),
  };
}

type ReadBody = (body: Readable) => Promise<string | null>;

async function runAsWrite(
  { environment: { id } }: Route,
  request: UpstreamRequest,
  parts: PhpParts,
  read: ReadBody,
): Promise<TaskResult> {
  const aborted = Promise.withResolvers<TaskResult>();
  const endWrite = parts.writes.begin(id, () => aborted.resolve({ ...noResult, reason: "unfinished" }));
  if (endWrite === null) return { ...noResult, reason: "frozen" };
  parts.coalescing.stopSharing(id);
  const endMark = parts.pageCache.beginWrite(id);
  const end = () => {
    endMark();
    endWrite();
  };
  return Promise.race([sendToPhp(id, request, parts, read, end), aborted.promise]);
}

async function sendToPhp(
  id: string,
  request: UpstreamRequest,
  parts: PhpParts,
  read: ReadBody,
  endWrite: () => void,
): Promise<TaskResult> {
  let answer: UpstreamResponse;
  try {
    answer = await parts.upstream.handle(id, request);
  } catch (error) {
    endWrite();
    logPhpFailure(id, describe(request), error, parts);
    return { ...noResult, reason: reasonOf(error) };
  }
  void answer.finished.then(endWrite);
  try {
    const body = await read(answer.body);
    return { status: answer.status, body, errors: await answer.errors, reason: null };
  } catch (error) {
    logPhpFailure(id, describe(request), error, parts);
    return { ...noResult, errors: await answer.errors, reason: reasonOf(error) };
  }
}

/** Describes the request in the environment's log. */
function describe({ task, method, url }: UpstreamRequest): string {
  return task === undefined ? `${method} ${withoutSecrets(url)}` : `the platform's task ${task.name}`;
}

/** The first bytes as text. Reads the rest too, because PHP would wait for a reader. Rejects if the body is cut off. */
async function readBeginning(body: Readable, bytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let remaining = bytes;
  for await (const chunk of body) {
    if (remaining === 0) continue;
    const piece = Buffer.from(chunk).subarray(0, remaining);
    pieces.push(piece);
    remaining -= piece.length;
  }
  return new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
}

function betweenMarks(mark: string, printed: string): string | null {
  const [, answer, after] = printed.split(mark);
  return answer === undefined || after === undefined ? null : answer;
}
