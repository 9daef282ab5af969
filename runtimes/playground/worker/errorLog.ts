/** PHP's log output during one request: sent on immediately, up to a limit. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { frameKinds, sendFrame } from "./frames.ts";

/** The beginning that is returned with the end of the response, for trials. */
const excerptBytes = 4096;
/** Limit for sent output; further lines are only counted. */
const maxSentBytes = 1 << 18;
const lineEnd = 10;

export class ErrorLog {
  readonly #out: Duplex;
  #excerpt = Buffer.alloc(0);
  #sent = 0;
  #linesOmitted = 0;

  constructor(out: Duplex) {
    this.#out = out;
  }

  /** Reads the whole stream, because PHP would otherwise block. */
  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { buffer, byteOffset, byteLength } of stream) {
      // The library's chunks are actually arrays of signed numbers.
      await this.#take(Buffer.from(buffer, byteOffset, byteLength));
    }
    if (this.#linesOmitted > 0) this.#write(Buffer.from(`\n… and ${this.#linesOmitted} more lines\n`));
  }

  /** Adds a line of the platform's own. */
  add(line: string): void {
    void this.#take(Buffer.from(`${line}\n`));
  }

  async #take(chunk: Buffer): Promise<void> {
    const missing = excerptBytes - this.#excerpt.length;
    if (missing > 0) this.#excerpt = Buffer.concat([this.#excerpt, chunk.subarray(0, missing)]);
    await this.#send(chunk);
  }

  async #send(chunk: Buffer): Promise<void> {
    const piece = chunk.subarray(0, maxSentBytes - this.#sent);
    this.#sent += piece.length;
    for (let at = piece.length; at < chunk.length; at += 1) if (chunk[at] === lineEnd) this.#linesOmitted += 1;
    if (piece.length > 0 && !this.#write(piece)) await once(this.#out, "drain");
  }

  #write(bytes: Buffer): boolean {
    return sendFrame(this.#out, frameKinds.log, bytes);
  }

  /** The beginning of the output, without a partial character at the end. */
  get text(): string {
    return new TextDecoder().decode(this.#excerpt, { stream: true });
  }
}
