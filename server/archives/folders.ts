/** How folders on a disk are dealt with where what is in them must last. */
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/** Whether an error says that there is nothing at the path. Any other says nothing of what is there. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** What was made, renamed or removed in the folder is so also after a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** With those that it lies in, for nobody but us. What was made is there also after a power failure. */
export async function makeLastingFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}
