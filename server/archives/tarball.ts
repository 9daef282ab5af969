/**
 * A folder as a tar archive, of files that somebody may still write to: an archive says first how long a file is, so
 * what has grown meanwhile is cut off there, and what has shrunk is filled up with zeros.
 */
import { type FileHandle, lstat, open, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Headers, type Pack, pack } from "tar-stream";

const pieceBytes = 1 << 20;
/** Files that are read at the same time, because opening one takes longer than reading it. */
const atOnce = 4;
/** Read ahead of whoever takes the archive. */
const aheadBytes = 8 << 20;
const permissions = 0o7777;

/** Just so many bytes from where the file was read to. */
async function read(file: FileHandle, bytes: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await file.read(content, filled, bytes - filled);
    if (bytesRead === 0) content.fill(0, filled);
    filled = bytesRead === 0 ? bytes : filled + bytesRead;
  }
  return content;
}

async function* piecesOf(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let missing = bytes; missing > 0; missing -= pieceBytes) yield await read(file, Math.min(pieceBytes, missing));
}

function addSmall(archive: Pack, header: Headers, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, content, (error) => (error ? reject(error) : resolve()));
  });
}

async function addFile(archive: Pack, name: string, place: string): Promise<void> {
  const file = await open(place, "r");
  try {
    const { size, mode, mtime } = await file.stat();
    const header: Headers = { name, type: "file", size, mode: mode & permissions, mtime };
    if (size <= pieceBytes) await addSmall(archive, header, await read(file, size));
    else await pipeline(piecesOf(file, size), archive.entry(header));
  } finally {
    await file.close();
  }
}

async function addFolder(archive: Pack, name: string, place: string): Promise<void> {
  const { mode, mtime } = await lstat(place);
  archive.entry({ name, type: "directory", mode: mode & permissions, mtime });
}

async function addAll(archive: Pack, folder: string): Promise<void> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).values();
  const addNext = async () => {
    for (const entry of entries) {
      const place = join(entry.parentPath, entry.name);
      const name = relative(folder, place);
      if (entry.isDirectory()) await addFolder(archive, name, place);
      else if (entry.isFile()) await addFile(archive, name, place);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, addNext));
  archive.finalize();
}

/** Files and folders, with their permissions and times; nobody's owner. Nothing may be taken out of the folder meanwhile. */
export function tarOf(folder: string): Readable {
  const archive = pack();
  addAll(archive, folder).catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return Readable.from(archive, { objectMode: false, highWaterMark: aheadBytes });
}
