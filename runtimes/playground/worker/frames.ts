/**
 * Protocol between the edge process and a PHP worker, on a socket pair: frames with kind, length and content. There is
 * one request at a time, so frames need no request id. The head carries every header unchanged, and bodies are bytes.
 */
import type { Duplex } from "node:stream";
import type { WorkerRequest } from "../../pool/worker.ts";
import type { OutgoingMail, StalePages } from "../../serving.ts";

/**
 * A request or a response is a head (JSON), any number of body frames (bytes), and an end (JSON). Before its response a
 * worker sends `begun` when PHP has the request; until then a lost request may be given to another worker. In between
 * it sends `mail` for each message from PHP, one at a time, and gets `mailTaken`. At any time before the end, `stalePages`
 * (JSON) reports outdated pages, `grown` (JSON) reports by how many more bytes files have grown, and `log` (bytes)
 * carries PHP's log output.
 */
export const frameKinds = {
  head: 1,
  body: 2,
  end: 3,
  begun: 4,
  grown: 5,
  log: 6,
  mail: 7,
  mailTaken: 8,
  stalePages: 9,
} as const;

export interface Frame {
  readonly kind: number;
  readonly content: Buffer;
}

const prefixBytes = 5;

export interface RequestHead extends WorkerRequest {
  /** The request's time limit, which scripts can ask for. */
  readonly deadlineSeconds: number;
}

/** Result for a message: null if it is stored durably. */
export interface MailTaken {
  readonly refusal: string | null;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface ResponseEnd {
  /** PHP attempted a forbidden change, so its response is not valid. */
  readonly isRefused: boolean;
  /** PHP can't be used again: the process must be ended. */
  readonly isBroken: boolean;
  /** Whether the script completed and did not declare its response private. */
  readonly isCacheable: boolean;
  /** As `PhpResponse.tags`. */
  readonly tags: readonly string[] | null;
  /** Whether PHP has changed files or the database. */
  readonly hasWritten: boolean;
  readonly reason: string | null;
  readonly rssBytes: number;
  /** The first 4 KB of PHP's log output. */
  readonly errors: string;
}

/** Sends a frame. Returns false if the receiver is slow: wait for the stream's `drain`. */
export function sendFrame(stream: Duplex, kind: number, content: Uint8Array): boolean {
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix.writeUInt32BE(content.byteLength);
  prefix.writeUInt8(kind, 4);
  stream.cork();
  stream.write(prefix);
  const isReady = stream.write(content);
  stream.uncork();
  return isReady;
}

export function sendJson(
  stream: Duplex,
  kind: number,
  value: RequestHead | ResponseHead | ResponseEnd | MailTaken | StalePages | number | null,
): boolean {
  return sendFrame(stream, kind, Buffer.from(JSON.stringify(value)));
}

/** Creates a function that parses received bytes and calls `onFrame` for each frame in order. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let length = 0;
  /** Pieces are joined only when this many bytes have arrived; joining earlier would copy a large frame repeatedly. */
  let wanted = prefixBytes;
  return (chunk) => {
    pieces.push(chunk);
    length += chunk.length;
    if (length < wanted) return;
    const pending = pieces.length === 1 ? chunk : Buffer.concat(pieces, length);
    let start = 0;
    wanted = sizeOfFrame(pending, start);
    while (pending.length - start >= wanted) {
      const kind = pending.readUInt8(start + 4);
      const content = pending.subarray(start + prefixBytes, start + wanted);
      start += wanted;
      wanted = sizeOfFrame(pending, start);
      onFrame({ kind, content });
    }
    pieces = start === length ? [] : [pending.subarray(start)];
    length -= start;
  };
}

/** Returns the size including the prefix; if the prefix is incomplete, the size of the prefix. */
function sizeOfFrame(bytes: Buffer, start: number): number {
  return bytes.length - start < prefixBytes ? prefixBytes : prefixBytes + bytes.readUInt32BE(start);
}

/** Encodes a message with its sender as the content of a frame. */
export function packMail({ sender, message }: OutgoingMail): Buffer {
  return Buffer.concat([Buffer.from(`${sender ?? ""}\n`), message]);
}

/** Decodes a `packMail` frame. The result shares the frame's memory. */
export function unpackMail(content: Buffer): OutgoingMail {
  const end = content.indexOf("\n");
  const sender = content.toString("utf8", 0, Math.max(0, end));
  return { sender: sender === "" ? null : sender, message: content.subarray(end + 1) };
}
