/**
 * A request's body, whole before a worker gets it: a visitor who sends slowly then holds nobody up. Small ones
 * stay in memory, larger ones go to a file that has no name any more and vanishes with this process.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";

const memoryBytes = 1 << 20;

export interface SpooledBody extends AsyncIterable<Buffer> {
  close(): Promise<void>;
}

async function openNameless(folder: string): Promise<FileHandle> {
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

/** When a piece may be written: others want the same disk. */
export type Write = (work: () => Promise<unknown>) => Promise<unknown>;

/** Reads the whole body. Rejects if the visitor breaks off or the body's own limit does. */
export async function spool(body: Readable, folder: string, write: Write): Promise<SpooledBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let handle: FileHandle | null = null;
  try {
    for await (const piece of body) {
      // A copy of every upload would have memory cleared away all the time, which other sites' visitors wait for.
      const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
      size += chunk.length;
      if (handle === null && size > memoryBytes) handle = await openNameless(folder);
      chunks.push(chunk);
      const file = handle;
      if (file !== null) for (const held of chunks.splice(0)) await write(() => file.write(held));
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
