/**
 * Zips a folder in a form that any program can unpack. The zip is streamed to the disk, so there is no limit on its size or
 * number of files. Links and similar entries are left out. See `docs/decisions/downloads.md`.
 */
import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { openPromise } from "yauzl";
import { ZipFile } from "yazl";
import { diskPath, listTree, type Tree } from "./tree.ts";

/** The checksum function of yazl is written in JavaScript and takes half of its time. Node's is ten times as fast. */
const checksums: { unsigned: typeof crc32 } = createRequire(import.meta.resolve("yazl"))("buffer-crc32");
checksums.unsigned = crc32;

/** A name that not every program can unpack, and the name used in the zip. */
export interface Renamed {
  readonly from: string;
  readonly to: string;
}

export interface Zip {
  /** The folder to zip. */
  readonly root: string;
  /** An additional file. */
  readonly readme: { readonly name: string; readonly text: (renamed: readonly Renamed[]) => string };
}

/** Already compressed: compressing them again saves nothing. */
const compressed =
  /\.(jpe?g|png|gif|webp|avif|heic|mp[34]|m4[av]|mov|webm|og[gv]|woff2?|zip|gz|tgz|bz2|xz|zst|7z|rar|docx|xlsx|pptx)$/i;
/** Permissions that suit any web server, whose user may not own the files. */
const fileMode = 0o100644;
const programMode = 0o100755;
const folderMode = 0o040755;
const ownerRuns = 0o100;
/** Files from this size, with some margin, need the Zip64 format. */
const largeBytes = 4_000_000_000;
/** The range of times in the zip format. */
const earliest = Date.UTC(1980, 0, 2);
const latest = Date.UTC(2038, 0, 1);

function nameFor(segment: string): string {
  const bytes = Buffer.from(segment, "latin1");
  const text = bytes.toString("utf8");
  if (isUtf8(bytes) && !/\p{Cc}|\\/u.test(text)) return text;
  const escaped = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return segment.replace(/[^ -~]|[\\%]/g, (character) => escaped(character.charCodeAt(0)));
}

/** A unique name in the zip for each path. */
function namesIn({ folders, files }: Tree): ReadonlyMap<string, string> {
  const names = new Map([["", ""]]);
  const taken = new Set<string>();
  for (const { path } of [...folders, ...files]) {
    const end = path.lastIndexOf("/");
    const parent = names.get(path.slice(0, Math.max(0, end))) ?? "";
    const start = parent === "" ? "" : `${parent}/`;
    let name = start + nameFor(path.slice(end + 1));
    while (taken.has(name)) name += "~";
    taken.add(name);
    names.set(path, name);
  }
  return names;
}

function renamedIn(names: ReadonlyMap<string, string>): readonly Renamed[] {
  return [...names]
    .map(([path, to]) => ({ from: Buffer.from(path, "latin1").toString("utf8"), to }))
    .filter(({ from, to }) => from !== to);
}

function timeOf(modified: bigint): Date {
  return new Date(Math.min(latest, Math.max(earliest, Number(modified / 1_000_000n))));
}

/** Other folders are implied by their files. */
function emptyFolders({ folders, files }: Tree): readonly string[] {
  const inside = new Set([...folders, ...files].map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
  return folders.map(({ path }) => path).filter((path) => !inside.has(path));
}

interface Entry {
  readonly name: string;
  readonly bytes: number;
  readonly mtime: Date;
  readonly mode: number;
  readonly open: () => Readable;
}

function entriesOf({ root, readme }: Zip, { files }: Tree, names: ReadonlyMap<string, string>): readonly Entry[] {
  const text = Buffer.from(readme.text(renamedIn(names)));
  const first = {
    name: readme.name,
    bytes: text.length,
    mtime: new Date(),
    mode: fileMode,
    open: () => Readable.from([text]),
  };
  const others = files.map(({ path, bytes, mode, modified }) => ({
    name: names.get(path) ?? "",
    bytes,
    mtime: timeOf(modified),
    mode: (mode & ownerRuns) === 0 ? fileMode : programMode,
    // A file that grows in the meantime, such as a log, is read up to its listed size.
    open: () =>
      bytes === 0
        ? Readable.from([])
        : createReadStream(diskPath(root, path), { end: bytes - 1, highWaterMark: 1 << 20 }),
  }));
  return [first, ...others];
}

/** Adds the entries in sequence: each is opened when the previous one has been read. `opened` is called with each stream. */
async function feed(
  zip: ZipFile,
  entries: readonly Entry[],
  stop: AbortSignal,
  opened: (content: Readable) => void,
): Promise<void> {
  for (const { name, bytes, mtime, mode, open } of entries) {
    stop.throwIfAborted();
    const options = { mtime, mode, compress: !compressed.test(name), forceZip64Format: bytes > largeBytes };
    const requested = Promise.withResolvers<Readable>();
    zip.addReadStreamLazy(name, options, (give) => {
      const content = open();
      opened(content);
      requested.resolve(content);
      give(null, content);
    });
    const content = await requested.promise;
    // Rejects if the file can't be read.
    if (!content.closed) await once(content, "close");
  }
  zip.end();
}

async function writeEntries(
  entries: readonly Entry[],
  folders: readonly string[],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const zip = new ZipFile();
  zip.on("error", (error) => failed.abort(error));
  const target = createWriteStream(file, { mode: 0o600, flush: true });
  let current: Readable | null = null;
  try {
    // Folders first, while nothing is being read, so that they are written at once.
    for (const name of folders) zip.addEmptyDirectory(name, { mode: folderMode });
    const written = pipeline(zip.outputStream, target, { signal: stop });
    const fed = feed(zip, entries, stop, (content) => {
      current = content;
    });
    await Promise.all([written, fed]);
  } catch (error) {
    throw stop.aborted ? stop.reason : error;
  } finally {
    failed.abort();
    destroy(current);
  }
}

function destroy(stream: Readable | null): void {
  stream?.destroy();
}

/** Throws if the zip's central directory can't be read or does not have `entries` entries. */
async function checkZip(file: string, entries: number): Promise<void> {
  const zip = await openPromise(file, { lazyEntries: true });
  let found = 0;
  for await (const _ of zip.eachEntry()) found += 1;
  if (found !== entries) throw new Error(`The zip has ${found} entries instead of ${entries}`);
}

/** Writes the zip to a new file with mode 0600. Resolves when it is durable and its central directory was checked. */
export async function writeZip(zip: Zip, file: string, signal: AbortSignal): Promise<void> {
  const tree = await listTree(zip.root);
  const names = namesIn(tree);
  const entries = entriesOf(zip, tree, names);
  const folders = emptyFolders(tree).map((path) => `${names.get(path)}/`);
  await writeEntries(entries, folders, file, signal);
  await checkZip(file, entries.length + folders.length);
}
