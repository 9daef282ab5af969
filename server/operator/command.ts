/** Types of the operator's commands. */
import type { ParseArgsOptionsConfig } from "node:util";
import type { Config } from "../settings/config.ts";
import type { Terminal } from "./passphrase.ts";

export interface CommandContext {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
}

/** The arguments of a command. Flags that were not given are missing. */
export interface Arguments {
  /** The words after the command's name. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/** A text for standard output, of a command that has worked but found problems. */
export interface Found {
  readonly text: string;
  readonly exitCode: number;
}

/** Resolves with the text for standard output. Rejects with `Failure` and `UnusableFile`. */
export type Run = (given: Arguments, context: CommandContext) => Promise<string | Found>;

export interface Command {
  /** The name and the arguments. */
  readonly usage: string;
  readonly summary: string;
  /** More lines of help, one per flag. */
  readonly details?: readonly string[];
  readonly options?: ParseArgsOptionsConfig;
  /** Minimum and maximum number of words after the name. */
  readonly words: readonly [minimum: number, maximum: number];
  readonly load: () => Promise<Run>;
}
