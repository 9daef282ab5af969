/** Client of the edge's admin server, on a Unix socket in a folder with mode 0700. */
import { request } from "node:http";
import type { AnalyticsReport, StoredMinutes } from "@sitewright/edge/analytics/minutes.ts";
import type { EdgeEnvironment, EdgeTable } from "@sitewright/edge/tables/table.ts";
import type { EarlierReport, EdgeUsage } from "@sitewright/edge/usage.ts";
import * as v from "valibot";

const edgeStatus = v.object({
  /** Generation of the table that it serves. */
  generation: v.number(),
  /** Port for visitors. */
  port: v.number(),
  /** PHP workers that have a site, and the number of workers that are ready to get one. */
  workers: v.array(v.object({ busy: v.boolean() })),
  preparedWorkers: v.number(),
  /** Bytes of request bodies, and how many were refused because there was no room. */
  bodies: v.object({ memoryBytes: v.number(), diskBytes: v.number(), refused: v.number() }),
  /** A histogram of response times: upper limits in seconds, and counts by status class. */
  answers: v.object({
    buckets: v.array(v.number()),
    times: v.array(v.object({ status: v.string(), counts: v.array(v.number()), sumSeconds: v.number() })),
  }),
});

const analyticsReport = v.object({
  run: v.string(),
  last: v.number(),
  minutes: v.array(
    v.object({
      run: v.string(),
      begins: v.number(),
      environments: v.record(v.string(), v.record(v.string(), v.number())),
    }),
  ),
});

const takenLogins = v.object({
  logins: v.array(
    v.object({
      environmentId: v.string(),
      address: v.nullable(v.string()),
      outcome: v.picklist(["failed", "succeeded"]),
      byLink: v.boolean(),
      user: v.nullable(v.string()),
      count: v.number(),
    }),
  ),
});

export type TakenLogin = v.InferOutput<typeof takenLogins>["logins"][number];

export type EdgeStatus = v.InferOutput<typeof edgeStatus>;

export interface TrialOrder {
  readonly environment: EdgeEnvironment;
  /** With port. */
  readonly host: string;
  /** Path and query. */
  readonly url: string;
  /** Whether PHP is prevented from writing. If it tries, the reason is `wouldWrite`. */
  readonly isReadOnly: boolean;
  /** Whether the request counts as HTTPS. Absent: false. */
  readonly isHttps?: boolean;
  /** Whether to return the content of the answer. Absent: false. */
  readonly wantsContent?: boolean;
}

/** An environment's answer to a trial request. */
export interface Trial {
  /** 0 if there was no answer. */
  readonly status: number;
  /** Whether the answer ended as a page does: with `</html>`. */
  readonly isComplete: boolean;
  /** The beginning of PHP's error log during the request. */
  readonly errors: string;
  /** Why there was no answer: `busy`, `deadline`, `crashed`, `unavailable`, `wouldWrite` or `diskFull`. Null if there was one. */
  readonly reason: string | null;
  /** Target of a redirect, or null. */
  readonly location: string | null;
  /** Type and content of the answer, if requested. The content is empty if it exceeds ten megabytes. */
  readonly content?: { readonly type: string; readonly base64: string };
}

export interface TaskOrder {
  readonly environmentId: string;
  /** A host of the environment, with port. WordPress takes it as its address. */
  readonly host: string;
  /** A platform task with its input, which is sent as JSON; or the path and query of a script of the site. */
  readonly work: { readonly task: string; readonly input: object } | { readonly url: string };
  /** Time limit of PHP, without the wait for a worker. */
  readonly deadlineSeconds: number;
  /** Background work does not use workers reserved for visitors, and leaves no worker running. Absent: false. */
  readonly isBackground?: boolean;
}

/** URLs or paths, with their query. */
export interface PurgeOrder {
  readonly environmentId: string;
  readonly urls: readonly string[];
  /** Purges everything below these. */
  readonly subtrees: readonly string[];
}

export interface LoginOffer {
  /** Hexadecimal SHA-256 of the token in the link. */
  readonly hash: string;
  readonly environmentId: string;
  readonly userId: number;
  readonly login: string;
  readonly seconds: number;
}

