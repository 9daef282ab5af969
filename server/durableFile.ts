/** Atomic and durable files. */
import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

interface DurableFileOptions {
  /** Permissions of the file; by default 0600. A missing folder is created with 0700. */
  readonly mode?: number;
}

/** Replaces the content of `file`. Readers see either the old or the new content. */
export async function writeDurableFile(
  file: string,
  content: string | Uint8Array,
  options: DurableFileOptions = {},
): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(temporary, "wx", options.mode ?? 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

const temporaryName = /\.\d+\.[0-9a-f]{12}$/;

/** Whether a file's name is that of a temporary file. A process that is killed while it writes leaves one behind. */
export function isTemporaryName(name: string): boolean {
  return temporaryName.test(name);
}

/** Makes renames and links in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
