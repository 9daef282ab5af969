/** Restores a backup into a folder, piece by piece, checking each piece against its name. */
import { constants } from "node:fs";
import { mkdir, open, writeFile } from "node:fs/promises";
import { type FileEntry, type Manifest, readManifest } from "./manifest.ts";
import { pieceBytes } from "./pieceBox.ts";
import { keyOf, type StoredPiece } from "./pieceIndex.ts";
import type { PieceStore } from "./pieceStore.ts";
import { readRun, runsOf, UnreadablePiece } from "./readPieces.ts";
import { diskPath, displayPath } from "./tree.ts";

/** The backup can't be read. `message` may be shown to the customer. */
export class BackupDamaged extends Error {
  override readonly name = "BackupDamaged";
}

/** Where a piece of a file goes. */
interface PieceTarget {
  readonly path: string;
  readonly start: number;
}

const locateBatch = 4_096;
/** Files that are open at the same time. */
const concurrency = 16;
const nanosecondsPerSecond = 1e9;

interface LoadedManifest extends Manifest {
  /** Whether it was written with the newest archive key. Then all files were. */
  readonly isCurrent: boolean;
}

/** Rejects with `BackupDamaged`. */
export async function loadManifest(names: readonly Buffer[], options: PieceStore): Promise<LoadedManifest> {
  const contents = new Map<string, Buffer>();
  const targets = new Map(names.map((name) => [keyOf(name), [{ path: "its list of files", start: 0 }]]));
  await readPieces(names, targets, options, async (content, name) => {
    contents.set(keyOf(name), content);
  });
  const pieces = names.map((name) => contents.get(keyOf(name)) ?? Buffer.alloc(0));
  const isCurrent = names.every((name, at) => options.box.nameOf(pieces[at] ?? Buffer.alloc(0)).equals(name));
  return { ...readManifest(pieces), isCurrent };
}

/**
 * `root` must be a new folder. `isWanted` selects files and folders by path, and must include the folders of selected files.
 * Rejects with `BackupDamaged`, naming a file.
 */
export async function load(
  manifest: Manifest,
  root: string,
  isWanted: (path: string) => boolean,
  options: PieceStore,
): Promise<void> {
  const files = manifest.files.filter(({ path }) => isWanted(path));
  await mkdir(root, { recursive: true });
  for (const { path } of manifest.folders) {
    if (isWanted(path)) await mkdir(diskPath(root, path), { mode: 0o700 });
  }
  for (const file of files) if (file.bytes === 0) await writeFile(diskPath(root, file.path), "");
  await readPieces(namesOf(files), targetsOf(files), options, (content, _name, targets) =>
    writeAll(root, content, targets),
  );
  await finish(manifest, files, root, isWanted);
}

/**
 * Reads the pieces that a backup needs from lost packs. `names` are the pieces of its list of files. Returns all packs that it
 * needs, lost or not. Rejects with `BackupDamaged`, naming a file.
 */
export async function readLost(names: readonly Buffer[], options: PieceStore): Promise<ReadonlySet<string>> {
  const { files } = await loadManifest(names, options);
  const targets = targetsOf(files);
  const pieces = await locateAll([...names, ...namesOf(files)], targets, options);
  const lost = pieces.filter(({ isLost }) => isLost).map(({ name }) => name);
  await readPieces(lost, targets, options, async () => undefined);
  return new Set(pieces.map(({ pack }) => pack));
}

function namesOf(files: readonly FileEntry[]): readonly Buffer[] {
  return files.flatMap(({ pieces }) => pieces);
}

function targetsOf(files: readonly FileEntry[]): ReadonlyMap<string, readonly PieceTarget[]> {
  const targets = new Map<string, PieceTarget[]>();
  for (const { path, pieces } of files) {
    for (const [at, name] of pieces.entries()) {
      const known = targets.get(keyOf(name));
      const target = { path, start: at * pieceBytes };
      if (known === undefined) targets.set(keyOf(name), [target]);
      else known.push(target);
    }
  }
  return targets;
}

/** Calls `take` once for each piece, in storage order. */
async function readPieces(
  names: readonly Buffer[],
  targets: ReadonlyMap<string, readonly PieceTarget[]>,
  options: PieceStore,
  take: (content: Buffer, name: Buffer, targets: readonly PieceTarget[]) => Promise<void>,
): Promise<void> {
  for (const run of runsOf(await locateAll(names, targets, options))) {
    try {
      const opened = await readRun(run, options);
      await inGroups(opened, ([content, name]) => take(content, name, targets.get(keyOf(name)) ?? []));
    } catch (error) {
      if (!(error instanceof UnreadablePiece)) throw error;
      // No later backup may rely on this pack.
      await options.index.markLost([run.pack]);
      throw damaged(nameIn(targets, { name: error.piece }), error);
    }
  }
}

function nameIn(targets: ReadonlyMap<string, readonly PieceTarget[]>, { name }: Pick<StoredPiece, "name">): string {
  return targets.get(keyOf(name))?.[0]?.path ?? "";
}

/** How every message of `BackupDamaged` begins. */
export const damagePrefix = "This backup can't be restored: what it needs for ";

function damaged(path: string, cause?: unknown): BackupDamaged {
  return new BackupDamaged(`${damagePrefix}${displayPath(path)} is missing or damaged.`, { cause });
}

async function locateAll(
  names: readonly Buffer[],
  targets: ReadonlyMap<string, readonly PieceTarget[]>,
  { index }: PieceStore,
): Promise<readonly StoredPiece[]> {
  const wanted = [...new Map(names.map((name) => [keyOf(name), name])).values()];
  const found: StoredPiece[] = [];
  for (let start = 0; start < wanted.length; start += locateBatch) {
    const some = wanted.slice(start, start + locateBatch);
    const located = await index.locate(some);
    for (const name of some) {
      const piece = located.get(keyOf(name));
      if (piece === undefined) throw damaged(nameIn(targets, { name }));
      found.push(piece);
    }
  }
  return found;
}

async function writeAll(root: string, content: Buffer, targets: readonly PieceTarget[]): Promise<void> {
  for (const { path, start } of targets) {
    // Created by whichever piece comes first.
    const handle = await open(diskPath(root, path), constants.O_WRONLY | constants.O_CREAT);
    try {
      const { bytesWritten } = await handle.write(content, 0, content.length, start);
      if (bytesWritten < content.length) throw new Error("Only a part of the file was written.");
    } finally {
      await handle.close();
    }
  }
}

/** Checks lengths, and sets permissions and times. Folders last, so that their content stays accessible. */
async function finish(
  { folders }: Manifest,
  files: readonly FileEntry[],
  root: string,
  isWanted: (path: string) => boolean,
): Promise<void> {
  await inGroups(files, async ({ path, mode, bytes, modified }) => {
    const handle = await open(diskPath(root, path), "r");
    try {
      if ((await handle.stat()).size !== bytes) throw damaged(path);
      await handle.chmod(mode);
      const seconds = Number(modified) / nanosecondsPerSecond;
      // Node takes a negative number for the current time.
      const time = seconds < 0 ? new Date(seconds * 1_000) : seconds;
      await handle.utimes(time, time);
    } finally {
      await handle.close();
    }
  });
  for (const { path, mode } of folders.toReversed()) {
    if (!isWanted(path)) continue;
    const handle = await open(diskPath(root, path), "r");
    await handle.chmod(mode).finally(() => handle.close());
  }
}

/** Works on several items at a time, because opening a file takes longer than writing a small one. Waits for all of them. */
async function inGroups<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += concurrency) {
    const results = await Promise.allSettled(items.slice(start, start + concurrency).map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}
