/** The edge process's admin server, on a Unix socket in a folder that only we may enter. */
import { request } from "node:http";
import type { EdgeEnvironment, EdgeTable } from "@sitewright/edge/tables/table.ts";
import type { EdgeUsage } from "@sitewright/edge/usage.ts";
import * as v from "valibot";

const edgeStatus = v.object({
  /** Generation of the table that it serves. */
  generation: v.number(),
  /** Where visitors reach it. */
  port: v.number(),
  /** PHP processes that have a site, and the number of those that wait for one. */
  workers: v.array(v.object({ busy: v.boolean() })),
  spares: v.number(),
  /** A histogram of the time that answers took: upper limits in seconds, and counts by class of status. */
  answers: v.object({
    buckets: v.array(v.number()),
    times: v.array(v.object({ status: v.string(), counts: v.array(v.number()), sumSeconds: v.number() })),
  }),
});

export type EdgeStatus = v.InferOutput<typeof edgeStatus>;

export interface TrialOrder {
  readonly environment: EdgeEnvironment;
  /** With port. */
  readonly host: string;
  /** Path and query. */
  readonly url: string;
  /** Whether PHP may change nothing. Where it tries, the reason is `wouldWrite`. */
  readonly isReadOnly: boolean;
  /** Whether it is asked as by https. Absent: false. */
  readonly isHttps?: boolean;
  /** Whether the content of the answer is wanted. Absent: false. */
  readonly wantsContent?: boolean;
}

/** How an environment answered that was tried out. */
export interface Trial {
  /** 0 where there was no answer. */
  readonly status: number;
  /** Whether the answer ended as a page does: with `</html>`. */
  readonly isWhole: boolean;
  /** The beginning of what PHP wrote to its log meanwhile. */
  readonly errors: string;
  /** Why there was no answer: `busy`, `deadline`, `crashed`, `unavailable` or `wouldWrite`. Null if there was one. */
  readonly reason: string | null;
  /** Where it sends the visitor on to, if it does. */
  readonly location: string | null;
  /** Only where it was wanted: its type, and what it is; empty if it is longer than ten megabytes. */
  readonly content?: { readonly type: string; readonly base64: string };
}

export interface TaskOrder {
  readonly environmentId: string;
  /** The environment's own, with port: WordPress is then at its address. */
  readonly host: string;
  /** A task of the platform and its input, which becomes JSON. Or path and query that a visitor could ask for, to a script. */
  readonly work: { readonly task: string; readonly input: object } | { readonly url: string };
  /** How long PHP may take, once it has begun. It may have to wait for a worker before. */
  readonly deadlineSeconds: number;
  /** Background work: it takes no process that is kept for visitors, and leaves none. Absent: false. */
  readonly isBackground?: boolean;
}

