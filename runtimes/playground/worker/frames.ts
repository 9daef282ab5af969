/**
 * What passes between the edge process and a PHP worker, on a socket pair of their own: frames of a kind, a
 * length and content. One request at a time, so that nothing has to be told apart; the head carries every
 * header exactly as it came, and bodies pass as bytes.
 */
import type { Duplex } from "node:stream";
import type { OutgoingMail, PlatformTask, Touched } from "../../serving.ts";

/**
 * A request or a response is a head (JSON), bytes any number of times, and an end (JSON). Before its response a
 * worker sends `begun`, when PHP has the request: one that was lost before may be given to another worker. In between it
 * sends `mail` for each message that PHP wants to send, one after the other, and is answered with `mailTaken`. `touched` (JSON) says at any
 * time before the end which pages a change has made old, `grown` (JSON)
 * says at any time before the end by how many more bytes PHP has made files longer. What PHP writes to its log comes as
 * `log`, bytes any number of times, until the end.
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
  touched: 9,
} as const;

export interface Frame {
  readonly kind: number;
  readonly content: Buffer;
}

const prefixBytes = 5;

export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly script: string;
  readonly pathInfo: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** Whether PHP may change nothing meanwhile. */
  readonly isReadOnly: boolean;
  /** By how much files and database may grow together; null: by anything. */
  readonly diskLeftBytes: number | null;
  readonly task: PlatformTask | null;
  /** Whether PHP reaches mail servers meanwhile. */
  readonly maySendMail: boolean;
}

/** What became of a message: null if it is kept for good. */
export interface MailTaken {
  readonly refusal: string | null;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface ResponseEnd {
  /** PHP wanted to change what it may not, so that what it said is no answer. */
  readonly isRefused: boolean;
  /** The runtime can't be used again: the whole process must go. */
  readonly isBroken: boolean;
  /** Whether the script came to its own end, and did not say that nobody else may have the answer. */
  readonly mayBeCached: boolean;
  /** Whether PHP has changed files or database. */
  readonly hasWritten: boolean;
  readonly reason: string | null;
  readonly rssBytes: number;
  /** What PHP wrote to its log meanwhile: the first 4 KB of it. */
  readonly errors: string;
}

/** False if the receiver is behind: wait for the stream's `drain`. */
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
  value: RequestHead | ResponseHead | ResponseEnd | MailTaken | Touched | number | null,
): boolean {
  return sendFrame(stream, kind, Buffer.from(JSON.stringify(value)));
}

/** Calls `onFrame` for each frame in what arrives, in order. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let length = 0;
  /** Joining the pieces before so much is there would copy a large frame over and over. */
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

/** With the prefix; of a prefix that is not whole yet, its own. */
function sizeOfFrame(bytes: Buffer, start: number): number {
  return bytes.length - start < prefixBytes ? prefixBytes : prefixBytes + bytes.readUInt32BE(start);
}

/** A message with its sender, as one frame's content. */
export function packMail({ sender, message }: OutgoingMail): Buffer {
  return Buffer.concat([Buffer.from(`${sender ?? ""}\n`), message]);
}

/** The opposite of `packMail`. What it gives is no copy. */
export function unpackMail(content: Buffer): OutgoingMail {
  const end = content.indexOf("\n");
  const sender = content.toString("utf8", 0, Math.max(0, end));
  return { sender: sender === "" ? null : sender, message: content.subarray(end + 1) };
}
