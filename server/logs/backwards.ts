/**
 * Reads lines of files backwards. Reads only as much as the caller consumes, in blocks, so that memory stays small and
 * other work can run between blocks.
 */
import { type FileHandle, open } from "node:fs/promises";

/** What may still be read, for all files together. */
export interface Budget {
  bytes: number;
  /** Deadline, as from `performance.now()`. */
  readonly until: number;
}

const blockBytes = 1 << 18;
/** Longer than any line that the edge writes. */
const maxLineLength = 1 << 14;
const lineFeed = 10;

/**
 * Yields batches of lines, the last line first. Truncates long lines and replaces invalid UTF-8. Reads `files` in the
 * given order, each from its end, and skips missing ones. Stops early when the budget is used up.
 */
export async function* linesBackwards(files: readonly string[], budget: Budget): AsyncGenerator<readonly string[]> {
  for (const file of files) {
    const handle = await openIfThere(file);
    if (handle === null) continue;
    try {
      yield* linesOf(handle, budget);
    } finally {
      await handle.close();
    }
    if (isUsedUp(budget)) return;
  }
}

export function isUsedUp({ bytes, until }: Budget): boolean {
  return bytes <= 0 || performance.now() > until;
}

async function* linesOf(handle: FileHandle, budget: Budget): AsyncGenerator<readonly string[]> {
  let { size: position } = await handle.stat();
  // The known part of a line that starts in the preceding block.
  let rest: Buffer = Buffer.alloc(0);
  while (position > 0) {
    if (isUsedUp(budget)) return;
    const length = Math.min(blockBytes, position);
    position -= length;
    budget.bytes -= length;
    const block = await readAt(handle, position, length);
    const end = position === 0 ? -1 : block.indexOf(lineFeed);
    const known = Buffer.concat([block, rest]);
    if (position > 0 && end === -1) {
      rest = known.subarray(0, maxLineLength + 1);
      continue;
    }
    rest = block.subarray(0, Math.min(Math.max(0, end), maxLineLength + 1));
    yield asLines(known.subarray(end + 1));
  }
}

/** Returns less than `length` if the file has become shorter. */
async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(block, read, length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return block.subarray(0, read);
}

function asLines(bytes: Buffer): readonly string[] {
  const lines = bytes.toString("utf8").split("\n").reverse();
  return lines.map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line));
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
