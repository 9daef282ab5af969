/** Pieces that are named but not sealed yet. */
import type { PieceSource } from "./pieceSource.ts";

/** A piece and its name. */
export interface NamedPiece {
  readonly name: Buffer;
  /** Size of its content. 0 if there is nothing to store. */
  readonly bytes: number;
}

/** Sealed pieces, concatenated. */
export interface SealedPieces {
  readonly content: Buffer;
  /** Length of each piece. */
  readonly lengths: readonly number[];
  /** Called once when the content is no longer needed, so that its memory can be reused. */
  done(): void;
}

export interface NamedPieces {
  /** In the order of the sources. Null if the file has vanished. */
  readonly pieces: readonly (NamedPiece | null)[];
  /** Seals the pieces at these positions, in this order. Can be called once; the contents are then released. */
  seal(places: readonly number[]): Promise<SealedPieces>;
}

export interface PieceThread {
  /** Can be called several times in parallel. Rejects with `Unreadable`. */
  name(sources: readonly PieceSource[]): Promise<NamedPieces>;
  /** Aborts running calls. */
  close(): Promise<void>;
}