/** The result of a task. */
export interface TaskResult {
  /** Status of PHP's answer, or 0 if there was none. */
  readonly status: number;
  /**
   * A task's answer as JSON, or the first 64 KiB of a script's output. Null if there is none: a plugin may have ended PHP
   * early.
   */
  readonly body: string | null;
  /** The beginning of PHP's error log during the task. */
  readonly errors: string;
  /**
   * Why there was no answer: `busy`, `deadline`, `crashed` or `unavailable`; `frozen` if the environment is being replaced
   * and nothing was started; `unfinished` if it was frozen during the task, which may be incomplete. Null if there was one.
   */
  readonly reason: string | null;
}

export interface EdgeClient {
  /** Sends a table. Returns the generation that the edge then serves: this one or a newer one. */
  putTable(table: EdgeTable, signal?: AbortSignal): Promise<number>;
  status(signal?: AbortSignal): Promise<EdgeStatus>;
  /**
   * Usage since the edge started, of the environments whose usage has changed since an earlier report; null: of all that had
   * requests.
   */
  usage(since: EarlierReport | null, signal?: AbortSignal): Promise<EdgeUsage>;
  /**
   * The oldest minutes that the edge has counted, after those that are stored; null: all that it still has. The same minute may come
   * more than once.
   */
  analytics(stored: StoredMinutes | null, signal?: AbortSignal): Promise<AnalyticsReport>;
  /** Takes the logins since the last call. They are lost if this is rejected. */
  takeLogins(signal?: AbortSignal): Promise<readonly TakenLogin[]>;
  /** Waits for running writes to the environment to end. The table that freezes it must be in force. */
  settle(environmentId: string, signal?: AbortSignal): Promise<void>;
  /**
   * Sends a request to the given version of an environment, without affecting visitors. If this version is put in force within
   * a minute, its workers are already running.
   */
  runTrial(order: TrialOrder, signal?: AbortSignal): Promise<Trial>;
  /** Runs a platform task in the PHP of an environment that is served. */
  runTask(order: TaskOrder, signal?: AbortSignal): Promise<TaskResult>;
  /** Purges cached pages. Resolves when they are no longer served, with the number of pages that were in memory. */
  purge(order: PurgeOrder, signal?: AbortSignal): Promise<number>;
  /** Makes a login token valid for one use. Returns false if the environment is not served. */
  offerLogin(offer: LoginOffer, signal?: AbortSignal): Promise<boolean>;
}

/** The edge could not be reached or rejected the request: it may be starting. */
export class EdgeUnavailable extends Error {
  override readonly name = "EdgeUnavailable";
}

const readTimeoutMilliseconds = 5_000;
/**
 * Changes wait for a busy edge, which may also let running writes to a frozen site continue for 20 seconds. An edge that is not
 * running refuses the connection at once.
 */
const changeTimeoutMilliseconds = 30_000;
/** PHP has to start before it renders the page. */
const trialTimeoutMilliseconds = 65_000;
/** Wait for a worker, in addition to the task's deadline. */
const taskTimeoutMilliseconds = 65_000;

/**
 * Every method rejects with `EdgeUnavailable` if there is no valid answer within five seconds. Methods that change
 * something wait for 30 seconds, `runTrial` 65, `runTask` 65 plus the task's deadline.
 */
