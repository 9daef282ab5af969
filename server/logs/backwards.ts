/**
 * Lines of files from the end on, without reading more than is wanted: however long a file is, a little of it is in memory
 * at a time, and others have their turn between two pieces.
 */
import { type FileHandle, open } from "node:fs/promises";

/** What may be read yet, of all files together. */
export interface Budget {
  bytes: number;
  /** As `performance.now()` has it. */
  readonly until: number;
}

const blockBytes = 1 << 18;
/** Longer than any that the edge writes. */
const longestLine = 1 << 14;
const lineEnd = 10;

/**
 * Lines, the last one first, some at a time; what is too long is cut, and what is no UTF-8 is replaced. Of `files` the first is
 * read first; one that is gone is none. Ends early, with nothing left of it, where the budget is used up.
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
  // The beginning of a line, or of what is known of it, whose own beginning is in the block before.
  let rest: Buffer = Buffer.alloc(0);
  while (position > 0) {
    if (isUsedUp(budget)) return;
    const length = Math.min(blockBytes, position);
    position -= length;
    budget.bytes -= length;
    const block = await readAt(handle, position, length);
    const end = position === 0 ? -1 : block.indexOf(lineEnd);
    const known = Buffer.concat([block, rest]);
    if (position > 0 && end === -1) {
      rest = known.subarray(0, longestLine + 1);
      continue;
    }
    rest = block.subarray(0, Math.min(Math.max(0, end), longestLine + 1));
    yield asLines(known.subarray(end + 1));
  }
}

/** Less than `length` where the file has become shorter meanwhile. */
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
  return lines.map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
