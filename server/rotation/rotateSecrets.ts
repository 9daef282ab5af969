/**
 * Rotates the key in `secrets/key`: adds a new one, seals everything again, and removes the old one when nothing needs it any
 * more. Each step can be interrupted and repeated. Processes notice the new key by themselves.
 */
import { addKey, type KeySource, openKeySource, openKeys, removeKeysBefore } from "../keyFile.ts";
import { secretsKeyFile } from "../sealedSettings.ts";
import { hasDownloadBefore } from "../store/sealedValues.ts";
import { changeKeyFile } from "./changeKeyFile.ts";
import { type Resealed, type ResealOptions, resealAll } from "./reseal.ts";

/**
 * How long an old key is kept at least: for PHP processes that have shown it to the edge, and transactions that began before
 * the rotation. Milliseconds.
 */
const minimumOverlap = 7 * 86_400_000;

export interface RotationState extends Resealed {
  /** When the newest key was made; null: unknown, by an earlier version. */
  readonly since: Date | null;
  /** The number of older keys that are kept. */
  readonly olderKeys: number;
}

type RotationOptions = Pick<ResealOptions, "database" | "data" | "onStep"> & { readonly now?: () => Date };

/** Begins a rotation, or continues the one that is under way. `isForced`: begins another one all the same. */
export async function rotateSecrets(options: RotationOptions, { isForced = false } = {}): Promise<RotationState> {
  const file = secretsKeyFile(options.data);
  await changeKeyFile(options.database, async () => {
    const [, older] = await openKeys(file);
    if (older === undefined || isForced) await addKey(file);
  });
  options.onStep?.("key");
  return continueWith(options, await openKeySource(file));
}

/** Continues a rotation that is under way. Resolves with null if there is none. */
export async function continueRotation(options: RotationOptions): Promise<RotationState | null> {
  const keys = await openKeySource(secretsKeyFile(options.data));
  return keys.all().length === 1 ? null : continueWith(options, keys);
}

async function continueWith(options: RotationOptions, keys: KeySource): Promise<RotationState> {
  const newest = keys.newest();
  const resealed = await resealAll({ ...options, keys });
  const remaining = [...resealed.remaining, ...(await otherReasons(options, newest.madeAt))];
  if (remaining.length === 0) {
    options.onStep?.("removal");
    await changeKeyFile(options.database, () => removeKeysBefore(secretsKeyFile(options.data), newest));
  }
  return { ...resealed, remaining, since: newest.madeAt, olderKeys: keys.all().length - 1 };
}

/** Reasons to keep the older keys besides what is sealed with them. */
async function otherReasons({ database, now = () => new Date() }: RotationOptions, madeAt: Date | null) {
  if (madeAt === null) return [];
  const earliest = new Date(madeAt.getTime() + minimumOverlap);
  return [
    ...(now() < earliest ? [`running processes, until ${earliest.toISOString()}`] : []),
    ...((await hasDownloadBefore(database, madeAt)) ? ["links to downloadable backups"] : []),
  ];
}
