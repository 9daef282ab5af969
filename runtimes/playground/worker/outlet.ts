/** Where a worker puts PHP's answer: on the way to whoever asked, at once or when it is known to be one. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { frameKinds, type ResponseHead, sendFrame, sendJson } from "./frames.ts";

export interface Outlet {
  head(head: ResponseHead): void;
  /** Resolves when there is room for more. */
  body(piece: Uint8Array): Promise<void>;
}

export function directOutlet(out: Duplex): Outlet {
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

export interface HeldOutlet extends Outlet {
  /** What is held goes on its way, and what follows with it. */
  release(): Promise<void>;
}

/** Holds the answer until it is released. Beyond the limit it releases itself: what was let out can't be taken back. */
export function heldOutlet(outlet: Outlet, limitBytes = usualLimitBytes): HeldOutlet {
  let head: ResponseHead | null = null;
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let isHeld = true;

  async function release(): Promise<void> {
    isHeld = false;
    const held = pieces;
    pieces = [];
    if (head !== null) outlet.head(head);
    for (const piece of held) await outlet.body(piece);
  }

  return {
    head: (next) => {
      head = next;
    },
    body: async (piece) => {
      if (!isHeld) return outlet.body(piece);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > limitBytes) await release();
    },
    release,
  };
}
