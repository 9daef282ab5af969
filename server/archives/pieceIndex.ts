/** What archives must know of the pieces that they keep. Kept elsewhere, for one backup of one company here. */

export interface PackedPiece {
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

/** A piece, and the pack that it is in. */
export interface KeptPiece extends PackedPiece {
  readonly pack: string;
  /** The pack is not as it was written: this piece may be gone. */
  readonly isLost: boolean;
}

export interface NeededPack {
  readonly bytes: number;
  /** When all of it was last read; null: not since another of the company's packs was found to be lost, or nobody knows. */
  readonly readAt: Date | null;
  readonly isLost: boolean;
}

/** Sets and maps are by `keyOf` a piece's name. */
export interface PieceIndex {
  /** Those of the pieces that are kept already. From now on the backup needs their packs, which are not removed any more. */
  claim(names: readonly Buffer[]): Promise<ReadonlySet<string>>;
  /** A pack is about to be written. */
  beginPack(pack: string): Promise<void>;
  /** It is there, was read back, and the backup needs it. */
  addPack(pack: string, bytes: number, pieces: readonly PackedPiece[]): Promise<void>;
  /** Where the pieces are, in a pack that is not lost where there is one; those that are not kept are missing. */
  locate(names: readonly Buffer[]): Promise<ReadonlyMap<string, KeptPiece>>;
  neededPacks(): Promise<ReadonlyMap<string, NeededPack>>;
  /** All that are in the pack, in order. */
  piecesIn(pack: string): Promise<readonly PackedPiece[]>;
  /** All of it was read, and is as it was written. */
  noteRead(pack: string): Promise<void>;
  /**
   * They are not in the archives any more, or damaged: nothing in them can be claimed. Who needs them still does, until the
   * same pieces are somewhere else too.
   */
  markLost(packs: readonly string[]): Promise<void>;
  /** The backup does not need them any more. */
  release(packs: readonly string[]): Promise<void>;
}

export function keyOf(name: Buffer): string {
  return name.toString("base64");
}
