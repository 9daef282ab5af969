/** What PHP writes to its log during one request, in the worker: sent on as it comes, as far as it is of use to anybody. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { frameKinds, sendFrame } from "./frames.ts";

/** So much of it goes with the end of the answer, for those who try something out. */
const keptBytes = 4096;
/** More than anybody reads; from then on lines are only counted. */
const sentBytes = 1 << 18;
const lineEnd = 10;

export class ErrorLog {
  readonly #out: Duplex;
  #kept = Buffer.alloc(0);
  #sent = 0;
  #linesLeft = 0;

  constructor(out: Duplex) {
    this.#out = out;
  }

  /** All of it is read, because PHP would wait for a reader. */
  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { buffer, byteOffset, byteLength } of stream) {
      // The library's chunks are really of another type, with signed numbers.
      await this.#take(Buffer.from(buffer, byteOffset, byteLength));
    }
    if (this.#linesLeft > 0) this.#write(Buffer.from(`\n… and ${this.#linesLeft} more lines\n`));
  }

  /** A line of ours. */
  add(line: string): void {
    void this.#take(Buffer.from(`${line}\n`));
  }

  async #take(chunk: Buffer): Promise<void> {
    const missing = keptBytes - this.#kept.length;
    if (missing > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, missing)]);
    await this.#send(chunk);
  }

  async #send(chunk: Buffer): Promise<void> {
    const piece = chunk.subarray(0, sentBytes - this.#sent);
    this.#sent += piece.length;
    for (let at = piece.length; at < chunk.length; at += 1) if (chunk[at] === lineEnd) this.#linesLeft += 1;
    if (piece.length > 0 && !this.#write(piece)) await once(this.#out, "drain");
  }

  #write(bytes: Buffer): boolean {
    return sendFrame(this.#out, frameKinds.log, bytes);
  }

  /** The beginning of it, without the half of a character at its end. */
  get text(): string {
    return new TextDecoder().decode(this.#kept, { stream: true });
  }
}
