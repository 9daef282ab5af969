/** Reads a file of a site, which its PHP can replace by anything, as another user who reads more. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const maxBytes = 1 << 20;

/** Returns the beginning of the file, at most 1 MB; empty if it is missing, a link, or no file. */
export async function readSiteFile(file: string): Promise<string> {
  const handle = await open(file, flags).catch(() => null);
  if (handle === null) return "";
  try {
    if (!(await handle.stat()).isFile()) return "";
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
