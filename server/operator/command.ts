/** A command of the operator: what it is given, and how it is described. */
import type { ParseArgsOptionsConfig } from "node:util";
import type { Config } from "../settings/config.ts";
import type { Typist } from "./passphrase.ts";

export interface Surroundings {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly typist: Typist;
}

/** What was typed. Values of flags are missing if they were not given. */
export interface Given {
  /** The words after the command's name. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/** Resolves with the text for standard output. Rejects with `Failure` and `UnusableFile`. */
export type Run = (given: Given, surroundings: Surroundings) => Promise<string>;

export interface Command {
  /** Its name and what follows it. */
  readonly usage: string;
  readonly summary: string;
  /** One line per flag and for whatever else needs saying. */
  readonly details?: readonly string[];
  readonly options?: ParseArgsOptionsConfig;
  /** The fewest and the most words after its name. */
  readonly words: readonly [fewest: number, most: number];
  readonly load: () => Promise<Run>;
}