/** Addresses or paths, with their query. */
export interface PurgeOrder {
  readonly environmentId: string;
  readonly urls: readonly string[];
  /** Everything below these. */
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

/** What came of a task. */
export interface TaskResult {
  /** Of PHP's answer; 0 where there was none. */
  readonly status: number;
  /**
   * A task's answer, as JSON; of a script, the first 64 KiB that it printed. Null if there is none: a plugin may have
   * ended the task before its end.
   */
  readonly body: string | null;
  /** The beginning of what PHP wrote to its log meanwhile. */
  readonly errors: string;
  /**
   * Why there was no answer: `busy`, `deadline`, `crashed` or `unavailable`; `frozen` where the environment is being
   * replaced, and nothing was begun; `unfinished` where it was frozen meanwhile, and nobody knows what was done. Null
   * where there was one.
   */
  readonly reason: string | null;
}

export interface EdgeClient {
  /** Hands over a table and returns the generation that the edge serves then: this one, or a newer. */
  putTable(table: EdgeTable, signal?: AbortSignal): Promise<number>;
  status(signal?: AbortSignal): Promise<EdgeStatus>;
  /** What each environment took since the edge began. */
  usage(signal?: AbortSignal): Promise<EdgeUsage>;
  /** Resolves when no write to the environment is under way any more; the table that freezes it must be in force. */
  settle(environmentId: string, signal?: AbortSignal): Promise<void>;
  /**
   * Asks as if the environment were served as it is given here; visitors notice nothing. Served like this within a
   * minute, it answers from processes that have started already.
   */
  tryOut(order: TrialOrder, signal?: AbortSignal): Promise<Trial>;
  /** Has the PHP of an environment that is served do something for the platform. */
  runTask(order: TaskOrder, signal?: AbortSignal): Promise<TaskResult>;
  /** Lets go of cached pages. Resolves with how many of them were in memory when none of them is shown any more. */
  purge(order: PurgeOrder, signal?: AbortSignal): Promise<number>;
  /** From now on the token logs its holder in, once. False if the environment is not served. */
  offerLogin(offer: LoginOffer, signal?: AbortSignal): Promise<boolean>;
}

/** The edge could not be asked, or did not understand: it may be starting. */
export class EdgeUnavailable extends Error {
  override readonly name = "EdgeUnavailable";
}

const patienceMilliseconds = 5_000;
/** PHP may take its time for a page, and has to start first. */
const trialPatienceMilliseconds = 65_000;
/** Longer than the edge lets a write go on to a site that is frozen. */
const settlePatienceMilliseconds = 30_000;
/** A task may have to wait for a worker as long as a visitor, before its own time begins. */
const taskPatienceMilliseconds = 65_000;

/**
 * Every method rejects with `EdgeUnavailable` if there is no proper answer within five seconds; `settle` waits for
 * 30 seconds, `tryOut` for 65, `runTask` for so many more than the task's deadline.
 */
export function makeEdgeClient(socketPath: string): EdgeClient {
  async function ask(
    method: string,
    path: string,
    body: string | null,
    signal: AbortSignal | undefined,
    patience = patienceMilliseconds,
  ): Promise<unknown> {
    const time = AbortSignal.timeout(patience);
    const both = signal ? AbortSignal.any([signal, time]) : time;
    try {
      return JSON.parse(await exchange({ socketPath, method, path, signal: both }, body));
    } catch (cause) {
      throw new EdgeUnavailable(`The edge gave no answer to ${method} ${path}`, { cause });
    }
  }

  return {
    putTable: async (table, signal) =>
      numberAt(await ask("PUT", "/table", JSON.stringify(table), signal), "generation"),
    status: async (signal) => {
      const answer = await ask("GET", "/status", null, signal);
      if (!v.is(edgeStatus, answer)) throw new EdgeUnavailable("The edge's answer is not its status");
      return answer;
    },
    usage: async (signal) => {
      const answer = await ask("GET", "/usage", null, signal);
      if (!isUsage(answer)) throw new EdgeUnavailable("The edge's answer is not that of its usage");
      return answer;
    },
    settle: async (environmentId, signal) => {
      await ask("POST", "/settle", JSON.stringify({ environmentId }), signal, settlePatienceMilliseconds);
    },
    tryOut: async (order, signal) => {
      const answer = await ask("POST", "/try", JSON.stringify(order), signal, trialPatienceMilliseconds);
      if (!isTrial(answer)) throw new EdgeUnavailable("The edge's answer is not that of a trial");
      return answer;
    },
    runTask: async ({ work, ...order }, signal) => {
      const patience = taskPatienceMilliseconds + order.deadlineSeconds * 1000;
      const answer = await ask("POST", "/task", JSON.stringify({ ...order, ...work }), signal, patience);
      if (!isTaskResult(answer)) throw new EdgeUnavailable("The edge's answer is not that of a task");
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
    const asked = request({ ...options, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`It answered ${response.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    asked.on("error", reject);
    asked.end(body ?? undefined);
  });
}

function isUsage(answer: unknown): answer is EdgeUsage {
  return (
    typeof answer === "object" &&
    answer !== null &&
    "run" in answer &&
    typeof answer.run === "string" &&
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
    "isWhole" in answer &&
    typeof answer.isWhole === "boolean" &&
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
