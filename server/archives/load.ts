/** Puts what a backup holds into a folder, piece by piece, each held against its name: all of it or an error. */
import { mkdir, open, utimes, writeFile } from "node:fs/promises";
import { BlobMissing, type Blobs } from "./blobs.ts";
import { type FileEntry, type Manifest, readManifest } from "./manifest.ts";
import { blobOf } from "./packer.ts";
import { type PieceBox, PieceDamaged, pieceBytes } from "./pieceBox.ts";
import { type KeptPiece, keyOf, type PieceIndex } from "./pieceIndex.ts";
import { placeOf } from "./tree.ts";

/** The backup can't be read. `message` may be shown to the customer. */
export class BackupDamaged extends Error {
  override readonly name = "BackupDamaged";
}

export interface LoadOptions {
  readonly blobs: Blobs;
  readonly index: PieceIndex;
  readonly box: PieceBox;
  /** Of the blob store, for the company's packs. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Where a piece of a file goes. */
interface Place {
  readonly path: string;
  readonly start: number;
}

/** What lies between two wanted pieces is rather read than asked around. */
const gapBytes = 64 << 10;
const readBytes = 8 << 20;
const locatedTogether = 4_096;

/** Rejects with `BackupDamaged`. */
export async function loadManifest(names: readonly Buffer[], options: LoadOptions): Promise<Manifest> {
  const contents = new Map<string, Buffer>();
  const places = new Map(names.map((name) => [keyOf(name), [{ path: "its list of files", start: 0 }]]));
  await readPieces(names, places, options, async (content, name) => {
    contents.set(keyOf(name), content);
  });
  return readManifest(names.map((name) => contents.get(keyOf(name)) ?? Buffer.alloc(0)));
}

/**
 * `root` must be a new folder. `isWanted` chooses files and folders by path; where a file is wanted its folders must be.
 * Rejects with `BackupDamaged`, naming a file.
 */
export async function load(
  manifest: Manifest,
  root: string,
  isWanted: (path: string) => boolean,
  options: LoadOptions,
): Promise<void> {
  const files = manifest.files.filter(({ path }) => isWanted(path));
  await mkdir(root, { recursive: true });
  for (const { path } of manifest.folders) {
    if (isWanted(path)) await mkdir(placeOf(root, path), { mode: 0o700 });
  }
  for (const file of files) if (file.bytes === 0) await writeFile(placeOf(root, file.path), "");
  await readPieces(namesOf(files), placesOf(files), options, (content, _name, places) =>
    writeAll(root, content, places),
  );
  await finish(manifest, files, root, isWanted);
}

function namesOf(files: readonly FileEntry[]): readonly Buffer[] {
  return files.flatMap(({ pieces }) => pieces);
}

function placesOf(files: readonly FileEntry[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const { path, pieces } of files) {
    for (const [at, name] of pieces.entries()) {
      const known = places.get(keyOf(name));
      const place = { path, start: at * pieceBytes };
      if (known === undefined) places.set(keyOf(name), [place]);
      else known.push(place);
    }
  }
  return places;
}

/** Calls `take` for each piece once, in the order in which they are kept. */
async function readPieces(
  names: readonly Buffer[],
  places: ReadonlyMap<string, readonly Place[]>,
  options: LoadOptions,
  take: (content: Buffer, name: Buffer, places: readonly Place[]) => Promise<void>,
): Promise<void> {
  const { blobs, box, folder, index, signal } = options;
  for (const run of runsOf(await locateAll(names, places, options))) {
    const [first] = run.pieces;
    let what = first === undefined ? "" : nameIn(places, first);
    try {
      const bytes = await blobs.read(blobOf(folder, run.pack), run.start, run.length, signal);
      for (const piece of run.pieces) {
        what = nameIn(places, piece);
        const start = piece.start - run.start;
        const content = box.open(bytes.subarray(start, start + piece.length), piece.name);
        await take(content, piece.name, places.get(keyOf(piece.name)) ?? []);
      }
    } catch (error) {
      if (!(error instanceof BlobMissing || error instanceof PieceDamaged)) throw error;
      // No later backup must rely on it.
      await index.markLost([run.pack]);
      throw damaged(what, error);
    }
  }
}

function nameIn(places: ReadonlyMap<string, readonly Place[]>, { name }: Pick<KeptPiece, "name">): string {
  return places.get(keyOf(name))?.[0]?.path ?? "";
}

function damaged(path: string, cause?: unknown): BackupDamaged {
  const shown = Buffer.from(path, "latin1").toString("utf8");
  return new BackupDamaged(`This backup can't be restored: what it needs for ${shown} is missing or damaged.`, {
    cause,
  });
}

async function locateAll(
  names: readonly Buffer[],
  places: ReadonlyMap<string, readonly Place[]>,
  { index }: LoadOptions,
): Promise<readonly KeptPiece[]> {
  const wanted = [...new Map(names.map((name) => [keyOf(name), name])).values()];
  const found: KeptPiece[] = [];
  for (let start = 0; start < wanted.length; start += locatedTogether) {
    const some = wanted.slice(start, start + locatedTogether);
    const located = await index.locate(some);
    for (const name of some) {
      const piece = located.get(keyOf(name));
      if (piece === undefined) throw damaged(nameIn(places, { name }));
      found.push(piece);
    }
  }
  return found;
}

interface Run {
  readonly pack: string;
  readonly start: number;
  readonly length: number;
  readonly pieces: readonly KeptPiece[];
}

function byPlace(a: KeptPiece, b: KeptPiece): number {
  if (a.pack !== b.pack) return a.pack < b.pack ? -1 : 1;
  return a.start - b.start;
}

/** Pieces that lie together are read together. */
function runsOf(pieces: readonly KeptPiece[]): readonly Run[] {
  const runs: { pack: string; start: number; length: number; pieces: KeptPiece[] }[] = [];
  for (const piece of pieces.toSorted(byPlace)) {
    const last = runs.at(-1);
    const length = piece.start + piece.length - (last?.start ?? 0);
    const isNear = last?.pack === piece.pack && piece.start - last.start - last.length <= gapBytes;
    if (last !== undefined && isNear && length <= readBytes) {
      last.pieces.push(piece);
      last.length = length;
    } else runs.push({ pack: piece.pack, start: piece.start, length: piece.length, pieces: [piece] });
  }
  return runs;
}

async function writeAll(root: string, content: Buffer, places: readonly Place[]): Promise<void> {
  for (const { path, start } of places) {
    // Made by whichever piece comes first.
    const handle = await open(placeOf(root, path), "a").then(async (made) => {
      await made.close();
      return open(placeOf(root, path), "r+");
    });
    try {
      const { bytesWritten } = await handle.write(content, 0, content.length, start);
      if (bytesWritten < content.length) throw new Error("The disk took only a part of what was written to it.");
    } finally {
      await handle.close();
    }
  }
}

const nanosecondsPerSecond = 1e9;

/** Lengths are looked at, and permissions and times set; folders last, because what is in them changes theirs. */
async function finish(
  { folders }: Manifest,
  files: readonly FileEntry[],
  root: string,
  isWanted: (path: string) => boolean,
): Promise<void> {
  for (const { path, mode, bytes, modified } of files) {
    const handle = await open(placeOf(root, path), "r");
    try {
      if ((await handle.stat()).size !== bytes) throw damaged(path);
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    const seconds = Number(modified) / nanosecondsPerSecond;
    await utimes(placeOf(root, path), seconds, seconds);
  }
  for (const { path, mode } of folders.toReversed()) {
    if (!isWanted(path)) continue;
    const handle = await open(placeOf(root, path), "r");
    await handle.chmod(mode).finally(() => handle.close());
  }
}
