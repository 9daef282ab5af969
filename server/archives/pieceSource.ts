/** Where the content of a piece is: in memory, or in a part of a file. A thread of its own reads at once, this one never waits. */
import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAbsent } from "./folders.ts";
import { readable } from "./tree.ts";

export interface FilePart {
  /** Bytes, because names of files are not always a text. */
  readonly file: Uint8Array;
  /** How the file is called where something is wrong with it. */
  readonly path: string;
  readonly start: number;
  /** No more than a piece holds. What is read is shorter where the file has become shorter. */
  readonly bytes: number;
}

export type PieceSource = Uint8Array | FilePart;

function inPlace({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Null if the file has vanished. Rejects with `Unreadable`. */
export async function readSource(source: PieceSource): Promise<Buffer | null> {
  if (source instanceof Uint8Array) return inPlace(source);
  const handle = await readable(source.path, open(inPlace(source.file), "r"));
  if (handle === null) return null;
  try {
    return await readPart(handle, source);
  } finally {
    await handle.close();
  }
}

async function readPart(handle: FileHandle, { start, bytes }: FilePart): Promise<Buffer> {
  const content = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await handle.read(content, filled, bytes - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return content.subarray(0, filled);
}

/**
 * The same for a thread that has nothing else to do. What it reads of a file lies in `memory`, which is as long as the part is.
 * Throws what the system says.
 */
export function readSourceSync(source: PieceSource, memory: Buffer): Buffer | null {
  if (source instanceof Uint8Array) return inPlace(source);
  const opened = openSyncIfThere(inPlace(source.file));
  if (opened === null) return null;
  try {
    return readPartSync(opened, source, memory);
  } finally {
    closeSync(opened);
  }
}

function openSyncIfThere(file: Buffer): number | null {
  try {
    return openSync(file, "r");
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function readPartSync(file: number, { start, bytes }: FilePart, memory: Buffer): Buffer {
  let filled = 0;
  while (filled < bytes) {
    const more = readSync(file, memory, filled, bytes - filled, start + filled);
    if (more === 0) break;
    filled += more;
  }
  return memory.subarray(0, filled);
}

/** How much of it is to be read. */
export function bytesToRead(source: PieceSource): number {
  return source instanceof Uint8Array ? 0 : source.bytes;
}
