/**
 * A folder as a zip that opens anywhere: written to the disk as it comes, whatever its size and however many files it has.
 * Links and the like are left out. `docs/decisions/downloads.md` says more.
 */
import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openPromise } from "yauzl";
import { ZipFile } from "yazl";
import { listTree, placeOf, type Tree } from "./tree.ts";

/** A name that not every program could unpack, and what it is in the zip. */
export interface Renamed {
  readonly from: string;
  readonly to: string;
}

export interface Zip {
  /** What is in the folder, by path there (names are bytes, as `latin1`). */
  readonly root: string;
  /** A file that comes besides: its name, and its text. */
  readonly readme: { readonly name: string; readonly text: (renamed: readonly Renamed[]) => string };
}

/** Compressing these again takes time and saves nothing. */
const compressed =
  /\.(jpe?g|png|gif|webp|avif|heic|mp[34]|m4[av]|mov|webm|og[gv]|woff2?|zip|gz|tgz|bz2|xz|zst|7z|rar|docx|xlsx|pptx)$/i;
/** Permissions that suit a web server elsewhere, whose user may be another one than the files'. */
const fileMode = 0o100644;
const programMode = 0o100755;
const folderMode = 0o040755;
const ownerRuns = 0o100;
/** From here on, with something to spare, a file needs the larger form. */
const largeBytes = 4_000_000_000;
/** What the form can express. */
const earliest = Date.UTC(1980, 0, 2);
const latest = Date.UTC(2038, 0, 1);

function nameFor(segment: string): string {
  const bytes = Buffer.from(segment, "latin1");
  const text = bytes.toString("utf8");
  if (isUtf8(bytes) && !/\p{Cc}|\\/u.test(text)) return text;
  const escaped = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return segment.replace(/[^ -~]|[\\%]/g, (character) => escaped(character.charCodeAt(0)));
}

/** The name of each path in the zip; no two are the same. */
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

/** Folders with nothing in them; the others come with what is in them. */
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
    // What grows meanwhile, a log, is read as far as it was.
    open: () =>
      bytes === 0
        ? Readable.from([])
        : createReadStream(placeOf(root, path), { end: bytes - 1, highWaterMark: 1 << 20 }),
  }));
  return [first, ...others];
}

/** One after the other: each is opened when the one before has been read. `opened` is told of each. */
async function feed(
  zip: ZipFile,
  entries: readonly Entry[],
  stop: AbortSignal,
  opened: (content: Readable) => void,
): Promise<void> {
  for (const { name, bytes, mtime, mode, open } of entries) {
    stop.throwIfAborted();
    const options = { mtime, mode, compress: !compressed.test(name), forceZip64Format: bytes > largeBytes };
    const asked = Promise.withResolvers<Readable>();
    zip.addReadStreamLazy(name, options, (give) => {
      const content = open();
      opened(content);
      asked.resolve(content);
      give(null, content);
    });
    const content = await asked.promise;
    // Rejects if it can't be read.
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
    // First, while nothing is being read: then each is written at once.
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

/** Throws if the list at the zip's end can't be read, or isn't that of `entries` files and folders. */
async function checkZip(file: string, entries: number): Promise<void> {
  const zip = await openPromise(file, { lazyEntries: true });
  let found = 0;
  for await (const _ of zip.eachEntry()) found += 1;
  if (found !== entries) throw new Error(`The zip has ${found} entries instead of ${entries}`);
}

/** Writes it to a new file of the owner's, on the disk and looked through when this resolves. */
export async function writeZip(zip: Zip, file: string, signal: AbortSignal): Promise<void> {
  const tree = await listTree(zip.root);
  const names = namesIn(tree);
  const entries = entriesOf(zip, tree, names);
  const folders = emptyFolders(tree).map((path) => `${names.get(path)}/`);
  await writeEntries(entries, folders, file, signal);
  await checkZip(file, entries.length + folders.length);
}
