/**
 * The edge's interface to PHP. It is defined here so that the edge doesn't depend on a runtime. The process that starts
 * the edge passes an implementation, and the compiler checks that it fits.
 */
import type { Readable } from "node:stream";
import type { EdgeEnvironment } from "../tables/table.ts";

/** A platform task: one of Sitewright's own scripts, run in an environment's PHP. */
export interface UpstreamTask {
  readonly name: string;
  /** JSON. */
  readonly input: string;
}

/** A body whose length is known, however the visitor sent it. */
export interface UpstreamBody extends AsyncIterable<Buffer> {
  readonly bytes: number;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query as sent by the visitor. */
  readonly url: string;
  /** Path of the script below the web root, such as `/index.php`. */
  readonly script: string;
  /** The part of the path after the script, or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Called when a worker is free: returns further headers. Called again if that worker dies before it begins. */
  readonly headersAtStart?: () => Readonly<Record<string, string>>;
  /** Complete, so that PHP never waits for a visitor. Can be read again if PHP dies before the request begins. */
  readonly body: UpstreamBody | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** Whether the environment's own PHP made the request. */
  readonly fromPhp: boolean;
  /** Aborts when the visitor leaves. */
  readonly signal: AbortSignal;
  /** Whether PHP must not change files or the database. If it tries, `handle` rejects with `wouldWrite`. */
  readonly isReadOnly: boolean;
  /** Runs instead of the script, which PHP still sees as its script name. */
  readonly task?: UpstreamTask;
  /** Time limit for PHP. Absent: the limit for visitors. */
  readonly deadlineSeconds?: number;
  /** Background work uses no worker that is kept for visitors and leaves none behind. Absent: false. */
  readonly isBackground?: boolean;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
  /** Resolves when PHP has finished, even if the body is no longer read. Never rejects. */
  readonly finished: Promise<void>;
  /** Whether the site allows this response to be cached; known when the body has ended. Never rejects. */
  readonly isCacheable: Promise<boolean>;
  /**
   * What the page shows, by the names that `PurgeScope.tags` has. Null if that is not known. Known when the body has
   * ended. Never rejects.
   */
  readonly tags: Promise<readonly string[] | null>;
  /** The beginning of PHP's log output; known when the body has ended. Never rejects. */
  readonly errors: Promise<string>;
}

/** The state of the PHP pool, for `GET /status`. */
export interface UpstreamStatus {
  readonly workers: readonly unknown[];
  /** Number of workers that are ready for an environment. */
  readonly preparedWorkers: number;
  /** Further facts about the upstream, for people. */
  readonly machinery: Readonly<Record<string, unknown>>;
}

/** An environment's usage since the upstream started. All numbers only rise, except `recentCores`. */
export interface UpstreamUsage {
  readonly environmentId: string;
  readonly phpRequests: number;
  readonly phpMilliseconds: number;
  readonly cpuMilliseconds: number;
  readonly killedForTime: number;
  readonly killedForMemory: number;
  readonly refusedBusy: number;
  readonly writes: number;
  readonly recentCores: number;
}

export interface Upstream {
  /** Sets the environments that may run. PHP of all others is stopped. */
  setEnvironments(environments: readonly EdgeEnvironment[]): Promise<void>;
  /** Rejects with an error whose `reason` is one of `noAnswerReasons`. */
  handle(environmentId: string, request: UpstreamRequest): Promise<UpstreamResponse>;
  /** Runs a test request in the given environment, served or not, without affecting visitors. Rejects like `handle`. */
  runTrial(environment: EdgeEnvironment, request: UpstreamRequest): Promise<UpstreamResponse>;
  usage(): readonly UpstreamUsage[];
  close(): Promise<void>;
  status?(): UpstreamStatus;
}

export const noAnswerReasons = ["busy", "deadline", "crashed", "unavailable", "wouldWrite", "diskFull"] as const;
export type NoAnswerReason = (typeof noAnswerReasons)[number];

/** Why there was no response. Errors without a reason count as crashes. */
export function reasonOf(error: unknown): NoAnswerReason {
  const named = error instanceof Error && "reason" in error ? error.reason : null;
  return noAnswerReasons.find((reason) => reason === named) ?? "crashed";
}
