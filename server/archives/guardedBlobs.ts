/**
 * Makes sure that a store is the one that holds the backups, by a mark file in it. Otherwise an unmounted folder or a mistyped
 * address would look like a new, empty store, or like one that has lost everything. Also makes sure that the key is the one
 * that the backups are encrypted with: with another key, all of them would look damaged.
 */
import type { KeySource } from "../keyFile.ts";
import { BlobMissing, type Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { keyCheckOf, makePieceBox, PieceDamaged } from "./pieceBox.ts";

/** A stored piece, read to check the key. */
export interface SamplePiece {
  readonly blob: string;
  readonly companyId: string;
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

interface KnownStore {
  /** Unique to this installation. */
  readonly mark: string;
  /** Null if no store was marked yet. */
  readonly place: string | null;
  /** Check value of the key that the backups are encrypted with, or null if unknown. */
  readonly keyCheck: Buffer | null;
}

/** What the database records about the store. */
export interface StoreMemory {
  recall(): Promise<KnownStore>;
  /** Records that the marked store is now at this place. If it was moved, parts of it may be missing. */
  remember(place: string): Promise<void>;
  /** Records the check value of the key that the backups are encrypted with. */
  rememberKey(keyCheck: Buffer): Promise<void>;
  /** Records that a new, empty store with this key is used from now on. */
  startFromScratch(place: string, keyCheck: Buffer): Promise<void>;
  /** Some stored pieces; empty if the store was never used. */
  sampleKeptPieces(): Promise<readonly SamplePiece[]>;
}

interface GuardOptions {
  readonly blobs: Blobs;
  readonly memory: StoreMemory;
  /** The archives' keys, or null if they are missing. */
  readonly keys: KeySource | null;
  /** The place as shown to operators, without secrets. */
  readonly place: string;
  /** Whether the place exists. Always true unless it is a folder. */
  readonly isThere: () => Promise<boolean>;
  /** Called with a sentence for the operator when a new store is started. */
  readonly onNewStore: (sentence: string) => void;
}

interface GuardedBlobs extends Blobs {
  /** Marks a store that is used for the first time. Rejects with `ObjectStoreFailure` if it is not the right one. */
  check(signal: AbortSignal): Promise<void>;
}

const markFolder = "installations";
/** Content of the mark. Its length is fixed, because it is read without asking for the length. */
const content = Buffer.from("Backups of Sitewright. This file says whose they are: leave it here.\n");
/** How long a successful check is trusted for reads. */
const trustedMilliseconds = 5_000;
const consequence = "Until this is fixed, nothing is stored in the archives or removed from them.";

/**
 * Whether a missing key can be replaced by a new one: only if there are no backups that need the missing one, or if the
 * operator starts a new archive elsewhere.
 */
export async function canCreateKey(
  memory: StoreMemory,
  { place, isThere }: Pick<GuardOptions, "place" | "isThere">,
): Promise<boolean> {
  const { place: before } = await memory.recall();
  if (before === null) return (await memory.sampleKeptPieces()).length === 0;
  return before !== place && isThere();
}

export function guardBlobs({ blobs, memory, keys, place, isThere, onNewStore }: GuardOptions): GuardedBlobs {
  let trustedUntil = 0;

  async function isMarked(mark: string, signal: AbortSignal): Promise<boolean> {
    return (await readIfThere(`${markFolder}/${mark}`, 0, content.length, signal)) !== null;
  }

  async function readIfThere(name: string, start: number, length: number, signal: AbortSignal): Promise<Buffer | null> {
    try {
      return await blobs.read(name, start, length, signal);
    } catch (error) {
      if (error instanceof BlobMissing) return null;
      throw error;
    }
  }

  /** Checks sample pieces in the store. Rejects if the key does not open them. */
  async function checkSamples(signal: AbortSignal): Promise<"unused" | "missing" | "opened"> {
    const pieces = await memory.sampleKeptPieces();
    let hasOtherKey = false;
    for (const piece of pieces) {
      const sealed = await readIfThere(piece.blob, piece.start, piece.length, signal);
      if (sealed === null) continue;
      if (requireKeys().some((key) => opens(key, piece, sealed))) return "opened";
      hasOtherKey = true;
    }
    if (hasOtherKey) throw wrongKey(place);
    return pieces.length === 0 ? "unused" : "missing";
  }

  /** The newest first. */
  function requireKeys(): readonly [Buffer, ...Buffer[]] {
    if (keys === null) throw wrongKey(place);
    const [newest, ...older] = keys.all();
    return [newest.bytes, ...older.map(({ bytes }) => bytes)];
  }

  /** If the key's check value is not recorded yet (by older versions), tries the key on sample pieces. */
  async function checkKey({ mark, keyCheck }: KnownStore, signal: AbortSignal): Promise<void> {
    const [own, ...older] = requireKeys().map((key) => keyCheckOf(key, mark));
    if (own === undefined || keyCheck?.equals(own)) return;
    const isRotated = keyCheck !== null && older.some((check) => check.equals(keyCheck));
    if (keyCheck !== null && !isRotated) throw wrongKey(place);
    if (isRotated || (await checkSamples(signal)) !== "missing") await memory.rememberKey(own);
  }

  /** Marks the store for the first time. A store that was used before there were marks must contain some known pieces. */
  async function markFirst(mark: string, signal: AbortSignal): Promise<void> {
    const samples = await checkSamples(signal);
    if (samples === "missing") throw wrongStore(`None of the existing backups is in ${place}.`);
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.rememberKey(keyCheckOf(requireKeys()[0], mark));
    await memory.remember(place);
  }

  /** The setting has changed. The change is intended if the folder exists, or if the place is a bucket. */
  async function startNewStore(mark: string, before: string, signal: AbortSignal): Promise<void> {
    if (!(await isThere())) {
      throw wrongStore(
        `There is no folder at ${place}. Until now backups were in ${before}. ` +
          "Check the address, or create the folder to start an empty archive there.",
      );
    }
    const keyCheck = keyCheckOf(requireKeys()[0], mark);
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.startFromScratch(place, keyCheck);
    onNewStore(
      `New backups are stored in ${place} from now on. Earlier ones are in ${before} and can't be restored unless they are ` +
        "copied to the new place.",
    );
  }

  async function check(signal: AbortSignal): Promise<void> {
    const known = await memory.recall();
    const { mark, place: before } = known;
    if (await isMarked(mark, signal)) {
      await checkKey(known, signal);
      if (before !== place) await memory.remember(place);
    } else if (before === null) await markFirst(mark, signal);
    else if (before !== place) await startNewStore(mark, before, signal);
    else {
      throw wrongStore(
        `The archives of this installation are not in ${place}: the file ${markFolder}/${mark} is missing. ` +
          "Is it mounted? If the archives were moved, copy them there.",
      );
    }
    trustedUntil = Date.now() + trustedMilliseconds;
  }

  async function checkUnlessTrusted(signal: AbortSignal): Promise<void> {
    const left = trustedUntil - Date.now();
    if (left <= 0 || left > trustedMilliseconds) await check(signal);
  }

  return {
    check,
    put: async (name, bytes, signal) => {
      await check(signal);
      await blobs.put(name, bytes, signal);
    },
    read: async (name, start, length, signal, memory) => {
      await checkUnlessTrusted(signal);
      try {
        return await blobs.read(name, start, length, signal, memory);
      } catch (error) {
        // An absence is only meaningful if this is the right store.
        if (error instanceof BlobMissing) await check(signal);
        throw error;
      }
    },
    list: async (folder, signal) => {
      const found = await blobs.list(folder, signal);
      await check(signal);
      return found;
    },
    remove: async (name) => {
      await check(new AbortController().signal);
      await blobs.remove(name);
    },
  };
}

function opens(key: Buffer, { companyId, name }: SamplePiece, sealed: Buffer): boolean {
  try {
    makePieceBox(key, companyId).open(sealed, name);
    return true;
  } catch (error) {
    if (error instanceof PieceDamaged) return false;
    throw error;
  }
}

function wrongKey(place: string): ObjectStoreFailure {
  const summary = "The archive key is missing, or is not the one that the backups are encrypted with.";
  const message =
    `${summary} The backups in ${place} need the original file archive-key in the folder secrets of the data folder. Is ` +
    "the data folder mounted? Each backup of the installation contains the key too. Put it back and restart. If it is lost for " +
    "good, name an empty folder or bucket in SITEWRIGHT_ARCHIVE_URL to start an archive with a new key.";
  return new ObjectStoreFailure(`${message} ${consequence}`, { isTransient: false, summary });
}

function wrongStore(message: string): ObjectStoreFailure {
  const summary = "The archive store is missing, or is not the one that holds the backups.";
  return new ObjectStoreFailure(`${message} ${consequence}`, { isTransient: false, summary });
}
