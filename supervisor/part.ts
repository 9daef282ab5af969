/** A part of the installation that the supervisor keeps running: PostgreSQL, control, edge. */

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote. */
  readonly lastWords: readonly string[];
}

/** One run of a part. */
export interface Run {
  readonly exited: Promise<Ended>;
  /** Asks it to end, waits, and after a deadline makes it. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Ends it at once, with everything that it started. */
  kill(): void;
}

export interface Part {
  readonly name: string;
  readonly logPath: string;
  /** Resolves when the part does its work. Rejects with `EndedEarly` if it ended instead. */
  start(): Promise<Run>;
}

export class EndedEarly extends Error {
  override readonly name = "EndedEarly";
}

/** `exit code 1` or `SIGKILL`. */
export function howItEnded(ended: Ended): string {
  return ended.signal ?? `exit code ${ended.code}`;
}

/** The end of a sentence: what it said last, and where there is more. */
export function lastWords(words: readonly string[], logPath: string): string {
  const quoted = words.slice(-8).map((line) => `\n    ${line.slice(0, 400)}`);
  return `${quoted.length > 0 ? ` Its last words:${quoted.join("")}\n  ` : " "}More is in ${logPath}`;
}
