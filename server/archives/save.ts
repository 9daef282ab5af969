/**
 * Stores a folder. Content that is already stored is not stored again, and files that have not changed since the previous
 * backup, judged by size, time and inode, are not read.
 */
import type { FileEntry, Manifest } from "./manifest.ts";
import { writeManifest } from "./manifest.ts";
import type { NamedPiece } from "./namedPieces.ts";
import { createPacker, type Packer } from "./packer.ts";
import { pieceBytes } from "./pieceBox.ts";
import { keyOf, type PieceIndex } from "./pieceIndex.ts";
import { openPieceMaker } from "./pieceMaker.ts";
import type { FilePart } from "./pieceSource.ts";
import type { PieceStore } from "./pieceStore.ts";
import { diskPath, type FoundFile, listTree, unknownInode } from "./tree.ts";

export interface Saved {
  /** Names of the manifest's pieces, in order. */
  readonly manifest: readonly Buffer[];
  readonly files: number;
  /** Total size of all files. */
  readonly bytes: number;
  /** Growth of the archives. */
  readonly addedBytes: number;
}

interface SaveOptions extends PieceStore {
  /** Files of an earlier backup. Empty: all files are read. */
  readonly before: ReadonlyMap<string, FileEntry>;
  /** Called when it is known which packs are reused, while new ones are still being written. */
  readonly whenClaimed?: () => Promise<void>;
}

/** Size of a batch that is read before checking which pieces are already stored. */
const batchBytes = 8 << 20;
const batchFiles = 256;
/** Batches in progress: one is read while another is sealed. */
const concurrency = 3;
const claimBatch = 4_096;
/** Pieces of the list of files that are stored together. */
const manifestBatch = 16;

export async function save(root: string, options: SaveOptions): Promise<Saved> {
  const maker = openPieceMaker(options.box);
  const packer = createPacker(options, maker);
  try {
    const { folders, files } = await listTree(root);
    const unchanged = await claimUnchanged(files, options);
    const changed = files.filter(({ path }) => !unchanged.has(path));
    for (const { bytes } of changed) maker.expect(bytes);
    const read = await saveFiles(root, changed, packer);
    const entries = files.flatMap(({ path }) => unchanged.get(path) ?? read.get(path) ?? []);
    const manifest = await saveManifest({ folders, files: entries }, packer);
    await finish(packer, options);
    const bytes = entries.reduce((sum, file) => sum + file.bytes, 0);
    return { manifest, files: entries.length, bytes, addedBytes: packer.addedBytes() };
  } finally {
    await packer.settle();
    await maker.close();
  }
}

async function finish(packer: Packer, { whenClaimed }: SaveOptions): Promise<void> {
  const results = await Promise.allSettled([packer.finish(), whenClaimed?.()]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** Unchanged files by path whose pieces are all stored. */
async function claimUnchanged(
  files: readonly FoundFile[],
  { before, index }: Pick<SaveOptions, "before" | "index">,
): Promise<ReadonlyMap<string, FileEntry>> {
  const same = files.flatMap((file) => {
    const entry = before.get(file.path);
    return entry !== undefined && isSame(file, entry) ? [{ ...file, pieces: entry.pieces }] : [];
  });
  const stored = await claimAll(
    same.flatMap(({ pieces }) => pieces),
    index,
  );
  return new Map(
    same.filter(({ pieces }) => pieces.every((name) => stored.has(keyOf(name)))).map((file) => [file.path, file]),
  );
}

function isSame(file: FoundFile, entry: FileEntry): boolean {
  if (entry.inode === unknownInode) return false;
  return file.bytes === entry.bytes && file.modified === entry.modified && file.inode === entry.inode;
}

async function claimAll(names: readonly Buffer[], index: PieceIndex): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (let start = 0; start < names.length; start += claimBatch) {
    for (const key of await index.claim(names.slice(start, start + claimBatch))) stored.add(key);
  }
  return stored;
}

/** Entries by path, without files that have vanished in the meantime. */
async function saveFiles(
  root: string,
  files: readonly FoundFile[],
  packer: Packer,
): Promise<ReadonlyMap<string, FileEntry>> {
  const entries = new Map<string, FileEntry & { readonly pieces: Buffer[] }>();
  const underWay: Promise<void>[] = [];

  async function storeBatch(batch: readonly Part[], before: Promise<void> | undefined): Promise<void> {
    const pieces = await packer.store(batch.map(({ source }) => source));
    // The parts of a file are in order.
    await before;
    for (const [at, part] of batch.entries()) note(part, pieces[at] ?? null);
  }

  /** Ignores parts after one that has become shorter: the file is being changed. */
  function note({ file, source }: Part, piece: NamedPiece | null): void {
    const entry = entries.get(file.path) ?? { ...file, bytes: 0, pieces: [] };
    if (piece === null) entries.delete(file.path);
    else if (entry.bytes === source.start) {
      if (piece.bytes > 0) entry.pieces.push(piece.name);
      entries.set(file.path, { ...entry, bytes: entry.bytes + piece.bytes });
    }
  }

  try {
    for (const batch of batchesOf(partsOf(root, files))) {
      if (underWay.length >= concurrency) await underWay.shift();
      const storing = storeBatch(batch, underWay.at(-1));
      // A failure is reported where it is awaited.
      storing.catch(() => undefined);
      underWay.push(storing);
    }
    await Promise.all(underWay);
  } finally {
    await Promise.allSettled(underWay);
  }
  return entries;
}

/** A part of a file of the size of a piece. The file is as listed, and may have changed since. */
interface Part {
  readonly file: FoundFile;
  readonly source: FilePart;
}

function* partsOf(root: string, files: readonly FoundFile[]): Generator<Part> {
  for (const file of files) {
    const { path } = file;
    const place = diskPath(root, path);
    // An empty file has a part too, because it may have vanished.
    for (let start = 0; start === 0 || start < file.bytes; start += pieceBytes) {
      const bytes = Math.min(pieceBytes, file.bytes - start);
      yield { file, source: { file: place, path, start, bytes } };
    }
  }
}

function* batchesOf(parts: Iterable<Part>): Generator<readonly Part[]> {
  let batch: Part[] = [];
  let bytes = 0;
  for (const part of parts) {
    batch.push(part);
    bytes += part.source.bytes;
    if (bytes < batchBytes && batch.length < batchFiles) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function saveManifest(manifest: Manifest, packer: Packer): Promise<readonly Buffer[]> {
  const names: Buffer[] = [];
  let batch: Buffer[] = [];
  const storeBatch = async () => {
    for (const piece of await packer.store(batch)) if (piece !== null) names.push(piece.name);
    batch = [];
  };
  for (const piece of writeManifest(manifest)) {
    batch.push(piece);
    if (batch.length >= manifestBatch) await storeBatch();
  }
  await storeBatch();
  return names;
}
