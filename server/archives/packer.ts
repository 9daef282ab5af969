/**
 * Puts pieces into packs, because an object store takes as long for a small object as for a large one, and writes them.
 * A pack counts when it was read back and is, byte for byte, what was written.
 */
import { randomUUID } from "node:crypto";
import { BlobMissing } from "./blobs.ts";
import type { NamedPiece, NamedPieces, SealedPieces } from "./namedPieces.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { keyOf, type PackedPiece } from "./pieceIndex.ts";
import type { PieceMaker } from "./pieceMaker.ts";
import type { PieceSource } from "./pieceSource.ts";
import { blobOf, type PieceStore } from "./pieceStore.ts";

export interface Packer {
  /** Keeps contents that are not kept yet. Returns all of them, in order; null: the file has vanished. Several may be under way. */
  keep(sources: readonly PieceSource[]): Promise<readonly (NamedPiece | null)[]>;
  /** Resolves when everything is there. Nothing may follow. */
  finish(): Promise<void>;
  /** Waits for what is being written, whatever becomes of it. Nothing may follow. */
  settle(): Promise<void>;
  /** Of the packs that were written. */
  addedBytes(): number;
}

/** Of every pack but the last, at least. What comes in such a lot is written where it is: to copy it takes as long as to hash it. */
const packBytes = 4 << 20;
/** Each lot that is put together with others is smaller than a pack. */
const memoryBytes = 2 * packBytes;
const leastMemoryBytes = 64 << 10;
/** Packs on their way: until one is safely on a disk takes much longer than to fill the next. */
const atOnce = 4;

/** With the same in it. A small backup does with little. */
function larger(memory: Buffer, atLeast: number): Buffer {
  const bytes = Math.max(leastMemoryBytes, atLeast, memory.length * 8);
  const next = Buffer.allocUnsafe(Math.min(bytes, memoryBytes));
  memory.copy(next);
  return next;
}

export function createPacker({ blobs, index, folder, signal }: PieceStore, maker: PieceMaker): Packer {
  const known = new Set<string>();
  /** The pack that is being put together. */
  let memory: Buffer = Buffer.alloc(0);
  let pieces: PackedPiece[] = [];
  let bytes = 0;
  let addedBytes = 0;
  const writing = new Set<Promise<void>>();
  /** Of packs that were put together or read back: new memory for each would have this thread look for what is not used any more. */
  const unused: Buffer[] = [];
  let failure: { readonly error: unknown } | null = null;
  /** Of what is under way each looks after the one before it at what is kept. */
  let claims: Promise<unknown> = Promise.resolve();

  async function write(content: Buffer, inside: readonly PackedPiece[]): Promise<void> {
    const pack = randomUUID();
    const name = blobOf(folder, pack);
    await index.beginPack(pack);
    await blobs.put(name, content, signal);
    await requireSame(name, content);
    await index.addPack(pack, content.length, inside);
    addedBytes += content.length;
  }

  /** Some that is at least so long; null: there is none. */
  function takeUnused(length: number): Buffer | null {
    const found = unused.findIndex((memory) => memory.length >= length);
    return found < 0 ? null : (unused.splice(found, 1)[0] ?? null);
  }

  async function requireSame(name: string, content: Buffer): Promise<void> {
    const memory = takeUnused(content.length) ?? Buffer.allocUnsafe(content.length);
    const back = await blobs.read(name, 0, content.length, signal, memory).catch((error: unknown) => {
      if (error instanceof BlobMissing) return null;
      throw error;
    });
    if (!back?.equals(content)) {
      const summary = "The archive store does not give back what was put into it.";
      throw new ObjectStoreFailure(`${summary} It was put under ${name}.`, { isTransient: false, summary });
    }
    unused.push(memory);
  }

  /** Starts writing it. The content must not change until it is `done`. */
  function begin(content: Buffer, inside: readonly PackedPiece[], done: () => void): void {
    // A failure is reported by the next call that stores something or finishes.
    const one = write(content, inside)
      .then(done)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => writing.delete(one));
    writing.add(one);
  }

  /** Begins to write what was put together. */
  function flush(): void {
    if (bytes === 0) return;
    const full = memory;
    begin(full.subarray(0, bytes), pieces, () => void unused.push(full));
    [memory, pieces, bytes] = [takeUnused(memoryBytes) ?? Buffer.alloc(0), [], 0];
  }

  async function untilFewAreWritten(): Promise<void> {
    while (writing.size >= atOnce) await Promise.race(writing);
    throwFailure();
  }

  function throwFailure(): void {
    if (failure !== null) throw failure.error;
  }

  async function settle(): Promise<void> {
    await Promise.all(writing);
  }

  /** The names are in the order of the pieces. */
  function add({ content, lengths, done }: SealedPieces, names: readonly Buffer[]): void {
    const isOne = content.length >= packBytes;
    let start = isOne ? 0 : bytes;
    const inside = lengths.map((length, at) => {
      start += length;
      return { name: names[at] ?? Buffer.alloc(0), start: start - length, length };
    });
    if (isOne) {
      begin(content, inside, done);
      return;
    }
    if (start > memory.length) memory = larger(memory, start);
    content.copy(memory, bytes);
    done();
    for (const piece of inside) pieces.push(piece);
    bytes = start;
    if (bytes >= packBytes) flush();
  }

  /** Places of what is to be kept. */
  async function claim(pieces: NamedPieces["pieces"]): Promise<readonly number[]> {
    const named = pieces.flatMap((piece, place) =>
      piece === null || piece.bytes === 0 ? [] : [{ place, name: piece.name, key: keyOf(piece.name) }],
    );
    const asked = named.filter(({ key }) => !known.has(key)).map(({ name }) => name);
    const kept = asked.length === 0 ? known : await index.claim(asked);
    const missing = named.filter(({ key }) => {
      const isMissing = !known.has(key) && !kept.has(key);
      known.add(key);
      return isMissing;
    });
    return missing.map(({ place }) => place);
  }

  async function keepMissing({ pieces: named, seal }: NamedPieces, missing: readonly number[]): Promise<void> {
    const names = missing.flatMap((place) => named[place]?.name ?? []);
    add(await seal(missing), names);
    await untilFewAreWritten();
  }

  return {
    keep: async (sources) => {
      signal.throwIfAborted();
      const claimed = Promise.all([maker.name(sources), claims]).then(
        async ([named]) => [named, await claim(named.pieces)] as const,
      );
      claims = claimed.catch(() => undefined);
      const [named, missing] = await claimed;
      await keepMissing(named, missing);
      return named.pieces;
    },
    finish: async () => {
      flush();
      await settle();
      throwFailure();
    },
    settle,
    addedBytes: () => addedBytes,
  };
}
