/** The index of stored pieces, seen from one backup of one company. */

export interface PackedPiece {
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

/** A piece and its pack. */
export interface StoredPiece extends PackedPiece {
  readonly pack: string;
  /** The pack is damaged or missing, so the piece may be too. */
  readonly isLost: boolean;
}

export interface NeededPack {
  readonly bytes: number;
  /** When the pack was last read completely. Null if unknown, or not since another pack of the company was found to be lost. */
  readonly readAt: Date | null;
  readonly isLost: boolean;
}

/** Sets and maps of pieces have `keyOf(name)` as key. */
export interface PieceIndex {
  /** Returns the pieces that are already stored. The backup then needs their packs, so they are not removed. */
  claim(names: readonly Buffer[]): Promise<ReadonlySet<string>>;
  /** Records that a pack is about to be written. */
  beginPack(pack: string, keyId: Buffer): Promise<void>;
  /** Records that a pack was written and read back, and that the backup needs it. */
  addPack(pack: string, bytes: number, pieces: readonly PackedPiece[]): Promise<void>;
  /** Locations of the stored ones among these pieces, preferably in packs that are not lost. */
  locate(names: readonly Buffer[]): Promise<ReadonlyMap<string, StoredPiece>>;
  neededPacks(): Promise<ReadonlyMap<string, NeededPack>>;
  /** All pieces in the pack, in order. */
  piecesIn(pack: string): Promise<readonly PackedPiece[]>;
  /** Records that the pack was read completely and is intact. */
  noteRead(pack: string): Promise<void>;
  /**
   * Records that packs are missing or damaged: their pieces can no longer be claimed. Backups still need them until the same
   * pieces are stored elsewhere.
   */
  markLost(packs: readonly string[]): Promise<void>;
  /** Records that the backup no longer needs these packs. */
  release(packs: readonly string[]): Promise<void>;
}

export function keyOf(name: Buffer): string {
  return name.toString("base64");
}
