/**
 * The programs that PHP may start. They are not programs of the host, but code of this process: sendmail for `mail()`, `cat`
 * as a pager, and those that the caller of `bootPhp` implements. Every other command exits with "command not found".
 *
 * PHP's functions for starting programs are disabled except in WP-CLI, so elsewhere a command can only come from `mail()`.
 */
import { createSpawnHandler, type ProgramApi } from "@php-wasm/util";
import { type HandOver, readInput, runSendmail, sendmailProgram } from "./sendmail.ts";
import { shellWords } from "./shellWords.ts";

/** Never 75 ("try again later"): PHP takes that for success. */
const exitCodes = { done: 0, refused: 69, unknownProgram: 127 } as const;

interface ProgramsOptions {
  readonly handOver: HandOver;
  /** Receives a line for PHP's log if a message is refused. */
  readonly log: (line: string) => void;
  readonly others?: OtherPrograms;
}

/** Implements other programs, which have no input: returns their result, or null if there is no such program. */
export type OtherPrograms = (command: readonly string[]) => Promise<ProgramResult> | null;

/** What a program has printed, and its exit code. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const unknownProgram = (name: string): ProgramResult => ({
  stdout: "",
  stderr: `${name}: this PHP can't start programs.\n`,
  exitCode: exitCodes.unknownProgram,
});

function print({ stdout, stderr, exitCode }: ProgramResult, program: ProgramApi): void {
  if (stdout !== "") program.stdout(stdout);
  if (stderr !== "") program.stderr(stderr);
  program.exit(exitCode);
}

/** Prints the input: a pager for programs that want one. */
async function printInput(program: ProgramApi): Promise<void> {
  const input = await readInput(program);
  print({ stdout: input?.toString() ?? "", stderr: "", exitCode: exitCodes.done }, program);
}

/** PHP can't handle a program that exits before it has started. */
const started = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Returns a function that starts the program for a command: a text, or a program's name with its arguments. */
export function createPrograms({ handOver, log, others = () => null }: ProgramsOptions) {
  const spawn = createSpawnHandler(async (command, program) => {
    program.notifySpawn();
    await started();
    const [name, ...options] = command;
    if (name === "cat" && options.length === 0) return printInput(program);
    const refusal = await runSendmail(options, program, handOver).catch(() => "the message could not be handed over");
    if (refusal !== null) log(`sendmail: ${refusal}.`);
    program.exit(refusal === null ? exitCodes.done : exitCodes.refused);
  });
  return async (text: string, words: readonly string[], options: object) => {
    // The library's own splitting loses empty words, and spaces at the ends of quoted ones.
    const command = words.length > 0 ? [text, ...words] : shellWords(text);
    if (command[0] === sendmailProgram || (command[0] === "cat" && command.length === 1)) {
      return spawn(command, [], options);
    }
    // PHP waits for a program to start as long as it takes, but only five seconds for its output.
    const result = await (others(command) ?? unknownProgram(command[0] ?? ""));
    const printResult = createSpawnHandler(async (_, program) => {
      program.notifySpawn();
      await started();
      print(result, program);
    });
    return printResult(command, [], options);
  };
}
