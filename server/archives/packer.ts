/**
 * Combines pieces into packs, because a small object takes an object store as long as a large one, and writes them. A pack is
 * added to the index only after it was read back and compared.
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
  /** Stores new contents. Returns all pieces, in order, or null for a vanished file. Can be called several times in parallel. */
  store(sources: readonly PieceSource[]): Promise<readonly (NamedPiece | null)[]>;
  /** Resolves when everything is stored. No calls may follow. */
  finish(): Promise<void>;
  /** Waits for running writes, including failing ones. No calls may follow. */
  settle(): Promise<void>;
  /** Size of the packs that were written. */
  addedBytes(): number;
}

/** Minimum size of every pack but the last. Larger batches are written without copying, which takes as long as hashing. */
const packBytes = 4 << 20;
/** Batches that are combined are smaller than a pack. */
const memoryBytes = 2 * packBytes;
const minMemoryBytes = 64 << 10;
/** Packs written in parallel: writing one durably takes much longer than filling the next. */
const concurrency = 4;

/** Returns a larger buffer with the same content. Small backups need little memory. */
function larger(memory: Buffer, atLeast: number): Buffer {
  const bytes = Math.max(minMemoryBytes, atLeast, memory.length * 8);
  const next = Buffer.allocUnsafe(Math.min(bytes, memoryBytes));
  memory.copy(next);
  return next;
}

export function createPacker({ blobs, box, index, folder, signal }: PieceStore, maker: PieceMaker): Packer {
  const known = new Set<string>();
  /** The pack that is being filled. */
  let memory: Buffer = Buffer.alloc(0);
  let pieces: PackedPiece[] = [];
  let bytes = 0;
  let addedBytes = 0;
  const writing = new Set<Promise<void>>();
  /** Free buffers of packs. Reusing them avoids garbage collection. */
  const unused: Buffer[] = [];
  let failure: { readonly error: unknown } | null = null;
  /** Serializes claims of parallel calls. */
  let claims: Promise<unknown> = Promise.resolve();

  async function write(content: Buffer, inside: readonly PackedPiece[]): Promise<void> {
    const pack = randomUUID();
    const name = blobOf(folder, pack);
    await index.beginPack(pack, box.keyId);
    await blobs.put(name, content, signal);
    await requireStored(name, content);
    await index.addPack(pack, content.length, inside);
    addedBytes += content.length;
  }

  /** A free buffer of at least this length, or null. */
  function takeUnused(length: number): Buffer | null {
    const found = unused.findIndex((memory) => memory.length >= length);
    return found < 0 ? null : (unused.splice(found, 1)[0] ?? null);
  }

  async function requireStored(name: string, content: Buffer): Promise<void> {
    const memory = takeUnused(content.length) ?? Buffer.allocUnsafe(content.length);
    const stored = await blobs.read(name, 0, content.length, signal, memory).catch((error: unknown) => {
      if (error instanceof BlobMissing) return null;
      throw error;
    });
    if (!stored?.equals(content)) {
      const summary = "The archive store does not return the data that was stored.";
      throw new ObjectStoreFailure(`${summary} It was stored as ${name}.`, { isTransient: false, summary });
    }
    unused.push(memory);
  }

  /** Starts writing a pack. The content must not change until `done` is called. */
  function startWriting(content: Buffer, inside: readonly PackedPiece[], done: () => void): void {
    // A failure is reported by the next call that stores something or finishes.
    const one = write(content, inside)
      .then(done)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => writing.delete(one));
    writing.add(one);
  }

  /** Starts writing the combined pieces. */
  function flush(): void {
    if (bytes === 0) return;
    const full = memory;
    startWriting(full.subarray(0, bytes), pieces, () => void unused.push(full));
    [memory, pieces, bytes] = [takeUnused(memoryBytes) ?? Buffer.alloc(0), [], 0];
  }

  async function waitForCapacity(): Promise<void> {
    while (writing.size >= concurrency) await Promise.race(writing);
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
    const isWholePack = content.length >= packBytes;
    let start = isWholePack ? 0 : bytes;
    const inside = lengths.map((length, at) => {
      start += length;
      return { name: names[at] ?? Buffer.alloc(0), start: start - length, length };
    });
    if (isWholePack) {
      startWriting(content, inside, done);
      return;
    }
    if (start > memory.length) memory = larger(memory, start);
    content.copy(memory, bytes);
    done();
    for (const piece of inside) pieces.push(piece);
    bytes = start;
    if (bytes >= packBytes) flush();
  }

  /** Returns the positions of the pieces that must be stored. */
  async function claim(pieces: NamedPieces["pieces"]): Promise<readonly number[]> {
    const named = pieces.flatMap((piece, place) =>
      piece === null || piece.bytes === 0 ? [] : [{ place, name: piece.name, key: keyOf(piece.name) }],
    );
    const unknown = named.filter(({ key }) => !known.has(key)).map(({ name }) => name);
    const stored = unknown.length === 0 ? known : await index.claim(unknown);
    const missing = named.filter(({ key }) => {
      const isMissing = !known.has(key) && !stored.has(key);
      known.add(key);
      return isMissing;
    });
    return missing.map(({ place }) => place);
  }

  async function storeMissing({ pieces: named, seal }: NamedPieces, missing: readonly number[]): Promise<void> {
    const names = missing.flatMap((place) => named[place]?.name ?? []);
    add(await seal(missing), names);
    await waitForCapacity();
  }

  return {
    store: async (sources) => {
      signal.throwIfAborted();
      const claimed = Promise.all([maker.name(sources), claims]).then(
        async ([named]) => [named, await claim(named.pieces)] as const,
      );
      claims = claimed.catch(() => undefined);
      const [named, missing] = await claimed;
      await storeMissing(named, missing);
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
