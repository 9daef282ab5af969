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
  // The same memory for all blocks: a long search would otherwise leave more garbage than the budget's bytes.
  const memory = Buffer.allocUnsafe(blockBytes + maxLineLength + 1);
  // The known part of a line that starts in the preceding block: its first bytes.
  const rest = { bytes: Buffer.alloc(maxLineLength + 1), length: 0 };
  while (position > 0) {
    if (isUsedUp(budget)) return;
    const wanted = Math.min(blockBytes, position);
    position -= wanted;
    budget.bytes -= wanted;
    const length = await readAt(handle, position, memory.subarray(0, wanted));
    const known = memory.subarray(0, length + rest.bytes.copy(memory, length, 0, rest.length));
    const end = position === 0 ? -1 : memory.subarray(0, length).indexOf(lineFeed);
    const isWithinLine = position > 0 && end === -1;
    const lines = isWithinLine ? null : asLines(known.subarray(end + 1));
    rest.length = known.copy(rest.bytes, 0, 0, isWithinLine ? known.length : Math.max(0, end));
    if (lines !== null) yield lines;
  }
}

/** Fills `block`. Returns the number of bytes, which is smaller if the file has become shorter. */
async function readAt(handle: FileHandle, position: number, block: Buffer): Promise<number> {
  let read = 0;
  while (read < block.length) {
    const { bytesRead } = await handle.read(block, read, block.length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return read;
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
