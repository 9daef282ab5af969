/**
 * Unpacks untrusted zips of plugins and themes. The whole list of files is checked before anything is written: everything must
 * be in a single folder named after the slug, and there may be only files and folders, with paths inside that folder.
 */
import { createHash } from "node:crypto";
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

/** A zip in a folder of zips. */
export interface ZipPlace {
  /** Path in the folder, with slashes. */
  readonly name: string;
  readonly zip: string;
  readonly updated: Date;
}

interface ZipLimits {
  readonly entries: number;
  /** Total size of the unpacked files. */
  readonly bytes: number;
}

export const defaultZipLimits: ZipLimits = { entries: 50_000, bytes: 1_000_000_000 };

const kindOfFile = 0o170000;
const regular = 0o100000;
const folderKind = 0o040000;
const unix = 3;
const maxPathLength = 400;

interface Listed {
  /** Segments of the path in the zip. */
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
  if (isOdd || /[\\\0:]/.test(name) || name.length > maxPathLength) refuse(`${shown} is not a valid path`);
  const mode = entry.versionMadeBy >> 8 === unix ? entry.externalFileAttributes >>> 16 : 0;
  const kind = mode & kindOfFile;
  if (kind !== 0 && kind !== (isFolder ? folderKind : regular)) refuse(`${shown} is neither a file nor a folder`);
  if (entry.isEncrypted()) refuse(`${shown} is encrypted`);
  return { segments, isFolder, entry };
}

/** Case-insensitive, because some file systems are. */
const pathKeyOf = ({ segments }: Pick<Listed, "segments">): string => segments.join("/").toLowerCase();

/** Lists and checks all entries, without reading file contents. */
async function list(zip: ZipFile, limits: ZipLimits): Promise<readonly Listed[]> {
  if (zip.entryCount > limits.entries) refuse(`it has more than ${limits.entries.toLocaleString("en")} files`);
  const listed: Listed[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    listed.push(listedOf(entry));
    bytes += entry.uncompressedSize;
    if (bytes > limits.bytes) refuse(`it needs more than ${Math.round(limits.bytes / 1e6)} MB when unpacked`);
  }
  const files = new Set(listed.filter(({ isFolder }) => !isFolder).map(pathKeyOf));
  const seen = new Set<string>();
  for (const one of listed) {
    if (seen.has(pathKeyOf(one))) refuse(`${JSON.stringify(one.segments.join("/"))} is in it twice`);
    seen.add(pathKeyOf(one));
    const above = one.segments.slice(0, -1).map((_, at) => pathKeyOf({ segments: one.segments.slice(0, at + 1) }));
    if (above.some((place) => files.has(place))) refuse(`${JSON.stringify(one.segments.join("/"))} is inside a file`);
  }
  return listed;
}

/** Turns errors of the zip library into `BadZip`. */
async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof BadZip || !(cause instanceof Error) || "code" in cause) throw cause;
    if (/path|fileName/.test(cause.message)) refuse("a path in it leads outside");
    throw new BadZip("The package is refused: it is damaged, truncated, or not a zip.", { cause });
  }
}

/** The single folder that contains everything, or null. */
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
  const zip = await explained(openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true }));
  try {
    return await work(zip, await explained(list(zip, limits)));
  } finally {
    zip.close();
  }
}

/** Yields a file's content, and checks its checksum. */
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
 * Unpacks a zip into the new folder `folder`, without the zip's root folder. Rejects with `BadZip`; the caller must then
 * remove the folder.
 */
export async function unpackZip(
  file: string,
  slug: string,
  folder: string,
  signal: AbortSignal,
  limits = defaultZipLimits,
): Promise<void> {
  await withZip(file, limits, async (zip, listed) => {
    const root = rootOf(listed);
    if (root === null) refuse("its content is not in a single folder");
    if (root !== slug) refuse(`it contains ${JSON.stringify(root.slice(0, 100))} instead of ${slug}`);
    await mkdir(folder);
    for (const one of listed) {
      signal.throwIfAborted();
      const place = path.join(folder, ...one.segments.slice(1));
      await mkdir(one.isFolder ? place : path.dirname(place), { recursive: true });
      if (one.isFolder) continue;
      await explained(
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

/** Rejects zip bombs: files that are larger than they declare. */
function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      left -= chunk.length;
      if (left < 0) done(new BadZip("The package is refused: a file in it is larger than declared."));
      else done(null, chunk);
    },
  });
}

/** Reads the root folder's name, or null if there is none, and the beginnings of the wanted files by their path in the zip. */
export async function readZipHeaders(
  file: string,
  isWanted: (path: string) => boolean,
  bytes: number,
): Promise<{ readonly root: string | null; readonly beginnings: ReadonlyMap<string, Buffer> }> {
  return withZip(file, defaultZipLimits, async (zip, listed) => {
    const beginnings = new Map<string, Buffer>();
    for (const one of listed) {
      if (one.isFolder || !isWanted(one.entry.fileName)) continue;
      const parts: Buffer[] = [];
      let read = 0;
      const stream = await zip.openReadStreamPromise(one.entry);
      for await (const chunk of stream) {
        parts.push(chunk);
        read += chunk.length;
        if (read >= bytes) break;
      }
      beginnings.set(one.entry.fileName, Buffer.concat(parts).subarray(0, bytes));
    }
    return { root: rootOf(listed), beginnings };
  });
}

/** Checksums of a file, as WordPress.org publishes them: hexadecimal. */
export interface FileChecksums {
  readonly md5: string;
  readonly sha256: string;
}

/** Returns the checksums of all files, by their path without the root folder. Rejects with `BadZip`. */
export async function readZipChecksums(file: string): Promise<ReadonlyMap<string, FileChecksums>> {
  return withZip(file, defaultZipLimits, async (zip, listed) => {
    const sums = new Map<string, FileChecksums>();
    for (const one of listed) {
      if (one.isFolder) continue;
      const [md5, sha256] = [createHash("md5"), createHash("sha256")];
      for await (const chunk of contentOf(zip, one)) {
        md5.update(chunk);
        sha256.update(chunk);
      }
      sums.set(one.segments.slice(1).join("/"), { md5: md5.digest("hex"), sha256: sha256.digest("hex") });
    }
    return sums;
  });
}
