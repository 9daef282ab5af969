/** Whether two files are equal, byte for byte. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const chunkBytes = 256 * 1024;

/** Whatever has taken a file's place since it was listed is not followed and not waited for. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** As much as fits; less at the end only. */
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

/** Rejects if one of them can't be read. */
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
