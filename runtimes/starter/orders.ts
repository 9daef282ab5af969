/** What the starter is asked for, and what it answers. */

/** A user that a process changes to before the work. */
export interface ProcessUser {
  /** User and group. */
  readonly id: number;
  /** Further groups. */
  readonly groups: readonly number[];
}

/** How a job ended. */
export type Outcome =
  | { readonly done: true; readonly result?: unknown }
  | { readonly done: false; readonly reason: string; readonly isForCustomer: boolean };

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "done" in value;
}

/** A job as its process receives it. */
export interface JobMessage {
  readonly job: object;
  /** The user to change to before the work; null: none. */
  readonly user: ProcessUser | null;
}

/** How to run a job. See `job.ts`. */
export interface JobStart extends JobMessage {
  /** Path of the process's main module. */
  readonly module: string;
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly deadlineSeconds: number;
  /** Null: that of the starter. */
  readonly priority: number | null;
  /** Null: the job reads no files that PHP has written. */
  readonly tenant: { readonly companyId: string | null; readonly memoryBytes: number } | null;
  /** Data folder of the installation whose control groups divide the processors; null: there are none. */
  readonly groups: string | null;
}

/** A program of the system, with English messages. */
export interface CommandStart {
  readonly program: string;
  readonly parameters: readonly string[];
  /** Absent: that of the starter. */
  readonly cwd?: string;
  /** Bytes of output. Absent: Node's limit. */
  readonly maxBuffer?: number;
}

/** How a command ended. `failure`: as in the error of `execFile`; null: the exit code is 0. */
export interface CommandEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly failure: { readonly message: string; readonly code: string | number | null } | null;
}

/** `id`: a number that the caller chooses. */
export type StarterOrder =
  | { readonly type: "job"; readonly id: number; readonly start: JobStart }
  | { readonly type: "command"; readonly id: number; readonly start: CommandStart }
  | { readonly type: "kill"; readonly id: number };

export type StarterReport =
  | { readonly type: "job"; readonly id: number; readonly outcome: Outcome }
  | { readonly type: "command"; readonly id: number; readonly end: CommandEnd };
