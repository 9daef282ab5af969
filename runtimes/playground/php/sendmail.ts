/**
 * sendmail, for `mail()`. It is not a program of the host, but this code: it reads its input to the end and hands it over, and
 * succeeds only if the recipient has stored the message durably. The fifth parameter of `mail()` is the part of the command
 * that a site controls.
 */
import type { ProgramApi } from "@php-wasm/util";
import type { OutgoingMail } from "../../serving.ts";

export const sendmailProgram = "/usr/sbin/sendmail";

/** Takes a message. Resolves with null when it is stored durably, otherwise with the reason for refusing it. */
export type HandOver = (mail: OutgoingMail) => Promise<string | null>;

/** Maximum size of a message, like most mail servers'. */
const messageBytes = 25 << 20;

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
export function readInput(program: ProgramApi): Promise<Buffer | null> {
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

/**
 * Runs sendmail. Returns null if the message is stored durably, otherwise the reason for refusing it. Rejects if it could not
 * be handed over.
 */
export async function runSendmail(
  options: readonly string[],
  program: ProgramApi,
  handOver: HandOver,
): Promise<string | null> {
  const message = await readInput(program);
  const sender = readOptions(options);
  if (sender === undefined) return "the fifth parameter of mail() may only be -f with an address";
  if (message === null) return `a message is limited to ${messageBytes >> 20} MB`;
  return handOver({ sender, message });
}
