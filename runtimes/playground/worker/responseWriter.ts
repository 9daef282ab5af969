/** Writes PHP's response: immediately, or buffered until it is known to be valid. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { frameKinds, type ResponseHead, sendFrame, sendJson } from "./frames.ts";

export interface ResponseWriter {
  head(head: ResponseHead): void;
  /** Writes a piece. Resolves when there is room for more. */
  body(piece: Uint8Array): Promise<void>;
}

export function directWriter(out: Duplex): ResponseWriter {
  return {
    head: (head) => {
      sendJson(out, frameKinds.head, head);
    },
    body: async (piece) => {
      if (!sendFrame(out, frameKinds.body, piece)) await once(out, "drain");
    },
  };
}

/** Longer responses are sent before they are known to be valid. */
const defaultLimitBytes = 16 << 20;

interface BufferingWriter extends ResponseWriter {
  /** Sends the buffered response; everything after it is sent immediately. */
  release(): Promise<void>;
}

/** Buffers the response until it is released. Beyond the limit it is sent anyway, and can't be withdrawn. */
export function bufferingWriter(writer: ResponseWriter, limitBytes = defaultLimitBytes): BufferingWriter {
  let head: ResponseHead | null = null;
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let isBuffering = true;

  async function release(): Promise<void> {
    isBuffering = false;
    const buffered = pieces;
    pieces = [];
    if (head !== null) writer.head(head);
    for (const piece of buffered) await writer.body(piece);
  }

  return {
    head: (next) => {
      head = next;
    },
    body: async (piece) => {
      if (!isBuffering) return writer.body(piece);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > limitBytes) await release();
    },
    release,
  };
}
