/** A worker as the pool sees it: something that runs PHP for one environment, one request at a time, until it is killed. */
import type { NoAnswerReason, OutgoingMail, PhpResponse, PlatformTask, RequestBody, StalePages } from "../serving.ts";

export interface WorkerRequest {
  readonly method: string;
  readonly url: string;
  readonly script: string;
  readonly pathInfo: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** Whether every change is refused. */
  readonly isReadOnly: boolean;
  /** By how many bytes files and database may grow together; null: unlimited. */
  readonly diskLeftBytes: number | null;
  /** The same when the environment's size was last measured. */
  readonly measuredLeftBytes: number | null;
  readonly task: PlatformTask | null;
  /** Whether PHP may connect to mail servers. */
  readonly maySendMail: boolean;
}

/** Options and event handlers of a request's caller. */
export interface RequestCallbacks {
  /** Absent: the worker's default. */
  readonly deadlineSeconds?: number | null;
  /** The worker is free, or gone. `hasWritten`: PHP has changed files or the database, or may have. */
  finished(hasWritten: boolean): void;
  /**
   * PHP sends a message. Resolves with null if it is stored, otherwise with the reason. Absent: messages are refused.
   */
  mail?(mail: OutgoingMail): Promise<string | null>;
  /** PHP has logged a line. Called before `finished`. */
  onErrorLine?(line: string): void;
  /** Files or database have grown by this many more bytes. */
  grown?(bytes: number): void;
  /** Receives outdated pages: during the request, and all of them again before `finished`. */
  onStalePages?(pages: StalePages): void;
  /** Called just before the worker is killed for exceeding the deadline. */
  timedOut?(): void;
}

export interface Worker {
  /** 0 until the process has been started. */
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  /** How many requests it has been given. */
  readonly requests: number;
  /** When PHP got the first request (`performance.now()`), or null if it is still booting. */
  readonly firstBegan: number | null;
  /** When the last request ended (`performance.now()`). */
  readonly lastUsed: number;
  /** Resident memory, as last measured. */
  rssBytes: number;
  /** Whether it can't be used again. */
  readonly isBroken: boolean;
  /** Whether its priority is lower than it should be and can't be raised: it should be replaced. */
  readonly isStuckAtLowPriority: boolean;
  /**
   * Runs one request; the worker must not be busy. Rejects with `RequestNotStarted` if PHP never had the request, with
   * `NoAnswer` if there is no response. If a response breaks off, its body ends with an error.
   */
  handle(request: WorkerRequest, body: RequestBody | null, callbacks: RequestCallbacks): Promise<PhpResponse>;
  /** Lowers the priority from now on. */
  yieldToOthers(): void;
  /** Raises the priority, because a visitor waits for it now. */
  raisePriority(): void;
  /** Sets by how many steps its company's load lowers the priority. */
  setLoadSteps(steps: number): void;
  kill(reason: NoAnswerReason): void;
}

/** The worker died before PHP had the request, so it may be given to another worker. */
export class RequestNotStarted extends Error {
  override readonly name = "RequestNotStarted";
}
