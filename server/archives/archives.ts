/**
 * Stores the content of backups: pieces of files, deduplicated per company, compressed and encrypted, in packs in a folder or
 * an object store. See `docs/decisions/backups.md` for the reasons.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { KeySource } from "../keyFile.ts";
import type { Blobs } from "./blobs.ts";
import { compareManifests, type FileDifferences } from "./compareManifests.ts";
import { BackupDamaged, load, loadManifest, readLost } from "./load.ts";
import { splitNames } from "./manifest.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { makePieceBox } from "./pieceBox.ts";
import type { PackedPiece, PieceIndex } from "./pieceIndex.ts";
import { blobOf, type PackStore, type PieceStore } from "./pieceStore.ts";
import { type Reading, readAgain, usualReading } from "./readAgain.ts";
import { isPackIntact } from "./readPieces.ts";
import { type Saved, save } from "./save.ts";
import { requireWritable } from "./writable.ts";

export interface ArchivedBackup {
  readonly id: number;
  readonly companyId: string;
}

/** A stored backup. `manifest` holds the names of its manifest's pieces, 32 bytes each. */
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
   * Stores the content of `folder`. Files that are unchanged since the backup `before` are not read; null: all files are read.
   * Resolves when all packs that the backup needs are in the archives, new packs have been read back, and reused packs have
   * been read again within the limits of `reading`.
   */
  keep(
    backup: ArchivedBackup,
    folder: string,
    before: KeptBackup | null,
    signal: AbortSignal,
    reading?: Reading,
  ): Promise<Omit<Saved, "manifest"> & { readonly manifest: Buffer }>;
  /** Restores the backup, or the wanted part of it, into `folder`, which must be new. Rejects with `BackupDamaged`. */
  restore(backup: KeptBackup, folder: string, isWanted: (path: string) => boolean, signal: AbortSignal): Promise<void>;
  /** The size of each top-level folder. Reads only the list of files. Rejects with `BackupDamaged`. */
  sizes(backup: KeptBackup, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /**
   * The files below `folder` that differ. Reads only the lists of files. A file of the same size and time counts as the same.
   * Rejects with `BackupDamaged`.
   */
  compare(before: KeptBackup, after: KeptBackup, folder: string, signal: AbortSignal): Promise<FileDifferences>;
  /** Whether the store lists all packs that the backup needs, with their original length. Reads no packs. */
  isIntact(backup: ArchivedBackup, signal: AbortSignal): Promise<boolean>;
  /** Rejects if the store can't be written to. `name` must be unique; calls with the same name leave nothing behind. */
  requireWritable(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Reads the pieces that the backup needs from lost packs. Returns a sentence about missing or damaged data, or null if there
   * is none. Lost packs whose pieces are also elsewhere are then no longer needed.
   */
  examine(backup: KeptBackup, signal: AbortSignal): Promise<string | null>;
  /** Reads a whole pack. Returns whether it is intact. */
  readPack(pack: ArchivedPack, signal: AbortSignal): Promise<boolean>;
  /** Does nothing if there is no such pack. */
  removePack(pack: { readonly id: string; readonly companyId: string }): Promise<void>;
  /** Removes the work folder of this name, and returns its path for a backup or restore. */
  workFolder(name: string): Promise<string>;
  /** The path of the work folder of this name. Changes nothing. */
  workPlace(name: string): string;
  removeWorkFolder(name: string): Promise<void>;
}

interface ArchivesOptions {
  readonly blobs: Blobs;
  /** Never stored in the blobs. The newest encrypts; backups of older ones can be read. */
  readonly keys: KeySource;
  readonly indexOf: (backup: ArchivedBackup) => PieceIndex;
  /** Folder for work folders, on the same disk as environments, because files are hard-linked into it. */
  readonly work: string;
  /** Also removes folders without permissions. Does nothing if there is none. */
  readonly removeFolder: (folder: string) => Promise<void>;
}

/** Each retry does without the packs that the attempt before found damaged. */
const maxAttempts = 4;

export function openArchives({ blobs, keys, indexOf, work, removeFolder }: ArchivesOptions): Archives {
  const folderOf = (companyId: string) => `packs/${companyId}`;

  const packsOf = (companyId: string, signal: AbortSignal): PackStore => {
    const [newest, ...older] = keys.all().map(({ bytes }) => bytes);
    if (newest === undefined) throw new Error("There is no archive key");
    return { blobs, box: makePieceBox(newest, companyId, older), folder: folderOf(companyId), signal };
  };

  function optionsFor(backup: ArchivedBackup, signal: AbortSignal): PieceStore {
    return { ...packsOf(backup.companyId, signal), index: indexOf(backup) };
  }

  /** Without files after a change of the key: new backups must not need pieces of the old one. */
  async function filesOf(before: KeptBackup | null, { box, signal }: PieceStore) {
    if (before === null) return new Map();
    // With the keys of the new backup, which may have changed since.
    const manifest = await loadManifest(splitNames(before.manifest), { ...optionsFor(before, signal), box }).catch(
      (error: unknown) => {
        // The new backup is then made without the damaged one.
        if (error instanceof BackupDamaged) return { files: [], isCurrent: false };
        throw error;
      },
    );
    if (!manifest.isCurrent) return new Map();
    return new Map(manifest.files.map((file) => [file.path, file]));
  }

  /** Packs that the backup needs and that are missing or have another length. */
  async function findMissing(backup: ArchivedBackup, signal: AbortSignal): Promise<readonly string[]> {
    const folder = folderOf(backup.companyId);
    // In this order, so that a pack that is added in the meantime is not reported as missing.
    const needed = await indexOf(backup).neededPacks();
    const listed = await blobs.list(folder, signal);
    return [...needed].filter(([pack, { bytes }]) => listed.get(blobOf(folder, pack)) !== bytes).map(([pack]) => pack);
  }

  /** Packs that the backup needs and that are lost or missing. */
  async function findLost(backup: ArchivedBackup, options: PieceStore): Promise<readonly string[]> {
    const missing = new Set(await findMissing(backup, options.signal));
    const needed = [...(await options.index.neededPacks())];
    return needed.filter(([pack, { isLost }]) => isLost || missing.has(pack)).map(([pack]) => pack);
  }

  /** Reused packs that are damaged. */
  async function findDamaged(reading: Reading, options: PieceStore & { readonly since: Date }) {
    const needed = [...(await options.index.neededPacks())].filter(([, { isLost }]) => !isLost);
    return readAgain(new Map(needed), reading, options);
  }

  async function saveIntact(
    backup: ArchivedBackup,
    folder: string,
    before: KeptBackup | null,
    options: PieceStore,
    reading: Reading,
  ) {
    const since = new Date();
    const files = await filesOf(before, options);
    let addedBytes = 0;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      let damaged: readonly string[] = [];
      const whenClaimed = async () => {
        damaged = await findDamaged(reading, { ...options, since });
      };
      const saved = await save(folder, { ...options, before: files, whenClaimed });
      addedBytes += saved.addedBytes;
      const bad = [...new Set([...damaged, ...(await findLost(backup, options))])];
      if (bad.length === 0) return { ...saved, addedBytes };
      // Packs of earlier backups are missing or damaged. This backup is made without them.
      await options.index.markLost(bad);
      await options.index.release(bad);
    }
    throw new ObjectStoreFailure("The archive store loses data.", { isTransient: false });
  }

  async function examine(backup: KeptBackup, signal: AbortSignal): Promise<string | null> {
    const options = optionsFor(backup, signal);
    const missing = await findMissing(backup, signal);
    await options.index.markLost(missing);
    try {
      const used = await readLost(splitNames(backup.manifest), options);
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
    if (!/^[0-9A-Za-z-]+$/.test(name)) throw new Error(`Invalid work folder name: ${name}`);
    return join(work, name);
  }

  return {
    keep: async (backup, folder, before, signal, reading = usualReading) => {
      const saved = await saveIntact(backup, folder, before, optionsFor(backup, signal), reading);
      return { ...saved, manifest: Buffer.concat(saved.manifest) };
    },
    restore: async (backup, folder, isWanted, signal) => {
      const options = optionsFor(backup, signal);
      await load(await loadManifest(splitNames(backup.manifest), options), folder, isWanted, options);
    },
    sizes: async (backup, signal) => {
      const { files } = await loadManifest(splitNames(backup.manifest), optionsFor(backup, signal));
      const sizes = new Map<string, number>();
      for (const { path, bytes } of files) {
        const [first = path] = path.split("/", 1);
        sizes.set(first, (sizes.get(first) ?? 0) + bytes);
      }
      return sizes;
    },
    compare: async (before, after, folder, signal) => {
      const manifestOf = (backup: KeptBackup) => loadManifest(splitNames(backup.manifest), optionsFor(backup, signal));
      return compareManifests(await manifestOf(before), await manifestOf(after), folder);
    },
    requireWritable: (name, signal) => requireWritable(blobs, `probes/${name}`, signal),
    isIntact: async (backup, signal) => (await findMissing(backup, signal)).length === 0,
    examine,
    readPack: ({ id, companyId, pieces }, signal) => isPackIntact(id, pieces, packsOf(companyId, signal)),
    removePack: ({ id, companyId }) => blobs.remove(blobOf(folderOf(companyId), id)),
    workFolder: async (name) => {
      const place = workOf(name);
      await removeFolder(place);
      await mkdir(work, { recursive: true, mode: 0o700 });
      return place;
    },
    workPlace: workOf,
    removeWorkFolder: async (name) => {
      // A killed process may have left an unfinished `.new` folder.
      for (const place of [workOf(name), `${workOf(name)}.new`]) await removeFolder(place);
    },
  };
}
