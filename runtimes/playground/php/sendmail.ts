/**
 * sendmail, the one program that PHP may start, for `mail()`. It is not a program of the host, but this code: it reads
 * its input to the end and hands it over, and exits with 0 only if the recipient has stored the message durably.
 *
 * Every other command exits with "command not found", unless the caller of `bootPhp` implements it. PHP's functions for
 * starting programs are disabled too, so a command can only come from `mail()`; its fifth parameter is the part of the
 * command that a site controls.
 */
import { createSpawnHandler, type ProgramApi } from "@php-wasm/util";
import type { OutgoingMail } from "../../serving.ts";
import { shellWords } from "./shellWords.ts";

export const sendmailProgram = "/usr/sbin/sendmail";

/** Takes a message. Resolves with null when it is stored durably, otherwise with the reason for refusing it. */
export type HandOver = (mail: OutgoingMail) => Promise<string | null>;

/** Maximum size of a message, like most mail servers'. */
const messageBytes = 25 << 20;

/** Never 75 ("try again later"): PHP takes that for success. */
const exitCodes = { done: 0, refused: 69, unknownProgram: 127 } as const;

/** Accepts no quotes or other special characters. */
const senderPattern = /^[A-Za-z0-9._+=-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
/** Options without effect here: read recipients from the message; a line with a dot does not end it. */
const plainOptions = new Set(["-t", "-i", "-oi"]);

/** Returns the sender named by `-f`, or null; undefined if there are other options than sendmail's usual ones. */
function readOptions(options: readonly string[]): string | null | undefined {
  let sender: string | null = null;
  const rest = options.filter((option) => option !== "");
  for (let option = rest.shift(); option !== undefined; option = rest.shift()) {
    if (plainOptions.has(option)) continue;
    if (!option.startsWith("-f")) return undefined;
    const address = option === "-f" ? (rest.shift() ?? "") : option.slice(2);
    if (!senderPattern.test(address)) return undefined;
    sender = address;
  }
  return sender;
}

/** Reads PHP's input to the program. Null if it exceeds the maximum size. */
function readInput(program: ProgramApi): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    program.on("stdin", (chunk: Uint8Array) => {
      bytes += chunk.length;
      // PHP reuses this memory.
      if (bytes <= messageBytes) chunks.push(Buffer.from(chunk));
    });
    const end = () => resolve(bytes <= messageBytes ? Buffer.concat(chunks) : null);
    const { stdin } = program.childProcess;
    if (stdin.ended) end();
    else stdin.on("finish", end);
  });
}

async function run(options: readonly string[], program: ProgramApi, handOver: HandOver): Promise<string | null> {
  const message = await readInput(program);
  const sender = readOptions(options);
  if (sender === undefined) return "the fifth parameter of mail() may only be -f with an address";
  if (message === null) return `a message is limited to ${messageBytes >> 20} MB`;
  return handOver({ sender, message });
}

interface ProgramsOptions {
  readonly handOver: HandOver;
  /** Receives a line for PHP's log if a message is refused. */
  readonly log: (line: string) => void;
  readonly others?: OtherPrograms;
}

/**
 * Implements other programs: returns their result, or null if there is no such program. `input` reads what PHP writes to the
 * program to its end; null if that is too much.
 */
export type OtherPrograms = (
  command: readonly string[],
  input: () => Promise<Buffer | null>,
) => Promise<ProgramResult> | null;

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

async function runOther(command: readonly string[], program: ProgramApi, others: OtherPrograms): Promise<void> {
  const { stdout, stderr, exitCode } = await (others(command, () => readInput(program)) ??
    unknownProgram(command[0] ?? ""));
  if (stdout !== "") program.stdout(stdout);
  if (stderr !== "") program.stderr(stderr);
  program.exit(exitCode);
}

export function createPrograms({ handOver, log, others = () => null }: ProgramsOptions) {
  const spawn = createSpawnHandler(async (command, program) => {
    program.notifySpawn();
    // PHP can't handle a program that exits before it has started.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const [name, ...options] = command;
    if (name !== sendmailProgram) return runOther(command, program, others);
    const refusal = await run(options, program, handOver).catch(() => "the message could not be handed over");
    if (refusal !== null) log(`sendmail: ${refusal}.`);
    program.exit(refusal === null ? exitCodes.done : exitCodes.refused);
  });
  // The library's own splitting loses empty words, and spaces at the ends of quoted ones.
  return (command: string, words: readonly string[], options: object) =>
    spawn(words.length > 0 ? [command, ...words] : shellWords(command), [], options);
}
