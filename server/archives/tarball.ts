/**
 * A folder as a tar archive, of files that somebody may still write to: an archive says first how long a file is, so
 * what has grown meanwhile is cut off there, and what has shrunk is filled up with zeros.
 */
import type { Stats } from "node:fs";
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
const latestMilliseconds = (2 ** 31 - 1) * 1000;

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

/** What the archive says of permissions and times; it knows none before 1970 nor after 2038. */
function factsOf({ mode, mtimeMs }: Stats): Pick<Headers, "mode" | "mtime"> {
  const mtime = new Date(Math.min(Math.max(mtimeMs, 0), latestMilliseconds));
  return { mode: mode & permissions, mtime };
}

/** Waits until the archive has taken it. */
function addWhole(archive: Pack, header: Headers, content: Buffer = Buffer.alloc(0)): Promise<void> {
  return new Promise((resolve, reject) => {
    const isDone = (error?: Error | null) => (error ? reject(error) : resolve());
    const isFolder = header.type === "directory";
    const entry = isFolder ? archive.entry(header, isDone) : archive.entry(header, content, isDone);
    // Where nobody listens, an archive that breaks off would end the process.
    entry.on("error", reject);
  });
}

async function addFile(archive: Pack, name: string, place: string): Promise<void> {
  const file = await open(place, "r");
  try {
    const facts = await file.stat();
    const { size } = facts;
    const header: Headers = { name, type: "file", size, ...factsOf(facts) };
    if (size <= pieceBytes) await addWhole(archive, header, await read(file, size));
    else await pipeline(piecesOf(file, size), archive.entry(header));
  } finally {
    await file.close();
  }
}

async function addFolder(archive: Pack, name: string, place: string): Promise<void> {
  await addWhole(archive, { name, type: "directory", ...factsOf(await lstat(place)) });
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
