/**
 * The other face of a runtime: it answers visitors' requests that need PHP. The edge process owns it, so that sites keep
 * answering while the control process, which has `runtime.ts`, is away.
 */
import type { Readable } from "node:stream";
import type { EnvironmentLayout, EnvironmentRef } from "./runtime.ts";

/** What an environment may take. */
export interface ServedLimits {
  /** Visitors' requests that PHP answers at once. */
  readonly threads: number;
  /** For PHP's own data, of each process. */
  readonly memoryMb: number;
  /** How long PHP may take for a request; null: as long as any. */
  readonly requestSeconds: number | null;
  /** Null: no limit but the disk's own. */
  readonly disk: DiskAllowance | null;
}

/** By how much the environment could still grow when it was measured. Below zero: by how much it is too large. */
export interface DiskAllowance {
  readonly leftBytes: number;
  /** In milliseconds since 1970; what is written is counted anew where it is another one than before. */
  readonly measuredAt: number;
}

/** What an environment took since the serving side began. */
export interface EnvironmentUsage {
  readonly environmentId: string;
  readonly phpRequests: number;
  readonly phpMilliseconds: number;
  readonly cpuMilliseconds: number;
  /** PHP processes that were ended in the middle of their work. */
  readonly killedForTime: number;
  readonly killedForMemory: number;
  /** Requests for which no process became free. */
  readonly refusedBusy: number;
  /** Requests in which PHP changed files or database, or may have. */
  readonly writes: number;
  /** Processors that it kept busy in the last minutes, on average. */
  readonly recentCores: number;
}

/** An environment as the serving side sees it: published as a whole list, replaced as a whole list. */
export interface ServedEnvironment extends EnvironmentRef, Omit<EnvironmentLayout, "wordpressVersion"> {
  readonly phpVersion: string;
  /** Another number than before: whatever runs for it is replaced, when it is done with what it does. Absent: 0. */
  readonly phpRun?: number;
  /** Absent: the usual ones. */
  readonly limits?: ServedLimits;
  /** PHP reaches nothing outside of its own environment, not even its own address. Absent: false. */
  readonly isOffline?: boolean;
  /** PHP reaches the ports of mail servers. Absent: false. */
  readonly maySendMail?: boolean;
}

/** Something that the platform asks of an environment, run by a script of the platform's own in the environment's PHP. */
export interface PlatformTask {
  /** Letters only. One that the runtime doesn't know is answered with 404, like a script that isn't there. */
  readonly name: string;
  /** JSON; the task knows what is in it. */
  readonly input: string;
}

export interface PhpRequest {
  readonly method: string;
  /** Path and query as the visitor sent them. */
  readonly url: string;
  /** Path of the script below the web root, `/index.php` or `/wp-login.php`. */
  readonly script: string;
  /** What follows the script in the path (`PATH_INFO`), or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names; as sent by the visitor, `host` included. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readable | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** True if PHP of this installation made the request: it is refused rather than made to wait for a worker. */
  readonly fromPhp: boolean;
  /** The visitor went away. */
  readonly signal: AbortSignal;
  /**
   * Every change to files and database is refused. Where PHP tries one there is no answer, but `wouldWrite`, and nothing
   * has changed. Absent: false.
   */
  readonly isReadOnly?: boolean;
  /** Runs instead of `script`, which PHP is told nevertheless. Absent: none. */
  readonly task?: PlatformTask;
  /** How long PHP may take for it. Absent: as long as for a visitor. */
  readonly deadlineSeconds?: number;
  /** Background work: it takes no process that is kept for visitors, and leaves none. Absent: false. */
  readonly isBackground?: boolean;
}

export interface PhpResponse {
  readonly status: number;
  /** Pairs in order, repeated names kept (`set-cookie`). */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
  /** Resolves when PHP is done with the request, even if the body is no longer read. Never rejects. */
  readonly finished: Promise<void>;
  /** Whether the site lets others have this answer too; known when the body has ended, false if it broke off. Never rejects. */
  readonly mayBeCached: Promise<boolean>;
  /** The beginning of what PHP wrote to its log; known when the body has ended. Never rejects. */
  readonly errors: Promise<string>;
}

/** Pages of a site that a change has made old. Addresses are absolute, as WordPress itself has them; their query counts. */
export interface Touched {
  readonly urls: readonly string[];
  /** Everything at and below these. */
  readonly subtrees: readonly string[];
  /** All pages there are. */
  readonly everything: boolean;
}

/**
 * Told of a change in the middle of the request that makes it, and once more of all of them when PHP is done with the
 * request, or has been ended: somebody may have had a page made in between.
 */
export type TakeTouched = (environmentId: string, touched: Touched) => void;

/** Why PHP gave no answer; the edge chooses the page. */
export type NoAnswerReason = "busy" | "deadline" | "crashed" | "unavailable" | "wouldWrite";

export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly reason: NoAnswerReason;
  constructor(reason: NoAnswerReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A message that PHP hands over to be sent. */
export interface OutgoingMail {
  /** Who gets what can't be delivered back, where PHP said so (`-f`). */
  readonly sender: string | null;
  /** Header and content as PHP wrote them, recipients in the header. */
  readonly message: Buffer;
}

/**
 * Resolves with null when the message is kept for good: only then PHP is told that it was sent. Otherwise with the reason,
 * the middle of a sentence. Which environment it is from is the runtime's own knowledge, never the message's.
 */
export type TakeMail = (environmentId: string, mail: OutgoingMail) => Promise<string | null>;

export interface Serving {
  /** The whole list of environments that may run. Workers of any other, or of an older release, are ended. */
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer` only. */
  handle(environmentId: string, request: PhpRequest): Promise<PhpResponse>;
  /**
   * Answers for an environment that is not served as it is given here: another release, another version of PHP. Visitors
   * notice nothing. What runs for it may be kept for a minute, for the case that it is served as it is next. Rejects with
   * `NoAnswer` only.
   */
  tryOut(environment: ServedEnvironment, request: PhpRequest): Promise<PhpResponse>;
  /** What each environment took for which there was anything to be done. */
  usage(): readonly EnvironmentUsage[];
  /** Ends every worker. */
  close(): Promise<void>;
}
