/**
 * Keeps a folder. What is kept already is not kept again, whoever brought it; and of what has not changed since the
 * backup before, as far as size, time and the file's number tell, nothing is read.
 */
import { open } from "node:fs/promises";
import type { FileEntry, Manifest } from "./manifest.ts";
import { writeManifest } from "./manifest.ts";
import { createPacker, type Packer, type PackerOptions } from "./packer.ts";
import { type PieceBox, pieceBytes } from "./pieceBox.ts";
import { keyOf, type PieceIndex } from "./pieceIndex.ts";
import { openPieceMaker } from "./pieceMaker.ts";
import { type FoundFile, listTree, placeOf, readable, unknownInode } from "./tree.ts";

export interface Saved {
  /** Names of the manifest's pieces, in order. */
  readonly manifest: readonly Buffer[];
  readonly files: number;
  /** Of all files. */
  readonly bytes: number;
  /** That the archives have grown by. */
  readonly addedBytes: number;
}

export interface SaveOptions extends PackerOptions {
  readonly box: PieceBox;
  /** Of an earlier backup; empty: everything is read. */
  readonly before: ReadonlyMap<string, FileEntry>;
}

/** So much is read before it is looked at which of it is kept already. */
const togetherBytes = 8 << 20;
const togetherFiles = 256;
/** Files that are read at the same time, because opening one takes longer than reading it. */
const atOnce = 8;
const claimedTogether = 4_096;
/** Pieces of the list of files. */
const manifestTogether = 16;

export async function save(root: string, options: SaveOptions): Promise<Saved> {
  const { folders, files } = await listTree(root);
  const unchanged = await claimUnchanged(files, options);
  const changed = files.filter(({ path }) => !unchanged.has(path));
  const maker = openPieceMaker(
    options.box,
    changed.reduce((sum, file) => sum + file.bytes, 0),
  );
  const packer = createPacker(options, maker);
  try {
    const read = await saveFiles(root, changed, packer);
    const entries = files.flatMap(({ path }) => unchanged.get(path) ?? read.get(path) ?? []);
    const manifest = await saveManifest({ folders, files: entries }, packer);
    await packer.finish();
    const bytes = entries.reduce((sum, file) => sum + file.bytes, 0);
    return { manifest, files: entries.length, bytes, addedBytes: packer.addedBytes() };
  } finally {
    await packer.settle();
    await maker.close();
  }
}

/** Entries by path, whose pieces are all kept. */
async function claimUnchanged(
  files: readonly FoundFile[],
  { before, index }: Pick<SaveOptions, "before" | "index">,
): Promise<ReadonlyMap<string, FileEntry>> {
  const same = files.flatMap((file) => {
    const entry = before.get(file.path);
    return entry !== undefined && isSame(file, entry) ? [{ ...file, pieces: entry.pieces }] : [];
  });
  const kept = await claimAll(
    same.flatMap(({ pieces }) => pieces),
    index,
  );
  return new Map(
    same.filter(({ pieces }) => pieces.every((name) => kept.has(keyOf(name)))).map((file) => [file.path, file]),
  );
}

function isSame(file: FoundFile, entry: FileEntry): boolean {
  if (entry.inode === unknownInode) return false;
  return file.bytes === entry.bytes && file.modified === entry.modified && file.inode === entry.inode;
}

async function claimAll(names: readonly Buffer[], index: PieceIndex): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (let start = 0; start < names.length; start += claimedTogether) {
    for (const key of await index.claim(names.slice(start, start + claimedTogether))) kept.add(key);
  }
  return kept;
}

/** Entries by path; of what has vanished meanwhile there is none. */
async function saveFiles(
  root: string,
  files: readonly FoundFile[],
  packer: Packer,
): Promise<ReadonlyMap<string, FileEntry>> {
  const entries = new Map<string, FileEntry>();
  let together: { readonly file: FoundFile; readonly content: Buffer }[] = [];
  let bytes = 0;
  let keeping = Promise.resolve();

  /** While these are at work, the next are read. */
  async function keepTogether(): Promise<void> {
    const batch = together;
    [together, bytes] = [[], 0];
    await keeping;
    keeping = keepAll(batch);
    // Whoever waits for it next hears of its failure.
    keeping.catch(() => undefined);
  }

  async function keepAll(batch: typeof together): Promise<void> {
    const names = await packer.keep(batch.map(({ content }) => content));
    for (const [at, { file, content }] of batch.entries()) {
      const [name, entry] = [names[at], entries.get(file.path)];
      if (name === undefined || entry === undefined) continue;
      const pieces = [...entry.pieces, name];
      entries.set(file.path, { ...entry, pieces, bytes: entry.bytes + content.length });
    }
  }

  async function readAll(): Promise<void> {
    for (let start = 0; start < files.length; start += atOnce) {
      const some = files.slice(start, start + atOnce);
      const contents = await Promise.all(some.map((file) => readSmall(root, file)));
      for (const [at, file] of some.entries()) {
        const content = contents[at] ?? null;
        if (content === "gone") continue;
        const handle = content === null ? await openFile(root, file) : null;
        if (content === null && handle === null) continue;
        entries.set(file.path, { ...file, bytes: 0, pieces: [] });
        for await (const piece of handle === null ? piecesOf(content) : readLarge(handle, file)) {
          together.push({ file, content: piece });
          bytes += piece.length;
          if (bytes >= togetherBytes || together.length >= togetherFiles) await keepTogether();
        }
      }
    }
    await keepTogether();
  }

  try {
    await readAll();
  } finally {
    await keeping;
  }
  return entries;
}

async function* piecesOf(content: Buffer | null): AsyncGenerator<Buffer> {
  if (content !== null && content.length > 0) yield content;
}

/** Null where it is large. */
async function readSmall(root: string, file: FoundFile): Promise<Buffer | "gone" | null> {
  if (file.bytes >= pieceBytes) return null;
  const handle = await openFile(root, file);
  if (handle === null) return "gone";
  try {
    return await readPiece(handle, 0, file.bytes);
  } finally {
    await handle.close();
  }
}

/** As long as it was when it was listed, at most: what is being written to now has no end. Closes the file. */
async function* readLarge(handle: Handle, file: FoundFile): AsyncGenerator<Buffer> {
  try {
    for (let start = 0; start < file.bytes; start += pieceBytes) {
      const wanted = Math.min(pieceBytes, file.bytes - start);
      const piece = await readPiece(handle, start, wanted);
      if (piece.length > 0) yield piece;
      // It has become shorter.
      if (piece.length < wanted) return;
    }
  } finally {
    await handle.close();
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

/** Null where it has vanished since it was listed. */
function openFile(root: string, { path }: FoundFile): Promise<Handle | null> {
  return readable(path, open(placeOf(root, path), "r"));
}

/** Shorter where the file has become shorter. */
async function readPiece(handle: Handle, start: number, length: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(content, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return content.subarray(0, filled);
}

async function saveManifest(manifest: Manifest, packer: Packer): Promise<readonly Buffer[]> {
  const names: Buffer[] = [];
  let some: Buffer[] = [];
  for (const piece of writeManifest(manifest)) {
    some.push(piece);
    if (some.length < manifestTogether) continue;
    names.push(...(await packer.keep(some)));
    some = [];
  }
  return [...names, ...(await packer.keep(some))];
}
