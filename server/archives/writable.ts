/** Whether an archive store takes something at this moment, found out with little and within little time. */
import { randomBytes } from "node:crypto";
import type { Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

/** Longer than a store that answers with errors is asked again; a store that hangs is not waited for any longer. */
const patienceMilliseconds = 20_000;
/** A disk that is full may still take a few bytes. */
const probeBytes = 64 << 10;

/**
 * Puts something under a name that nothing else has, reads it back, finds it in the list, as a backup would, and removes
 * it. Again under the same name it leaves nothing either. Rejects if the store does not do all of it in time.
 */
export async function requireWritable(
  blobs: Blobs,
  name: string,
  signal: AbortSignal,
  milliseconds = patienceMilliseconds,
): Promise<void> {
  const time = AbortSignal.timeout(milliseconds);
  const both = AbortSignal.any([signal, time]);
  try {
    await untilAborted(tryOut(blobs, name, both), both);
  } catch (error) {
    signal.throwIfAborted();
    if (!time.aborted) throw error;
    throw new ObjectStoreFailure("The archive store takes too long to answer.", { isTransient: false });
  }
}

async function tryOut(blobs: Blobs, name: string, signal: AbortSignal): Promise<void> {
  const content = randomBytes(probeBytes);
  try {
    await blobs.put(name, content, signal);
    const found = await blobs.read(name, 0, content.length, signal);
    const listed = await blobs.list(name.slice(0, name.lastIndexOf("/")), signal);
    if (found.equals(content) && listed.get(name) === content.length) return;
    throw new ObjectStoreFailure("The archive store loses what was put into it.", { isTransient: false });
  } finally {
    // A store that lets nothing be removed keeps backups as well as others.
    await blobs.remove(name).catch(() => undefined);
  }
}

/** File operations on an unreachable disk may never return. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  // The later of the two is ignored.
  for (const end of [work, aborted.promise]) end.catch(() => undefined);
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
