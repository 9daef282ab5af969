/**
 * Reads a request's complete body before a worker gets it, so that slow visitors don't occupy workers. Small bodies
 * stay in memory; larger ones go to an unlinked file, which vanishes with this process.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";

const memoryBytes = 1 << 20;

export interface SpooledBody extends AsyncIterable<Buffer> {
  close(): Promise<void>;
}

async function openUnlinked(folder: string): Promise<FileHandle> {
  const file = path.join(folder, `body-${randomUUID()}`);
  const handle = await open(file, "wx+", 0o600);
  await unlink(file);
  return handle;
}

async function* readAll(handle: FileHandle): AsyncIterable<Buffer> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(1 << 16);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Runs a write when the disk limit allows it. */
export type Write = (work: () => Promise<unknown>) => Promise<unknown>;

/** Reads the complete body. Rejects if the visitor disconnects or the body exceeds its limit. */
export async function spool(body: Readable, folder: string, write: Write): Promise<SpooledBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let handle: FileHandle | null = null;
  try {
    for await (const piece of body) {
      // Copying every upload would cause much garbage collection, which delays other sites' visitors.
      const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
      size += chunk.length;
      if (handle === null && size > memoryBytes) handle = await openUnlinked(folder);
      chunks.push(chunk);
      const file = handle;
      if (file !== null) for (const pending of chunks.splice(0)) await write(() => file.write(pending));
    }
  } catch (error) {
    await handle?.close();
    throw error;
  }
  const file = handle;
  return {
    [Symbol.asyncIterator]: () => (file === null ? toAsync(chunks) : readAll(file))[Symbol.asyncIterator](),
    close: async () => {
      await file?.close();
    },
  };
}

async function* toAsync(chunks: readonly Buffer[]): AsyncIterable<Buffer> {
  yield* chunks;
}
