/** Reads exact numbers of bytes from a stream. */

export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns null if the stream ends before. */
  async take(bytes: number): Promise<Buffer | null> {
    const parts = [this.#held];
    let available = this.#held.length;
    while (available < bytes) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      parts.push(next.value);
      available += next.value.length;
    }
    const all = parts.length === 1 ? this.#held : Buffer.concat(parts);
    this.#held = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
}
