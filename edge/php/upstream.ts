/**
 * Who answers what files can't: the edge's own idea of PHP, so that this room needs no other.
 * The process that composes the edge hands in something of this shape and the compiler compares the two.
 */
import type { Readable } from "node:stream";
import type { EdgeEnvironment } from "../tables/table.ts";

/** Something that the platform asks of an environment, run by a script of its own in the environment's PHP. */
export interface UpstreamTask {
  readonly name: string;
  /** JSON. */
  readonly input: string;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query as the visitor sent them. */
  readonly url: string;
  /** Path of the script below the web root, `/index.php`. */
  readonly script: string;
  /** What follows the script in the path, or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readable | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** PHP of this installation made the request. */
  readonly fromPhp: boolean;
  /** The visitor went away. */
  readonly signal: AbortSignal;
  /** PHP may change neither files nor database. Where it tries, there is no answer, but `wouldWrite`. */
  readonly isReadOnly: boolean;
  /** Runs instead of the script, which PHP is told nevertheless; absent: none. */
  readonly task?: UpstreamTask;
  /** How long PHP may take; absent: as long as for a visitor. */
  readonly deadlineSeconds?: number;
  /** Background work: it takes no process that is kept for visitors, and leaves none. Absent: false. */
  readonly isBackground?: boolean;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
  /** Resolves when PHP is done, even if the body is no longer read. Never rejects. */
  readonly finished: Promise<void>;
  /** Whether the site itself lets others have this answer too; known when the body has ended. Never rejects. */
  readonly mayBeCached: Promise<boolean>;
  /** The beginning of what PHP wrote to its log; known when the body has ended. Never rejects. */
  readonly errors: Promise<string>;
}

/** What the status page tells about the machinery behind the edge. */
export interface UpstreamStatus {
  readonly workers: readonly unknown[];
  readonly spares: number;
  /** Versions of PHP for which everything is compiled. */
  readonly compiledPhpVersions: readonly string[];
}

/** What an environment took since the upstream began, in numbers that only rise, but for the last. */
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
  /** The whole list of environments that may run; whatever runs for any other is ended. */
  setEnvironments(environments: readonly EdgeEnvironment[]): Promise<void>;
  /** Rejects with an error that carries one of `noAnswerReasons`. */
  handle(environmentId: string, request: UpstreamRequest): Promise<UpstreamResponse>;
  /** Answers for an environment as it is given here, served or not; visitors notice nothing. Rejects like `handle`. */
  tryOut(environment: EdgeEnvironment, request: UpstreamRequest): Promise<UpstreamResponse>;
  usage(): readonly UpstreamUsage[];
  close(): Promise<void>;
  status?(): UpstreamStatus;
}

export const noAnswerReasons = ["busy", "deadline", "crashed", "unavailable", "wouldWrite"] as const;
export type NoAnswerReason = (typeof noAnswerReasons)[number];

/** Why there was no answer. An error that doesn't say is a crash. */
export function reasonOf(error: unknown): NoAnswerReason {
  const named = error instanceof Error && "reason" in error ? error.reason : null;
  return noAnswerReasons.find((reason) => reason === named) ?? "crashed";
}
