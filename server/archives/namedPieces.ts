/** Pieces that were cut from files and named, but not sealed yet. */
import type { PieceSource } from "./pieceSource.ts";

/** A piece as its name says it is. */
export interface NamedPiece {
  readonly name: Buffer;
  /** Of its content. 0: there is nothing to be kept. */
  readonly bytes: number;
}

/** Sealed pieces, one after the other. */
export interface SealedPieces {
  readonly content: Buffer;
  /** Of each. */
  readonly lengths: readonly number[];
  /** Called once, when the content is no longer needed and its memory can be reused. */
  done(): void;
}

export interface NamedPieces {
  /** In the order of the sources; null: the file has vanished. */
  readonly pieces: readonly (NamedPiece | null)[];
  /** Once: the pieces at these places, in that order. Then what is in them is forgotten. */
  seal(places: readonly number[]): Promise<SealedPieces>;
}

export interface PieceThread {
  /** Several may be under way. Rejects with `Unreadable`. */
  name(sources: readonly PieceSource[]): Promise<NamedPieces>;
  /** Whatever is under way is given up. */
  close(): Promise<void>;
}
