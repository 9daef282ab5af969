/**
 * Puts pieces into packs, because an object store takes as long for a small object as for a large one, and writes them.
 * A pack counts when it was read back and is, byte for byte, what was written.
 */
import { randomUUID } from "node:crypto";
import type { Blobs } from "./blobs.ts";
import type { PieceBox } from "./pieceBox.ts";
import { keyOf, type PackedPiece, type PieceIndex } from "./pieceIndex.ts";

export interface Packer {
  /** Keeps contents that are not kept yet. Gives the names of all of them, in order. */
  keep(contents: readonly Buffer[]): Promise<readonly Buffer[]>;
  /** Resolves when everything is there. Nothing may follow. */
  finish(): Promise<void>;
  /** Of the packs that were written. */
  addedBytes(): number;
}

export interface PackerOptions {
  readonly blobs: Blobs;
  readonly index: PieceIndex;
  readonly box: PieceBox;
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

export function createPacker({ blobs, index, box, folder, signal }: PackerOptions): Packer {
  const known = new Set<string>();
  let sealed: Buffer[] = [];
  let pieces: PackedPiece[] = [];
  let bytes = 0;
  let added = 0;
  const writing = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;

  async function write(content: Buffer, inside: readonly PackedPiece[]): Promise<void> {
    const pack = randomUUID();
    const name = blobOf(folder, pack);
    await index.beginPack(pack);
    await blobs.put(name, content, signal);
    const back = await blobs.read(name, 0, content.length, signal);
    if (!back.equals(content))
      throw new Error(`The archive store gives back something else than was put under ${name}.`);
    await index.addPack(pack, content.length, inside);
    added += content.length;
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

  async function add(content: Buffer, name: Buffer): Promise<void> {
    const piece = box.seal(content, name);
    pieces.push({ name, start: bytes, length: piece.length });
    sealed.push(piece);
    bytes += piece.length;
    if (bytes >= packBytes) await flush();
  }

  return {
    keep: async (contents) => {
      signal.throwIfAborted();
      const names = contents.map((content) => box.nameOf(content));
      const asked = names.filter((name) => !known.has(keyOf(name)));
      const kept = asked.length === 0 ? known : await index.claim(asked);
      for (const [at, name] of names.entries()) {
        const [key, content] = [keyOf(name), contents[at]];
        if (content === undefined || known.has(key)) continue;
        known.add(key);
        if (!kept.has(key)) await add(content, name);
      }
      return names;
    },
    finish: async () => {
      await flush();
      await Promise.all(writing);
      throwFailure();
    },
    addedBytes: () => added,
  };
}
