/** Of a text that may be of any length: its beginning and its end. */
import { constants } from "node:buffer";

export interface KeptText {
  readonly text: string;
  /** Of the whole. */
  readonly bytes: number;
  readonly isTruncated: boolean;
}

/** Keeps at most `limit` bytes, half of them of the beginning. */
export class TextKeeper {
  readonly #limit: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  bytes = 0;

  constructor(limit: number) {
    if (limit > constants.MAX_STRING_LENGTH) throw new Error("So long a text can't be kept.");
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const half = Math.ceil(this.#limit / 2);
    const first = chunk.subarray(0, half - this.#head.length);
    if (first.length > 0) this.#head = Buffer.concat([this.#head, first]);
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // In one piece from time to time only: each time would take as long as all that was kept.
    if (this.#tailBytes > 2 * this.#limit) this.#cut();
  }

  #cut(): void {
    const most = this.#limit - this.#head.length;
    const tail = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(tail.subarray(Math.max(0, tail.length - most)))];
    this.#tailBytes = Math.min(tail.length, most);
  }

  /** Halves of characters at the cut are left out; other bytes that are no UTF-8 become U+FFFD. */
  kept(): KeptText {
    this.#cut();
    const tail = Buffer.concat(this.#tail);
    const left = this.bytes - this.#head.length - tail.length;
    if (left === 0)
      return { text: Buffer.concat([this.#head, tail]).toString(), bytes: this.bytes, isTruncated: false };
    const head = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#head, { stream: true });
    const note = `\n[… ${left} bytes are left out here …]\n`;
    return { text: `${head}${note}${withoutHalf(tail).toString()}`, bytes: this.bytes, isTruncated: true };
  }
}

/** Without the bytes at its beginning that belong to a character which began before. */
function withoutHalf(bytes: Buffer): Buffer {
  const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
  let start = 0;
  while (start < 3 && isInside(bytes[start])) start += 1;
  return bytes.subarray(start);
}
