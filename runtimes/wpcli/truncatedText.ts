/** Keeps the beginning and the end of a text of any length. */
import { constants } from "node:buffer";

interface TruncatedText {
  readonly text: string;
  /** Size of the whole text. */
  readonly bytes: number;
  readonly isTruncated: boolean;
}

/** Keeps at most `limit` bytes, half of them from the beginning. */
export class TextTruncator {
  readonly #limit: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  bytes = 0;

  constructor(limit: number) {
    if (limit > constants.MAX_STRING_LENGTH) throw new Error("The limit exceeds the maximum length of a string.");
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
    // Joined only occasionally: joining each time would take as long as the whole text is.
    if (this.#tailBytes > 2 * this.#limit) this.#cut();
  }

  #cut(): void {
    const maxTail = this.#limit - this.#head.length;
    const tail = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(tail.subarray(Math.max(0, tail.length - maxTail)))];
    this.#tailBytes = Math.min(tail.length, maxTail);
  }

  /** Returns the text. Partial characters at the cut are left out; other invalid UTF-8 becomes U+FFFD. */
  result(): TruncatedText {
    this.#cut();
    const tail = Buffer.concat(this.#tail);
    const omitted = this.bytes - this.#head.length - tail.length;
    if (omitted === 0)
      return { text: Buffer.concat([this.#head, tail]).toString(), bytes: this.bytes, isTruncated: false };
    const head = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#head, { stream: true });
    const note = `\n[… ${omitted} bytes are left out here …]\n`;
    return { text: `${head}${note}${withoutPartialCharacter(tail).toString()}`, bytes: this.bytes, isTruncated: true };
  }
}

/** Removes bytes at the beginning that belong to an earlier character. */
function withoutPartialCharacter(bytes: Buffer): Buffer {
  const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
  let start = 0;
  while (start < 3 && isInside(bytes[start])) start += 1;
  return bytes.subarray(start);
}
