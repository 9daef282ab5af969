/**
 * Keeps a folder. What is kept already is not kept again, whoever brought it; and of what has not changed since the
 * backup before, as far as size, time and the file's number tell, nothing is read.
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
import { type FoundFile, listTree, placeOf, unknownInode } from "./tree.ts";

export interface Saved {
  /** Names of the manifest's pieces, in order. */
  readonly manifest: readonly Buffer[];
  readonly files: number;
  /** Of all files. */
  readonly bytes: number;
  /** That the archives have grown by. */
  readonly addedBytes: number;
}

export interface SaveOptions extends PieceStore {
  /** Of an earlier backup; empty: everything is read. */
  readonly before: ReadonlyMap<string, FileEntry>;
  /** Done when it is known what is taken over, while the rest is still being written. */
  readonly whenClaimed?: () => Promise<void>;
}

/** So much is read before it is looked at which of it is kept already. */
const togetherBytes = 8 << 20;
const togetherFiles = 256;
/** Of these, so many are under way: one is read while another is sealed. */
const atOnce = 3;
const claimedTogether = 4_096;
/** Pieces of the list of files. */
const manifestTogether = 16;

export async function save(root: string, options: SaveOptions): Promise<Saved> {
  const maker = openPieceMaker(options.box);
  const packer = createPacker(options, maker);
  try {
    const isAllNew = options.before.size === 0;
    const { folders, files } = await listTree(root, isAllNew ? maker.expect : undefined);
    const unchanged = await claimUnchanged(files, options);
    const changed = files.filter(({ path }) => !unchanged.has(path));
    if (!isAllNew) for (const { bytes } of changed) maker.expect(bytes);
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
  const ends = await Promise.allSettled([packer.finish(), whenClaimed?.()]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
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
  const entries = new Map<string, FileEntry & { readonly pieces: Buffer[] }>();
  const underWay: Promise<void>[] = [];

  async function keepAll(batch: readonly Part[], before: Promise<void> | undefined): Promise<void> {
    const pieces = await packer.keep(batch.map(({ source }) => source));
    // The parts of a file are in order.
    await before;
    for (const [at, part] of batch.entries()) note(part, pieces[at] ?? null);
  }

  /** What follows a part that has become shorter does not count: what is being written to now has no end. */
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
      if (underWay.length >= atOnce) await underWay.shift();
      const keeping = keepAll(batch, underWay.at(-1));
      // Its failure is reported where it is awaited.
      keeping.catch(() => undefined);
      underWay.push(keeping);
    }
    await Promise.all(underWay);
  } finally {
    await Promise.allSettled(underWay);
  }
  return entries;
}

/** A piece's worth of a file, as it was when it was listed. */
interface Part {
  readonly file: FoundFile;
  readonly source: FilePart;
}

function* partsOf(root: string, files: readonly FoundFile[]): Generator<Part> {
  for (const file of files) {
    const { path } = file;
    const place = placeOf(root, path);
    // An empty one has a part, too: it may have vanished.
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
    if (bytes < togetherBytes && batch.length < togetherFiles) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function saveManifest(manifest: Manifest, packer: Packer): Promise<readonly Buffer[]> {
  const names: Buffer[] = [];
  let some: Buffer[] = [];
  const keepSome = async () => {
    for (const piece of await packer.keep(some)) if (piece !== null) names.push(piece.name);
    some = [];
  };
  for (const piece of writeManifest(manifest)) {
    some.push(piece);
    if (some.length >= manifestTogether) await keepSome();
  }
  await keepSome();
  return names;
}
