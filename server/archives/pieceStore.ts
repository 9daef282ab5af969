/** Access to the packs and pieces of a company. */
import type { Blobs } from "./blobs.ts";
import type { PieceBox } from "./pieceBox.ts";
import type { PieceIndex } from "./pieceIndex.ts";

/** Access to packs with known content. */
export interface PackStore {
  readonly blobs: Blobs;
  readonly box: PieceBox;
  /** Folder of the company's packs in the blobs. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Access to the pieces of one backup. */
export interface PieceStore extends PackStore {
  readonly index: PieceIndex;
}

/** The pack's blob name. */
export function blobOf(folder: string, pack: string): string {
  return `${folder}/${pack}`;
}
