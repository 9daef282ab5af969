/**
 * Puts pieces into packs, because an object store takes as long for a small object as for a large one, and writes them.
 * A pack counts when it was read back and is, byte for byte, what was written.
 */
import { randomUUID } from "node:crypto";
import { BlobMissing, type Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { keyOf, type PackedPiece, type PieceIndex } from "./pieceIndex.ts";
import type { PieceMaker } from "./pieceMaker.ts";

export interface Packer {
  /** Keeps contents that are not kept yet. One call after the other. Gives the names of all of them, in order. */
  keep(contents: readonly Buffer[]): Promise<readonly Buffer[]>;
  /** Resolves when everything is there. Nothing may follow. */
  finish(): Promise<void>;
  /** Waits for what is being written, whatever becomes of it. Nothing may follow. */
  settle(): Promise<void>;
  /** Of the packs that were written. */
  addedBytes(): number;
}

export interface PackerOptions {
  readonly blobs: Blobs;
  readonly index: PieceIndex;
  /** Of the blob store, for the company's packs. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

const packBytes = 16 << 20;
/** Packs on their way: until one is safely on a disk takes much longer than to fill the next. */
const atOnce = 4;

export function blobOf(folder: string, pack: string): string {
  return `${folder}/${pack}`;
}

export function createPacker({ blobs, index, folder, signal }: PackerOptions, maker: PieceMaker): Packer {
  const known = new Set<string>();
  let sealed: Buffer[] = [];
  let pieces: PackedPiece[] = [];
  let bytes = 0;
  let addedBytes = 0;
  const writing = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;

  async function write(content: Buffer, inside: readonly PackedPiece[]): Promise<void> {
    const pack = randomUUID();
    const name = blobOf(folder, pack);
    await index.beginPack(pack);
    await blobs.put(name, content, signal);
    const back = await blobs.read(name, 0, content.length, signal).catch((error: unknown) => {
      if (error instanceof BlobMissing) return null;
      throw error;
    });
    if (!back?.equals(content)) {
      const summary = "The archive store does not give back what was put into it.";
      throw new ObjectStoreFailure(`${summary} It was put under ${name}.`, { isTransient: false, summary });
    }
    await index.addPack(pack, content.length, inside);
    addedBytes += content.length;
  }

  async function flush(): Promise<void> {
    if (pieces.length === 0) return;
    const [content, inside] = [Buffer.concat(sealed), pieces];
    [sealed, pieces, bytes] = [[], [], 0];
    while (writing.size >= atOnce) await Promise.race(writing);
    throwFailure();
    // Whoever flushes next, or finishes, hears of a failure.
    const one = write(content, inside)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => writing.delete(one));
    writing.add(one);
  }

  function throwFailure(): void {
    if (failure !== null) throw failure.error;
  }

  async function settle(): Promise<void> {
    await Promise.all(writing);
  }

  async function add(name: Buffer, piece: Buffer): Promise<void> {
    pieces.push({ name, start: bytes, length: piece.length });
    sealed.push(piece);
    bytes += piece.length;
    if (bytes >= packBytes) await flush();
  }

  return {
    keep: async (contents) => {
      signal.throwIfAborted();
      const names = await maker.name(contents);
      const asked = names.filter((name) => !known.has(keyOf(name)));
      const kept = asked.length === 0 ? known : await index.claim(asked);
      const missing = [...names.entries()].filter(([, name]) => {
        const key = keyOf(name);
        const isMissing = !known.has(key) && !kept.has(key);
        known.add(key);
        return isMissing;
      });
      const sealed = missing.length === 0 ? [] : await maker.seal(missing.map(([place]) => place));
      for (const [at, piece] of sealed.entries()) {
        const name = missing[at]?.[1];
        if (name !== undefined) await add(name, piece);
      }
      return names;
    },
    finish: async () => {
      await flush();
      await settle();
      throwFailure();
    },
    settle,
    addedBytes: () => addedBytes,
  };
}
