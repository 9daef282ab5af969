/** Files that are there whole or not at all, and stay after a power failure. */
import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

export interface DurableFileOptions {
  /** Permissions of the file; 0600 unless told. Its folder is made with 0700 where it is absent. */
  readonly mode?: number;
}

/** Replaces `file` by one that holds `content`. A reader sees the old content or the new, whatever happens. */
export async function writeDurableFile(
  file: string,
  content: string | Uint8Array,
  options: DurableFileOptions = {},
): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(beside, "wx", options.mode ?? 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Makes a rename or a link in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
