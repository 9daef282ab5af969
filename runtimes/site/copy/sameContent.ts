/** Compares two files byte by byte. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const chunkBytes = 256 * 1024;

/** Does not follow links or block on pipes that have replaced a file since it was listed. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Fills the buffer; less only at the end of the file. */
async function fill(file: FileHandle, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

async function sameRest(one: FileHandle, other: FileHandle): Promise<boolean> {
  const buffers = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)] as const;
  for (;;) {
    const [left, right] = await Promise.all([fill(one, buffers[0]), fill(other, buffers[1])]);
    if (!left.equals(right)) return false;
    if (left.length < chunkBytes) return true;
  }
}

/** Whether the files are equal. Rejects if one of them can't be read. */
export async function sameContent(one: string, other: string): Promise<boolean> {
  const left = await open(one, flags);
  try {
    const right = await open(other, flags);
    try {
      return await sameRest(left, right);
    } finally {
      await right.close();
    }
  } finally {
    await left.close();
  }
}
