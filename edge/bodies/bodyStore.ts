/**
 * Stores one request body until PHP reads it: in memory while it is small and the budget for memory has room, otherwise
 * in a file. Space is claimed before it is used.
 */
import type { FileHandle } from "node:fs/promises";
import { openBodyFile, readBodyFile } from "./bodyFile.ts";
import type { Claim } from "./budget.ts";
import { blockBytes, createChunks } from "./chunks.ts";

/** A complete request body. It can be read more than once. */
export interface Body extends AsyncIterable<Buffer> {
  readonly bytes: number;
  /** Frees its space. Further calls have no effect. */
  close(): Promise<void>;
}

/** There is no space for the body at the moment. */
export class NoRoom extends Error {
  override readonly name = "NoRoom";
}

export interface BodyStore {
  /** Claims space for a body of this size. Throws `NoRoom`. */
  reserve(bytes: number): Promise<void>;
  /** Throws `NoRoom`, or the error of the file system. */
  add(chunk: Buffer): Promise<void>;
  body(): Body;
}

interface Storage {
  readonly memory: Claim;
  readonly disk: Claim;
  /** The budget for memory. */
  readonly memoryBytes: number;
  /** The current budget for files. */
  readonly diskBytes: () => Promise<number>;
  readonly folder: string;
  /** Runs a write when the limit of concurrent writes allows it. */
  readonly write: (work: () => Promise<unknown>) => Promise<unknown>;
}

/** Larger bodies go to a file. */
const maxBytesInMemory = 1 << 20;
/** A file's claim is raised in steps, because asking for the free disk space takes time. */
const stepBytes = 1 << 20;

export function createBodyStore({ memory, disk, memoryBytes, diskBytes, folder, write }: Storage): BodyStore {
  const chunks = createChunks();
  let size = 0;
  let reserved = 0;
  let file: FileHandle | null = null;

  async function reserve(bytes: number): Promise<void> {
    if (bytes <= reserved) return;
    if (file === null && bytes <= maxBytesInMemory && memory.raise(bytes, memoryBytes)) {
      reserved = bytes;
      return;
    }
    const limit = await diskBytes();
    const rounded = Math.ceil(bytes / stepBytes) * stepBytes;
    const granted = [rounded, bytes].find((wanted) => disk.raise(wanted, limit));
    if (granted === undefined) throw new NoRoom("There is no space for the request's body.");
    reserved = granted;
    file ??= await openBodyFile(folder);
  }

  /** The last few bytes stay in memory, so that small chunks don't become small writes. */
  async function writeChunks(to: FileHandle): Promise<void> {
    if (chunks.size() < blockBytes) return;
    for (const chunk of chunks.buffers()) await write(() => to.write(chunk));
    chunks.clear();
    memory.release();
  }

  async function* read(): AsyncIterable<Buffer> {
    if (file !== null) yield* readBodyFile(file);
    yield* chunks.buffers();
  }

  return {
    reserve,
    async add(chunk) {
      size += chunk.length;
      await reserve(size);
      chunks.add(chunk);
      if (file !== null) await writeChunks(file);
    },
    body: () => ({
      bytes: size,
      [Symbol.asyncIterator]: () => read()[Symbol.asyncIterator](),
      async close() {
        const open = file;
        file = null;
        chunks.clear();
        memory.release();
        // Only then is the space free again.
        await open?.close();
        disk.release();
      },
    }),
  };
}
