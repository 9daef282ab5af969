/** Files for large bodies. Each is unlinked as soon as it is open, so it vanishes with this process. */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rm, unlink } from "node:fs/promises";
import path from "node:path";

/** Creates the folder, or removes what a process left that was killed between opening and unlinking a file. */
export async function cleanBodyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

export async function openBodyFile(folder: string): Promise<FileHandle> {
  const file = path.join(folder, randomUUID());
  const handle = await open(file, "wx+", 0o600);
  await unlink(file);
  return handle;
}

const pieceBytes = 1 << 16;

/** Reads the file from its beginning. */
export async function* readBodyFile(handle: FileHandle): AsyncIterable<Buffer> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(pieceBytes);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
