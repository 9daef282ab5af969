/**
 * Where the content of backups is kept: pieces of files, each once for a whole company, compressed and encrypted, in
 * packs that lie in a folder or an object store. `docs/decisions/backups.md` says why it is like this.
 */
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs } from "./blobs.ts";
import { BackupDamaged, load, loadManifest, readLost } from "./load.ts";
import { namesIn } from "./manifest.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { makePieceBox } from "./pieceBox.ts";
import type { PackedPiece, PieceIndex } from "./pieceIndex.ts";
import { blobOf, type PackStore, type PieceStore } from "./pieceStore.ts";
import { type Reading, readAgain, usualReading } from "./readAgain.ts";
import { isPackWhole } from "./readPieces.ts";
import { type Saved, save } from "./save.ts";
import { requireWritable } from "./writable.ts";

export interface ArchivedBackup {
  readonly id: number;
  readonly companyId: string;
}

/** One that was kept: `manifest` holds the names of its manifest's pieces, of 32 bytes each. */
export interface KeptBackup extends ArchivedBackup {
  readonly manifest: Buffer;
}

export interface ArchivedPack {
  readonly id: string;
  readonly companyId: string;
  /** In order. */
  readonly pieces: readonly PackedPiece[];
}

export interface Archives {
  /**
   * Keeps what is in `folder`. Of what is as it was in `before`, nothing is read; null: everything is. Resolves when
   * everything that the backup needs has been found in the archives, what was added was read back, and what was taken over
   * was read again as far as `reading` says.
   */
  keep(
    backup: ArchivedBackup,
    folder: string,
    before: KeptBackup | null,
    signal: AbortSignal,
    reading?: Reading,
  ): Promise<Omit<Saved, "manifest"> & { readonly manifest: Buffer }>;
  /** Puts it, or the wanted part of it, into `folder`, which must be new. Rejects with `BackupDamaged`. */
  restore(backup: KeptBackup, folder: string, isWanted: (path: string) => boolean, signal: AbortSignal): Promise<void>;
  /** How many bytes are below each of its first folders. Its list of files alone is read. Rejects with `BackupDamaged`. */
  sizes(backup: KeptBackup, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Whether everything that it needs is listed by the store, in the length that it had. Nothing is read. */
  isWhole(backup: ArchivedBackup, signal: AbortSignal): Promise<boolean>;
  /** Rejects if nothing could be kept at this moment. `name` is nobody else's; again with the same leaves nothing more. */
  requireWritable(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Reads what it needs of packs that were lost. Returns a sentence about what is missing or damaged; null: nothing is, and it
   * does not need lost packs any more where the same pieces are somewhere else.
   */
  examine(backup: KeptBackup, signal: AbortSignal): Promise<string | null>;
  /** Reads all of it. Whether everything in it is as it was written. */
  readPack(pack: ArchivedPack, signal: AbortSignal): Promise<boolean>;
  /** Tolerates that it is not there. */
  removePack(pack: { readonly id: string; readonly companyId: string }): Promise<void>;
  /** Path of a folder for what is about to be kept or restored, where none is yet. The same for the same name. */
  workFolder(name: string): Promise<string>;
  /** The same path; whatever is there stays. */
  workPlace(name: string): string;
  removeWorkFolder(name: string): Promise<void>;
  /** What is left, in bytes, of the disk that these folders are on. */
  freeBytes(): Promise<number>;
}

export interface ArchivesOptions {
  readonly blobs: Blobs;
  /** 32 bytes that are not in the blobs. */
  readonly key: Buffer;
  readonly indexOf: (backup: ArchivedBackup) => PieceIndex;
  /** On the disk where environments are: what is kept is linked into it. */
  readonly work: string;
  /** Also where a site has closed folders in it; tolerates that there is none. */
  readonly removeFolder: (folder: string) => Promise<void>;
}

/** Each but the first goes on without packs that the one before has found to be bad. */
const mostTries = 4;

export function openArchives({ blobs, key, indexOf, work, removeFolder }: ArchivesOptions): Archives {
  const folderOf = (companyId: string) => `packs/${companyId}`;

  const packsOf = (companyId: string, signal: AbortSignal): PackStore => ({
    blobs,
    box: makePieceBox(key, companyId),
    folder: folderOf(companyId),
    signal,
  });

  function optionsFor(backup: ArchivedBackup, signal: AbortSignal): PieceStore {
    return { ...packsOf(backup.companyId, signal), index: indexOf(backup) };
  }

  async function filesOf(before: KeptBackup | null, signal: AbortSignal) {
    if (before === null) return new Map();
    const manifest = await loadManifest(namesIn(before.manifest), optionsFor(before, signal)).catch(
      (error: unknown) => {
        // Whatever is wrong with that one, this one is then made without it.
        if (error instanceof BackupDamaged) return { files: [] };
        throw error;
      },
    );
    return new Map(manifest.files.map((file) => [file.path, file]));
  }

  /** Packs that the backup needs and that are not there, or not as long as they were. */
  async function findMissing(backup: ArchivedBackup, signal: AbortSignal): Promise<readonly string[]> {
    const folder = folderOf(backup.companyId);
    // In this order: one that comes to be needed meanwhile is not taken for missing.
    const needed = await indexOf(backup).neededPacks();
    const there = await blobs.list(folder, signal);
    return [...needed].filter(([pack, { bytes }]) => there.get(blobOf(folder, pack)) !== bytes).map(([pack]) => pack);
  }

  /** Packs that what was kept can't rely on: lost, or not there. */
  async function findLost(backup: ArchivedBackup, options: PieceStore): Promise<readonly string[]> {
    const missing = new Set(await findMissing(backup, options.signal));
    const needed = [...(await options.index.neededPacks())];
    return needed.filter(([pack, { isLost }]) => isLost || missing.has(pack)).map(([pack]) => pack);
  }

  /** Those of the packs that are taken over that are not as they were written. */
  async function findDamaged(reading: Reading, options: PieceStore & { readonly since: Date }) {
    const needed = [...(await options.index.neededPacks())].filter(([, { isLost }]) => !isLost);
    return readAgain(new Map(needed), reading, options);
  }

  async function saveWhole(
    backup: ArchivedBackup,
    folder: string,
    before: KeptBackup | null,
    options: PieceStore,
    reading: Reading,
  ) {
    const since = new Date();
    const files = await filesOf(before, options.signal);
    let addedBytes = 0;
    for (let tries = 0; tries < mostTries; tries += 1) {
      let damaged: readonly string[] = [];
      const whenClaimed = async () => {
        damaged = await findDamaged(reading, { ...options, since });
      };
      const saved = await save(folder, { ...options, before: files, whenClaimed });
      addedBytes += saved.addedBytes;
      const bad = [...new Set([...damaged, ...(await findLost(backup, options))])];
      if (bad.length === 0) return { ...saved, addedBytes };
      // What earlier backups needed was taken from the store, or has rotted there. This one is made without it.
      await options.index.markLost(bad);
      await options.index.release(bad);
    }
    throw new ObjectStoreFailure("The archive store loses what was put into it.", { isTransient: false });
  }

  async function examine(backup: KeptBackup, signal: AbortSignal): Promise<string | null> {
    const options = optionsFor(backup, signal);
    const missing = await findMissing(backup, signal);
    await options.index.markLost(missing);
    try {
      const used = await readLost(namesIn(backup.manifest), options);
      const needed = [...(await options.index.neededPacks())];
      const unused = needed.filter(([pack, { isLost }]) => isLost && !used.has(pack));
      await options.index.release(unused.map(([pack]) => pack));
      return null;
    } catch (error) {
      if (error instanceof BackupDamaged) return error.message;
      throw error;
    }
  }

  function workOf(name: string): string {
    if (!/^[0-9A-Za-z-]+$/.test(name)) throw new Error(`Not a name: ${name}`);
    return join(work, name);
  }

  return {
    keep: async (backup, folder, before, signal, reading = usualReading) => {
      const saved = await saveWhole(backup, folder, before, optionsFor(backup, signal), reading);
      return { ...saved, manifest: Buffer.concat(saved.manifest) };
    },
    restore: async (backup, folder, isWanted, signal) => {
      const options = optionsFor(backup, signal);
      await load(await loadManifest(namesIn(backup.manifest), options), folder, isWanted, options);
    },
    sizes: async (backup, signal) => {
      const { files } = await loadManifest(namesIn(backup.manifest), optionsFor(backup, signal));
      const sizes = new Map<string, number>();
      for (const { path, bytes } of files) {
        const [first = path] = path.split("/", 1);
        sizes.set(first, (sizes.get(first) ?? 0) + bytes);
      }
      return sizes;
    },
    requireWritable: (name, signal) => requireWritable(blobs, `probes/${name}`, signal),
    isWhole: async (backup, signal) => (await findMissing(backup, signal)).length === 0,
    examine,
    readPack: ({ id, companyId, pieces }, signal) => isPackWhole(id, pieces, packsOf(companyId, signal)),
    removePack: ({ id, companyId }) => blobs.remove(blobOf(folderOf(companyId), id)),
    workFolder: async (name) => {
      const place = workOf(name);
      await removeFolder(place);
      await mkdir(work, { recursive: true, mode: 0o700 });
      return place;
    },
    workPlace: workOf,
    removeWorkFolder: async (name) => {
      // Beside it lies what was being put together for it when a process was killed.
      for (const place of [workOf(name), `${workOf(name)}.new`]) await removeFolder(place);
    },
    freeBytes: async () => {
      await mkdir(work, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(work);
      return bavail * bsize;
    },
  };
}
