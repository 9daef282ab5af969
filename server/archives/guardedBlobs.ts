/**
 * A store that is only used where it is the one that backups are in. A mark in it says so: a folder that is not mounted, or a
 * mistyped address, would otherwise be taken for a new, empty store, or for one that has lost everything.
 */
import { BlobMissing, type Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

/** What is remembered elsewhere of the store that backups are in. */
export interface StoreMemory {
  /** `mark` is a name that no other installation's has; `place` is null where nothing was marked yet. */
  recall(): Promise<{ readonly mark: string; readonly place: string | null }>;
  /** The marked store is at this place now; where it was at another, all that is in it may not be in this one. */
  remember(place: string): Promise<void>;
  /** From now on another, empty store is used: nothing of what was kept is in it. */
  beginAnew(place: string): Promise<void>;
  /** Names of some blobs that must be in the store; none where it was never used. */
  someKept(): Promise<readonly string[]>;
}

export interface GuardOptions {
  readonly blobs: Blobs;
  readonly memory: StoreMemory;
  /** How an operator knows the place, without secrets. */
  readonly place: string;
  /** Where the place is a folder, whether that is there. */
  readonly isThere: () => Promise<boolean>;
  /** Hears a sentence for the operator where an empty store was begun with. */
  readonly onNewStore: (sentence: string) => void;
}

export interface GuardedBlobs extends Blobs {
  /** Marks a store that is used for the first time. Rejects with `ObjectStoreFailure` where it is not the right one. */
  check(signal: AbortSignal): Promise<void>;
}

const markFolder = "installations";
/** As long as this, so that it can be read without asking for its length. */
const content = Buffer.from("Backups of Sitewright. This file says whose they are: leave it here.\n");
/** For so long a store that was the right one is taken to be still so, where something is read that is there. */
const trustedMilliseconds = 5_000;
const whatToDo = "Nothing is kept in it, and nothing removed, until this is put right.";

export function guardBlobs({ blobs, memory, place, isThere, onNewStore }: GuardOptions): GuardedBlobs {
  let trustedUntil = 0;

  const isMarked = (mark: string, signal: AbortSignal) => isThereAs(`${markFolder}/${mark}`, content.length, signal);

  async function isThereAs(name: string, length: number, signal: AbortSignal): Promise<boolean> {
    try {
      await blobs.read(name, 0, length, signal);
      return true;
    } catch (error) {
      if (error instanceof BlobMissing) return false;
      throw error;
    }
  }

  /** One that was used before there were marks has at least some of what was put into it. */
  async function isKnown(signal: AbortSignal): Promise<boolean> {
    const names = await memory.someKept();
    for (const name of names) if (await isThereAs(name, 1, signal)) return true;
    return names.length === 0;
  }

  async function markFirst(mark: string, signal: AbortSignal): Promise<void> {
    if (!(await isKnown(signal))) throw notOurs(`None of the backups that were kept is in ${place}.`);
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.remember(place);
  }

  /** Somebody has changed the setting: where they have made the folder, or named a bucket, they mean it. */
  async function beginAnew(mark: string, before: string, signal: AbortSignal): Promise<void> {
    if (!(await isThere())) {
      throw notOurs(
        `There is no folder at ${place}. Until now backups were kept in ${before}. Is the address right? ` +
          "To begin with an empty archive there, make the folder.",
      );
    }
    await blobs.put(`${markFolder}/${mark}`, content, signal);
    await memory.beginAnew(place);
    onNewStore(
      `Backups are kept in ${place} from now on. Those made until now are in ${before}, and can't be restored from here ` +
        "unless all that is there is copied to the new place.",
    );
  }

  async function check(signal: AbortSignal): Promise<void> {
    const { mark, place: before } = await memory.recall();
    if (await isMarked(mark, signal)) {
      if (before !== place) await memory.remember(place);
    } else if (before === null) await markFirst(mark, signal);
    else if (before !== place) await beginAnew(mark, before, signal);
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

function notOurs(message: string): ObjectStoreFailure {
  const summary = "The archive store is not there, or is another one than backups were kept in.";
  return new ObjectStoreFailure(`${message} ${whatToDo}`, { isTransient: false, summary });
}
