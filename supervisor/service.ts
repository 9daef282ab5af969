/** A process that the supervisor keeps running: PostgreSQL, control, edge or dns. */

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of output. */
  readonly lastLines: readonly string[];
}

/** One run of a service. */
export interface Run {
  readonly exited: Promise<Exit>;
  /** Stops gracefully, and kills after a deadline. Resolves when the process has ended. */
  stop(): Promise<void>;
  /** Kills the process and its children. */
  kill(): void;
}

export interface Service {
  readonly name: string;
  readonly logPath: string;
  /** Resolves when the service is ready. Rejects with `StartFailed` if it ended or timed out. */
  start(): Promise<Run>;
}

export class StartFailed extends Error {
  override readonly name = "StartFailed";
}

/** `exit code 1` or `SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** To append to an error message: the last lines of output and the path of the log. */
export function outputTail(lines: readonly string[], logPath: string): string {
  const quoted = lines.slice(-8).map((line) => `\n    ${line.slice(0, 400)}`);
  return `${quoted.length > 0 ? ` Last output:${quoted.join("")}\n  ` : " "}Full log: ${logPath}`;
}
