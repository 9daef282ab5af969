/** Passes PHP's answer on: at once, or when it is known to be an answer. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { frameKinds, type ResponseHead, sendFrame, sendJson } from "./frames.ts";

export interface ResponseWriter {
  head(head: ResponseHead): void;
  /** Resolves when there is room for more. */
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

/** A longer answer is on its way before it is known to be one. */
const usualLimitBytes = 16 << 20;

export interface HeldWriter extends ResponseWriter {
  /** What is held goes on its way, and what follows with it. */
  release(): Promise<void>;
}

/** Holds the answer until it is released. Beyond the limit it releases itself: what was let out can't be taken back. */
export function heldWriter(writer: ResponseWriter, limitBytes = usualLimitBytes): HeldWriter {
  let head: ResponseHead | null = null;
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let isHeld = true;

  async function release(): Promise<void> {
    isHeld = false;
    const held = pieces;
    pieces = [];
    if (head !== null) writer.head(head);
    for (const piece of held) await writer.body(piece);
  }

  return {
    head: (next) => {
      head = next;
    },
    body: async (piece) => {
      if (!isHeld) return writer.body(piece);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > limitBytes) await release();
    },
    release,
  };
}
