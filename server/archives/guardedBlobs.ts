/**
 * A store that is only used where it is the one that backups are in. A mark in it says so: a folder that is not mounted, or a
 * mistyped address, would otherwise be taken for a new, empty store, or for one that has lost everything. Nor is it used with
 * another key than backups were sealed with, to which all of them would seem to be damaged.
 */
import { BlobMissing, type Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { keyCheckOf, makePieceBox, PieceDamaged } from "./pieceBox.ts";

/** One of the pieces that must be in the store. */
export interface SomePiece {
  readonly blob: string;
  readonly companyId: string;
  readonly name: Buffer;
  readonly start: number;
  readonly length: number;
}

interface Known {
  /** A name that no other installation's store has. */
  readonly mark: string;
  /** Null if nothing was marked yet. */
  readonly place: string | null;
  /** Of the key that backups are sealed with; null if unknown. */
  readonly keyCheck: Buffer | null;
}

/** What is remembered elsewhere of the store that backups are in. */
export interface StoreMemory {
  recall(): Promise<Known>;
  /** The marked store is at this place now; where it was at another, all that is in it may not be in this one. */
  remember(place: string): Promise<void>;
  /** The key with this check is the one that backups are sealed with. */
  rememberKey(keyCheck: Buffer): Promise<void>;
  /** From now on another, empty store is used, with this key: nothing of what was kept is in it. */
  startFromScratch(place: string, keyCheck: Buffer): Promise<void>;
  /** None if it was never used. */
  sampleKeptPieces(): Promise<readonly SomePiece[]>;
}

export interface GuardOptions {
  readonly blobs: Blobs;
  readonly memory: StoreMemory;
  /** Of the archives. Null: it is missing. */
  readonly key: Buffer | null;
  /** How an operator knows the place, without secrets. */
  readonly place: string;
  /** Where the place is a folder, whether that is there. */
  readonly isThere: () => Promise<boolean>;
  /** Hears a sentence for the operator where an empty store was begun with. */
  readonly onNewStore: (sentence: string) => void;
}

export interface GuardedBlobs extends Blobs {
  /** Marks a store that is used for the first time. Rejects with `ObjectStoreFailure` if it is not the right one. */
  check(signal: AbortSignal): Promise<void>;
}

const markFolder = "installations";
/** As long as this, so that it can be read without asking for its length. */
const content = Buffer.from("Backups of Sitewright. This file says whose they are: leave it here.\n");
/** For so long a store that was the right one is taken to be still so, where something is read that is there. */
const trustedMilliseconds = 5_000;
const whatToDo = "Nothing is kept in it, and nothing removed, until this is put right.";

/**
 * Whether a key may be made where there is none: not where backups may have been kept, which only the missing one opens, unless
 * somebody begins an archive elsewhere.
 */
export async function mayMakeKey(
  memory: StoreMemory,
  { place, isThere }: Pick<GuardOptions, "place" | "isThere">,
): Promise<boolean> {
  const { place: before } = await memory.recall();
  if (before === null) return (await memory.sampleKeptPieces()).length === 0;
  return before !== place && isThere();
}

export function guardBlobs({ blobs, memory, key, place, isThere, onNewStore }: GuardOptions): GuardedBlobs {
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

  /** What is in the store of the pieces that must be. Rejects if the key does not open them. */
  async function lookAtKept(key: Buffer, signal: AbortSignal): Promise<"nothing was kept" | "gone" | "opened"> {
    const pieces = await memory.sampleKeptPieces();
    let isShut = false;
    for (const piece of pieces) {
      const sealed = await readIfThere(piece.blob, piece.start, piece.length, signal);
      if (sealed === null) continue;
      if (opens(key, piece, sealed)) return "opened";
      isShut = true;
    }
    if (isShut) throw otherKey(place);
    return pieces.length === 0 ? "nothing was kept" : "gone";
  }

  function requireKey(): Buffer {
    if (key === null) throw otherKey(place);
    return key;
  }

  /** Of backups from before it was remembered whose key it is, it is seen whether this one opens them. */
  async function checkKey({ mark, keyCheck }: Known, signal: AbortSignal): Promise<void> {
    const own = keyCheckOf(requireKey(), mark);
    if (keyCheck?.equals(own)) return;
    if (keyCheck !== null) throw otherKey(place);
    if ((await lookAtKept(requireKey(), signal)) !== "gone") await memory.rememberKey(own);
  }

  /** One that was used before there were marks has at least some of what was put into it. */
  async function markFirst(mark: string, signal: AbortSignal): Promise<void> {
    const kept = await lookAtKept(requireKey(), signal);
    if (kept === "gone") throw notOurs(`None of the backups that were kept is in ${place}.`);
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.rememberKey(keyCheckOf(requireKey(), mark));
    await memory.remember(place);
  }

  /** The setting has changed. If the folder exists, or it is a bucket, the change is intended. */
  async function startFromScratch(mark: string, before: string, signal: AbortSignal): Promise<void> {
    if (!(await isThere())) {
      throw notOurs(
        `There is no folder at ${place}. Until now backups were kept in ${before}. Is the address right? ` +
          "To begin with an empty archive there, make the folder.",
      );
    }
    const keyCheck = keyCheckOf(requireKey(), mark);
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.startFromScratch(place, keyCheck);
    onNewStore(
      `Backups are kept in ${place} from now on. Those made until now are in ${before}, and can't be restored from here ` +
        "unless all that is there is copied to the new place.",
    );
  }

  async function check(signal: AbortSignal): Promise<void> {
    const known = await memory.recall();
    const { mark, place: before } = known;
    if (await isMarked(mark, signal)) {
      await checkKey(known, signal);
      if (before !== place) await memory.remember(place);
    } else if (before === null) await markFirst(mark, signal);
    else if (before !== place) await startFromScratch(mark, before, signal);
    else {
      throw notOurs(
        `The archives of this installation are not in ${place}: the file ${markFolder}/${mark} is missing. ` +
          "Is it mounted, or not copied there yet?",
      );
    }
    trustedUntil = Date.now() + trustedMilliseconds;
  }

  async function checkLately(signal: AbortSignal): Promise<void> {
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
      await checkLately(signal);
      try {
        return await blobs.read(name, start, length, signal, memory);
      } catch (error) {
        // Missing here says something only where this is the right place.
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

function opens(key: Buffer, { companyId, name }: SomePiece, sealed: Buffer): boolean {
  try {
    makePieceBox(key, companyId).open(sealed, name);
    return true;
  } catch (error) {
    if (error instanceof PieceDamaged) return false;
    throw error;
  }
}

function otherKey(place: string): ObjectStoreFailure {
  const summary = "The key that backups are sealed with is missing, or does not open them.";
  const message =
    `${summary} Those in ${place} need the one that was the file archive-key in the folder secrets of the data folder: is ` +
    "that mounted? Each backup of the installation has the key too. Put it back, and start again. Where it is lost for good, name an " +
    "empty folder or bucket in SITEWRIGHT_ARCHIVE_URL: an archive with a new key begins there.";
  return new ObjectStoreFailure(`${message} ${whatToDo}`, { isTransient: false, summary });
}

function notOurs(message: string): ObjectStoreFailure {
  const summary = "The archive store is not there, or is another one than backups were kept in.";
  return new ObjectStoreFailure(`${message} ${whatToDo}`, { isTransient: false, summary });
}
