/** The source of a piece's content: memory or a part of a file. Worker threads read synchronously, the main thread does not. */
import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAbsent } from "./folders.ts";
import { orNullIfVanished } from "./tree.ts";

export interface FilePart {
  /** Bytes, because file names are not always valid UTF-8. */
  readonly file: Uint8Array;
  /** Path for error messages. */
  readonly path: string;
  readonly start: number;
  /** At most the size of a piece. Less is read if the file has become shorter. */
  readonly bytes: number;
}

export type PieceSource = Uint8Array | FilePart;

function inPlace({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Null if the file has vanished. Rejects with `Unreadable`. */
export async function readSource(source: PieceSource): Promise<Buffer | null> {
  if (source instanceof Uint8Array) return inPlace(source);
  const handle = await orNullIfVanished(source.path, open(inPlace(source.file), "r"));
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
 * Synchronous version for worker threads. Reads files into `memory`, which is as long as the part. Throws system errors
 * unchanged.
 */
export function readSourceSync(source: PieceSource, memory: Buffer): Buffer | null {
  if (source instanceof Uint8Array) return inPlace(source);
  const opened = openSyncOrNull(inPlace(source.file));
  if (opened === null) return null;
  try {
    return readPartSync(opened, source, memory);
  } finally {
    closeSync(opened);
  }
}

function openSyncOrNull(file: Buffer): number | null {
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

/** Number of bytes to read from a file. */
export function bytesToRead(source: PieceSource): number {
  return source instanceof Uint8Array ? 0 : source.bytes;
}
