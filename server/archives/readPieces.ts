/** Reads pieces from packs, neighbouring ones in one request, and checks each against its name. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { BlobMissing } from "./blobs.ts";
import { PieceDamaged } from "./pieceBox.ts";
import type { PackedPiece } from "./pieceIndex.ts";
import { blobOf, type PackStore } from "./pieceStore.ts";

/** A piece and its pack. */
interface LocatedPiece extends PackedPiece {
  readonly pack: string;
}

interface Run {
  readonly pack: string;
  readonly start: number;
  readonly length: number;
  readonly pieces: readonly LocatedPiece[];
}

/** The piece is missing or damaged. */
export class UnreadablePiece extends Error {
  override readonly name = "UnreadablePiece";
  readonly piece: Buffer;
  constructor(piece: Buffer, options: ErrorOptions) {
    super("A piece of a backup is missing or damaged.", options);
    this.piece = piece;
  }
}

/** Gaps up to this size are read along, which is cheaper than another request. */
const gapBytes = 64 << 10;
const readBytes = 8 << 20;

function byPosition(a: LocatedPiece, b: LocatedPiece): number {
  if (a.pack !== b.pack) return a.pack < b.pack ? -1 : 1;
  return a.start - b.start;
}

/** Groups neighbouring pieces. */
export function runsOf(pieces: readonly LocatedPiece[]): readonly Run[] {
  const runs: { pack: string; start: number; length: number; pieces: LocatedPiece[] }[] = [];
  for (const piece of pieces.toSorted(byPosition)) {
    const last = runs.at(-1);
    const length = piece.start + piece.length - (last?.start ?? 0);
    const isNear = last?.pack === piece.pack && piece.start - last.start - last.length <= gapBytes;
    if (last !== undefined && isNear && length <= readBytes) {
      last.pieces.push(piece);
      last.length = length;
    } else runs.push({ pack: piece.pack, start: piece.start, length: piece.length, pieces: [piece] });
  }
  return runs;
}

type Opened = readonly (readonly [content: Buffer, name: Buffer])[];

/** Returns contents and names. If a piece does not match its name, reads once more: it may have been damaged in transit. */
export async function readRun(run: Run, options: PackStore): Promise<Opened> {
  try {
    return await readOnce(run, options);
  } catch (error) {
    if (!(error instanceof UnreadablePiece && error.cause instanceof PieceDamaged)) throw error;
    return readOnce(run, options);
  }
}

/** Rejects with `UnreadablePiece`. Yields to other tasks between pieces. */
async function readOnce({ pack, start, length, pieces }: Run, options: PackStore): Promise<Opened> {
  const { blobs, box, folder, signal } = options;
  let name = pieces[0]?.name ?? Buffer.alloc(0);
  try {
    const bytes = await blobs.read(blobOf(folder, pack), start, length, signal);
    const opened: (readonly [Buffer, Buffer])[] = [];
    for (const piece of pieces) {
      name = piece.name;
      const from = piece.start - start;
      opened.push([box.open(bytes.subarray(from, from + piece.length), name), name]);
      await nextTurn();
    }
    return opened;
  } catch (cause) {
    if (!(cause instanceof BlobMissing || cause instanceof PieceDamaged)) throw cause;
    throw new UnreadablePiece(name, { cause });
  }
}

/** Whether all pieces of the pack match their names. */
export async function isPackIntact(pack: string, pieces: readonly PackedPiece[], options: PackStore): Promise<boolean> {
  try {
    for (const run of runsOf(pieces.map((piece) => ({ ...piece, pack })))) await readRun(run, options);
    return true;
  } catch (error) {
    if (error instanceof UnreadablePiece) return false;
    throw error;
  }
}
