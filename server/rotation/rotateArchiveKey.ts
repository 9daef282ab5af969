/**
 * Rotates the key in `secrets/archive-key`: backups are made with the new key from then on, and share nothing with earlier ones.
 * Those stay readable: the old key is removed when no backup needs it any more. Nothing is encrypted again.
 */
import { addKey, openKeySource, readKeys, removeKeysBefore } from "../keyFile.ts";
import { archiveKeyFile } from "../sealedSettings.ts";
import { countPacksOfOtherKeys } from "../store/backups/packs.ts";
import type { Database } from "../store/database.ts";
import { changeKeyFile } from "./changeKeyFile.ts";

/** How long an old key is kept at least, for backups that began before the rotation. Milliseconds. */
const minimumOverlap = 7 * 86_400_000;

export interface ArchiveRotation {
  readonly olderKeys: number;
  /** Packs that are encrypted with an older key. */
  readonly olderPacks: number;
}

interface RotationOptions {
  readonly database: Database;
  readonly data: string;
  readonly now?: () => Date;
}

/** Begins a rotation, or continues the one that is under way. Resolves with null if there is no key. */
export async function rotateArchiveKey(
  options: RotationOptions,
  { isForced = false } = {},
): Promise<ArchiveRotation | null> {
  const file = archiveKeyFile(options.data);
  await changeKeyFile(options.database, async () => {
    const keys = readKeys(file);
    if (keys !== null && (keys.length === 1 || isForced)) await addKey(file);
  });
  return continueArchiveRotation(options);
}

/** Removes the older keys if no backup needs them any more. Resolves with null if there is no key. */
export async function continueArchiveRotation(options: RotationOptions): Promise<ArchiveRotation | null> {
  const { database, data, now = () => new Date() } = options;
  const file = archiveKeyFile(data);
  if (readKeys(file) === null) return null;
  const keys = await openKeySource(file);
  const newest = keys.newest();
  if (keys.all().length === 1) return { olderKeys: 0, olderPacks: 0 };
  const olderPacks = await countPacksOfOtherKeys(database, newest.id);
  const age = newest.madeAt === null ? 0 : now().getTime() - newest.madeAt.getTime();
  if (olderPacks === 0 && age >= minimumOverlap) {
    await changeKeyFile(database, () => removeKeysBefore(file, newest));
  }
  return { olderKeys: keys.all().length - 1, olderPacks };
}
