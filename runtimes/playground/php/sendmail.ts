/**
 * The one program that PHP may start: sendmail, as `mail()` calls it. It is not a program of the host, but this: what
 * PHP writes to it is read to its end and handed over, and it ends with 0 only when whoever got it has it for good.
 *
 * Everything else ends at once with "command not found", unless whoever boots PHP stands in for it. PHP's functions for
 * starting programs are disabled besides, so that a command can only come from `mail()`; its fifth parameter is the part of
 * it that a site writes.
 */
import { createSpawnHandler, type ProgramApi } from "@php-wasm/util";
import type { OutgoingMail } from "../../serving.ts";

export const sendmailProgram = "/usr/sbin/sendmail";

/** Resolves with null when the message is kept for good, otherwise with the sentence that says why it was refused. */
export type HandOver = (mail: OutgoingMail) => Promise<string | null>;

/** What most mail servers take. */
export const messageBytes = 25 << 20;

/** Never 75, "try again later": PHP takes that for a success. */
const exitCodes = { done: 0, refused: 69, unknownProgram: 127 } as const;

/** Without quotes or anything else that has a meaning elsewhere. */
const senderPattern = /^[A-Za-z0-9._+=-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
/** Read the recipients from the message; a line with a dot is no end. Neither changes anything here. */
const plainOptions = new Set(["-t", "-i", "-oi"]);

/** The sender that `-f` names, or null; undefined if there is anything else than sendmail's usual options. */
export function readOptions(options: readonly string[]): string | null | undefined {
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

/** All that PHP writes to the program; null if it is more than a message may have. */
function readInput(program: ProgramApi): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    program.on("stdin", (chunk: Uint8Array) => {
      bytes += chunk.length;
      // PHP uses that memory again.
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
  if (sender === undefined) return "only the option -f with an address is accepted, in the fifth parameter of mail()";
  if (message === null) return `a message may have ${messageBytes >> 20} MB`;
  return handOver({ sender, message });
}

export interface ProgramsOptions {
  readonly handOver: HandOver;
  /** Gets a line for PHP's log where a message is refused. */
  readonly tell: (line: string) => void;
  /** Stands in for any other program: its exit code, or null if there is no such program. */
  readonly others?: (command: readonly string[]) => number | null;
}

export function createPrograms({ handOver, tell, others = () => null }: ProgramsOptions) {
  return createSpawnHandler(async (command, program) => {
    program.notifySpawn();
    // PHP can't deal with a program that is over before it has begun.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const [name, ...options] = command;
    if (name !== sendmailProgram) return program.exit(others(command) ?? exitCodes.unknownProgram);
    const refusal = await run(options, program, handOver).catch(() => "the message could not be handed over");
    if (refusal !== null) tell(`sendmail: ${refusal}.`);
    program.exit(refusal === null ? exitCodes.done : exitCodes.refused);
  });
}
