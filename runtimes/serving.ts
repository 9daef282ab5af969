/**
 * The serving side of a runtime: answers visitors' requests that need PHP. It runs in the edge process, so that sites
 * keep answering while the control process, which owns `runtime.ts`, is down.
 */
import type { Readable } from "node:stream";
import type { EnvironmentLayout, EnvironmentRef } from "./runtime.ts";

/** The largest request body that reaches PHP. */
export interface UploadLimits {
  /** The largest file. WordPress shows it. */
  readonly uploadBytes: number;
  /** What the rest of a form may add. */
  readonly formBytes: number;
}

/** Resource limits of an environment. */
export interface ServedLimits {
  /** How many visitors' requests PHP answers at once. */
  readonly threads: number;
  /** The same, for all environments of the company together. Absent or null: no limit. */
  readonly companyThreads?: number | null;
  /** PHP's memory limit, per process. */
  readonly memoryMb: number;
  /** Time limit for a request; null: the default. */
  readonly requestSeconds: number | null;
  /** Null: limited by the disk only. */
  readonly disk: DiskAllowance | null;
}

/** By how much the environment could still grow when it was measured. Negative if it is over its quota. */
export interface DiskAllowance {
  readonly leftBytes: number;
  /** Milliseconds since 1970. Bytes written are counted from zero again when this changes. */
  readonly measuredAt: number;
}

/** Resource usage of an environment since the serving side started. */
export interface EnvironmentUsage {
  readonly environmentId: string;
  readonly phpRequests: number;
  readonly phpMilliseconds: number;
  readonly cpuMilliseconds: number;
  /** PHP processes that were killed while working. */
  readonly killedForTime: number;
  readonly killedForMemory: number;
  /** Requests that were refused because no process became free. */
  readonly refusedBusy: number;
  /** Requests that changed files or the database, or may have. */
  readonly writes: number;
  /** CPU cores used on average over the last minutes. */
  readonly recentCores: number;
}

/** An environment as the serving side sees it. The complete list is always published and replaced as a whole. */
export interface ServedEnvironment extends EnvironmentRef, Omit<EnvironmentLayout, "wordpressVersion"> {
  /** The company that it belongs to; companies share the workers equally. Absent: one of its own. */
  readonly companyId?: string;
  /** Name of the runtime that runs its PHP. Absent: the playground. */
  readonly runtime?: string;
  readonly phpVersion: string;
  /**
   * When this number changes, the environment's workers are replaced once they have finished their requests. Absent: 0.
   */
  readonly phpRestarts?: number;
  /** Absent: the defaults. */
  readonly limits?: ServedLimits;
  /** PHP can't connect to anything outside the environment, not even to the site's own address. Absent: false. */
  readonly isOffline?: boolean;
  /** PHP may connect to the ports of mail servers. Absent: false. */
  readonly maySendMail?: boolean;
}

/** A task that the platform runs in an environment: one of its own scripts, in the environment's PHP. */
export interface PlatformTask {
  /** Letters only. An unknown task gets 404, like a missing script. */
  readonly name: string;
  /** JSON; its schema depends on the task. */
  readonly input: string;
}

/** A body whose length is known, however the visitor sent it. */
export interface RequestBody extends AsyncIterable<Buffer> {
  readonly bytes: number;
}

export interface PhpRequest {
  readonly method: string;
  /** Path and query as the visitor sent them. */
  readonly url: string;
  /** Path of the script below the web root, `/index.php` or `/wp-login.php`. */
  readonly script: string;
  /** The path after the script (`PATH_INFO`), or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names; as sent by the visitor, `host` included. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Called when a worker is free: returns further headers. Called again if that worker dies before it begins. */
  readonly headersAtStart?: () => Readonly<Record<string, string>>;
  /** Complete, so that PHP never waits for a visitor. It is read again if a worker dies before the request begins. */
  readonly body: RequestBody | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** True if the environment's own PHP made the request. It is then refused rather than queued if no worker is free. */
  readonly fromPhp: boolean;
  /** Aborted when the visitor disconnects. */
  readonly signal: AbortSignal;
  /**
   * Refuses every change to files and database: if PHP attempts one, the call rejects with `wouldWrite` and nothing has
   * changed. Absent: false.
   */
  readonly isReadOnly?: boolean;
  /** Runs instead of `script`; PHP still sees `script` in its variables. Absent: none. */
  readonly task?: PlatformTask;
  /** Time limit. Absent: the limit for visitors' requests. */
  readonly deadlineSeconds?: number;
  /** Background work: it does not use workers reserved for visitors, and leaves none behind. Absent: false. */
  readonly isBackground?: boolean;
}

export interface PhpResponse {
  readonly status: number;
  /** Pairs in order; repeated names are kept (`set-cookie`). */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
  /** Resolves when PHP has finished the request, even if the body is no longer read. Never rejects. */
  readonly finished: Promise<void>;
  /**
   * Whether the site allows the response to be cached for others. Resolves at the end of the body, false if it broke
   * off. Never rejects.
   */
  readonly isCacheable: Promise<boolean>;
  /**
   * What the page shows, by the names that `StalePages.tags` has. Null if that is not known. Resolves at the end of the
   * body. Never rejects.
   */
  readonly tags: Promise<readonly string[] | null>;
  /** The beginning of PHP's log output for this request. Resolves at the end of the body. Never rejects. */
  readonly errors: Promise<string>;
}

/** Pages that a change has made outdated. URLs are absolute, as WordPress generates them, query included. */
export interface StalePages {
  readonly urls: readonly string[];
  /** URLs that stand for themselves and everything below them. */
  readonly subtrees: readonly string[];
  /** Names of what has changed: all pages that show it are outdated. */
  readonly tags: readonly string[];
  /** All pages of the site. */
  readonly everything: boolean;
}

/**
 * Called with each change during the request that makes it, and again with all of them when PHP has finished the
 * request or was killed, because a page may have been rendered in between.
 */
export type OnStalePages = (environmentId: string, pages: StalePages) => void;

/** Why there is no response from PHP. The edge chooses the error page. */
export type NoAnswerReason = "busy" | "deadline" | "crashed" | "unavailable" | "wouldWrite" | "diskFull";

export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly reason: NoAnswerReason;
  constructor(reason: NoAnswerReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** An e-mail that PHP sends. */
export interface OutgoingMail {
  /** The envelope sender, which gets bounces, if PHP named one (`-f`). */
  readonly sender: string | null;
  /** Headers and body as PHP wrote them. The recipients are in the headers. */
  readonly message: Buffer;
}

/**
 * Resolves with null when the message is stored durably: only then does PHP see it as sent. Otherwise resolves with the
 * reason, as the middle of a sentence. The runtime determines the environment; nothing in the message does.
 */
export type AcceptMail = (environmentId: string, mail: OutgoingMail) => Promise<string | null>;

export interface Serving {
  /** Replaces the list of environments that may run. Ends workers of all other environments and of older releases. */
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer` only. */
  handle(environmentId: string, request: PhpRequest): Promise<PhpResponse>;
  /**
   * Answers a request for an environment that is not served in this form: another release, another PHP version.
   * Visitors notice nothing. Its worker may be kept for a minute, in case the environment is switched to this form
   * next. Rejects with `NoAnswer` only.
   */
  runTrial(environment: ServedEnvironment, request: PhpRequest): Promise<PhpResponse>;
  /** Resource usage of each environment that had requests. */
  usage(): readonly EnvironmentUsage[];
  /** Ends every worker. */
  close(): Promise<void>;
}
