/**
 * The zip of a plugin or a theme, from wherever it comes: looked through before a single file of it is written. One folder is in
 * it, with the slug's name, files and folders below that, and nothing that would be written elsewhere or be something else
 * than a file.
 */
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";

/** `message` may be shown to the customer. */
export class BadZip extends Error {
  override readonly name = "BadZip";
}

export interface ZipLimits {
  readonly entries: number;
  /** Of all files, unpacked. */
  readonly bytes: number;
}

export const usualZipLimits: ZipLimits = { entries: 50_000, bytes: 1_000_000_000 };

const kindOfFile = 0o170000;
const regular = 0o100000;
const folderKind = 0o040000;
const unix = 3;
const longestPath = 400;

interface Listed {
  /** Segments below the zip's root; the first one is the same in all. */
  readonly segments: readonly string[];
  readonly isFolder: boolean;
  readonly entry: Entry;
}

function refuse(sentence: string): never {
  throw new BadZip(`The package is refused: ${sentence}.`);
}

function listedOf(entry: Entry): Listed {
  const name = entry.fileName;
  const shown = JSON.stringify(name.slice(0, 100));
  const isFolder = name.endsWith("/");
  const segments = (isFolder ? name.slice(0, -1) : name).split("/");
  const isOdd = segments.some((segment) => segment === "" || segment === "." || segment === "..");
  if (isOdd || /[\\\0:]/.test(name) || name.length > longestPath) refuse(`${shown} is no path inside of it`);
  const mode = entry.versionMadeBy >> 8 === unix ? entry.externalFileAttributes >>> 16 : 0;
  const kind = mode & kindOfFile;
  if (kind !== 0 && kind !== (isFolder ? folderKind : regular)) refuse(`${shown} is neither a file nor a folder`);
  if (entry.isEncrypted()) refuse(`${shown} is encrypted`);
  return { segments, isFolder, entry };
}

/** On some disks names in capitals and small letters are one. */
const placeOf = ({ segments }: Pick<Listed, "segments">): string => segments.join("/").toLowerCase();

/** All of it; nothing is read of the files yet. */
async function list(zip: ZipFile, limits: ZipLimits): Promise<readonly Listed[]> {
  if (zip.entryCount > limits.entries) refuse(`it has more than ${limits.entries.toLocaleString("en")} files`);
  const listed: Listed[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    listed.push(listedOf(entry));
    bytes += entry.uncompressedSize;
    if (bytes > limits.bytes) refuse(`it takes more than ${Math.round(limits.bytes / 1e6)} MB when it is unpacked`);
  }
  const files = new Set(listed.filter(({ isFolder }) => !isFolder).map(placeOf));
  const places = new Set<string>();
  for (const one of listed) {
    if (places.has(placeOf(one))) refuse(`${JSON.stringify(one.segments.join("/"))} is in it twice`);
    places.add(placeOf(one));
    const above = one.segments.slice(0, -1).map((_, at) => placeOf({ segments: one.segments.slice(0, at + 1) }));
    if (above.some((place) => files.has(place))) refuse(`${JSON.stringify(one.segments.join("/"))} lies in a file`);
  }
  return listed;
}

/** Wrong in the zip itself: cut short, changed, or something else. */
async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof BadZip || !(cause instanceof Error) || "code" in cause) throw cause;
    if (/path|fileName/.test(cause.message)) refuse("a path in it leads out of it");
    throw new BadZip("The package is refused: it is damaged, cut short, or no zip.", { cause });
  }
}

/** The name of the one folder in which everything is; null if there is none, or more. */
function rootOf(listed: readonly Listed[]): string | null {
  const [root] = listed[0]?.segments ?? [];
  const isOne = listed.every(({ segments, isFolder }) => segments[0] === root && (isFolder || segments.length > 1));
  return root !== undefined && isOne ? root : null;
}

async function withZip<T>(
  file: string,
  limits: ZipLimits,
  work: (zip: ZipFile, listed: readonly Listed[]) => Promise<T>,
) {
  const zip = await readable(openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true }));
  try {
    return await work(zip, await readable(list(zip, limits)));
  } finally {
    zip.close();
  }
}

/** What a file in it holds, whose check sum is right. */
async function* contentOf(zip: ZipFile, { entry }: Listed): AsyncGenerator<Buffer> {
  let sum = 0;
  const stream = await zip.openReadStreamPromise(entry);
  for await (const chunk of stream) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32) refuse(`${JSON.stringify(entry.fileName.slice(0, 100))} is damaged`);
}

/**
 * Unpacks it into the new `folder`, which is that of the slug. Rejects with `BadZip`, and leaves what it has written: whoever
 * asked removes it.
 */
export async function unpackZip(
  file: string,
  slug: string,
  folder: string,
  signal: AbortSignal,
  limits = usualZipLimits,
): Promise<void> {
  await withZip(file, limits, async (zip, listed) => {
    const root = rootOf(listed);
    if (root === null) refuse("not everything in it is in one folder");
    if (root !== slug) refuse(`it holds ${JSON.stringify(root.slice(0, 100))}, and not ${slug}`);
    await mkdir(folder);
    for (const one of listed) {
      signal.throwIfAborted();
      const place = path.join(folder, ...one.segments.slice(1));
      await mkdir(one.isFolder ? place : path.dirname(place), { recursive: true });
      if (one.isFolder) continue;
      await readable(
        pipeline(
          contentOf(zip, one),
          atMost(one.entry.uncompressedSize),
          createWriteStream(place, { flags: "wx", mode: 0o644 }),
          { signal },
        ),
      );
    }
  });
}

/** A file that unpacks to more than it says is a trap. */
function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      left -= chunk.length;
      if (left < 0) done(new BadZip("The package is refused: a file in it is longer than it says."));
      else done(null, chunk);
    },
  });
}

/** The root folder of a zip and, of its files directly in it that `isWanted`, the beginnings. */
export async function readZipHeaders(
  file: string,
  isWanted: (name: string) => boolean,
  bytes: number,
): Promise<{ readonly root: string | null; readonly beginnings: ReadonlyMap<string, Buffer> }> {
  return withZip(file, usualZipLimits, async (zip, listed) => {
    const beginnings = new Map<string, Buffer>();
    for (const one of listed) {
      const [, name = "", ...deeper] = one.segments;
      if (one.isFolder || deeper.length > 0 || !isWanted(name)) continue;
      const parts: Buffer[] = [];
      let read = 0;
      const stream = await zip.openReadStreamPromise(one.entry);
      for await (const chunk of stream) {
        parts.push(chunk);
        read += chunk.length;
        if (read >= bytes) break;
      }
      beginnings.set(name, Buffer.concat(parts).subarray(0, bytes));
    }
    return { root: rootOf(listed), beginnings };
  });
}
