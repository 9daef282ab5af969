/** Where the pieces of a company are, what opens them, and for how long they are dealt with. */
import type { Blobs } from "./blobs.ts";
import type { PieceBox } from "./pieceBox.ts";
import type { PieceIndex } from "./pieceIndex.ts";

/** Enough to read packs of which it is known what is in them. */
export interface PackStore {
  readonly blobs: Blobs;
  readonly box: PieceBox;
  /** Of the blobs, for the company's packs. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** For one backup. */
export interface PieceStore extends PackStore {
  readonly index: PieceIndex;
}

/** The name under which the pack lies. */
export function blobOf(folder: string, pack: string): string {
  return `${folder}/${pack}`;
}