export function makeEdgeClient(socketPath: string): EdgeClient {
  async function ask(
    method: string,
    path: string,
    body: string | null,
    signal: AbortSignal | undefined,
    timeout = method === "GET" ? readTimeoutMilliseconds : changeTimeoutMilliseconds,
  ): Promise<unknown> {
    const timedOut = AbortSignal.timeout(timeout);
    const either = signal ? AbortSignal.any([signal, timedOut]) : timedOut;
    try {
      return JSON.parse(await exchange({ socketPath, method, path, signal: either }, body));
    } catch (cause) {
      throw new EdgeUnavailable(`The edge did not answer ${method} ${path}`, { cause });
    }
  }

  return {
    putTable: async (table, signal) =>
      numberAt(await ask("PUT", "/table", JSON.stringify(table), signal), "generation"),
    status: async (signal) => {
      const answer = await ask("GET", "/status", null, signal);
      if (!v.is(edgeStatus, answer)) throw new EdgeUnavailable("The edge sent an invalid status");
      return answer;
    },
    usage: async (since, signal) => {
      const answer = await ask("POST", "/usage", JSON.stringify(since), signal, readTimeoutMilliseconds);
      if (!isUsage(answer)) throw new EdgeUnavailable("The edge sent an invalid answer to a usage request");
      return answer;
    },
    analytics: async (stored, signal) => {
      const answer = await ask("POST", "/analytics", JSON.stringify(stored), signal, readTimeoutMilliseconds);
      if (!v.is(analyticsReport, answer)) throw new EdgeUnavailable("The edge sent invalid counts of requests");
      return answer;
    },
    takeLogins: async (signal) => {
      const answer = await ask("POST", "/logins/take", "{}", signal);
      if (!v.is(takenLogins, answer)) throw new EdgeUnavailable("The edge sent an invalid list of logins");
      return answer.logins;
    },
    settle: async (environmentId, signal) => {
      await ask("POST", "/settle", JSON.stringify({ environmentId }), signal);
    },
    runTrial: async (order, signal) => {
      const answer = await ask("POST", "/try", JSON.stringify(order), signal, trialTimeoutMilliseconds);
      if (!isTrial(answer)) throw new EdgeUnavailable("The edge sent an invalid answer to a trial");
      return answer;
    },
    runTask: async ({ work, ...order }, signal) => {
      const timeout = taskTimeoutMilliseconds + order.deadlineSeconds * 1000;
      const answer = await ask("POST", "/task", JSON.stringify({ ...order, ...work }), signal, timeout);
      if (!isTaskResult(answer)) throw new EdgeUnavailable("The edge sent an invalid answer to a task");
      return answer;
    },
    purge: async (order, signal) =>
      numberAt(await ask("POST", "/cache/purge", JSON.stringify(order), signal), "removed"),
    offerLogin: async (offer, signal) => {
      const answer = await ask("POST", "/login", JSON.stringify(offer), signal);
      return typeof answer === "object" && answer !== null && "isServed" in answer && answer.isServed === true;
    },
  };
}

interface Exchange {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

function exchange(options: Exchange, body: string | null): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers =
      body === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request({ ...options, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`Status ${response.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    sent.on("error", reject);
    sent.end(body ?? undefined);
  });
}

function isUsage(answer: unknown): answer is EdgeUsage {
  return (
    typeof answer === "object" &&
    answer !== null &&
    "run" in answer &&
    typeof answer.run === "string" &&
    "report" in answer &&
    typeof answer.report === "number" &&
    "environments" in answer &&
    Array.isArray(answer.environments)
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

function isContent(content: unknown): content is Trial["content"] {
  return (
    typeof content === "object" &&
    content !== null &&
    "type" in content &&
    typeof content.type === "string" &&
    "base64" in content &&
    typeof content.base64 === "string"
  );
}

function isTrial(answer: unknown): answer is Trial {
  return (
    typeof answer === "object" &&
    answer !== null &&
    "status" in answer &&
    typeof answer.status === "number" &&
    "isComplete" in answer &&
    typeof answer.isComplete === "boolean" &&
    "errors" in answer &&
    typeof answer.errors === "string" &&
    "reason" in answer &&
    isTextOrNull(answer.reason) &&
    "location" in answer &&
    isTextOrNull(answer.location) &&
    (!("content" in answer) || isContent(answer.content))
  );
}

function isTaskResult(answer: unknown): answer is TaskResult {
  return (
    typeof answer === "object" &&
    answer !== null &&
    "status" in answer &&
    typeof answer.status === "number" &&
    "body" in answer &&
    isTextOrNull(answer.body) &&
    "errors" in answer &&
    typeof answer.errors === "string" &&
    "reason" in answer &&
    isTextOrNull(answer.reason)
  );
}

function numberAt(answer: unknown, key: string): number {
  const value: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, key) : undefined;
  if (typeof value !== "number") throw new EdgeUnavailable(`The edge's answer has no ${key}`);
  return value;
}
