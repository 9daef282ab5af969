/**
 * sendmail, for `mail()`. It is not a program of the host, but this code: it reads its input to the end and hands it over, and
 * succeeds only if the recipient has stored the message durably.
 */
import type { ProgramApi } from "@php-wasm/util";
import { mailOf, maxMessageBytes } from "../../sendmail.ts";
import type { OutgoingMail } from "../../serving.ts";

export const sendmailProgram = "/usr/sbin/sendmail";

/** Takes a message. Resolves with null when it is stored durably, otherwise with the reason for refusing it. */
export type HandOver = (mail: OutgoingMail) => Promise<string | null>;

/** Reads PHP's input to the program. Null if it exceeds the maximum size. */
export function readInput(program: ProgramApi): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    program.on("stdin", (chunk: Uint8Array) => {
      bytes += chunk.length;
      // PHP reuses this memory.
      if (bytes <= maxMessageBytes) chunks.push(Buffer.from(chunk));
    });
    const end = () => resolve(bytes <= maxMessageBytes ? Buffer.concat(chunks) : null);
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
  const mail = mailOf(options, await readInput(program));
  return typeof mail === "string" ? mail : handOver(mail);
}
