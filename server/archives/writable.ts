/** A quick check whether an archive store can be written to. */
import { randomBytes } from "node:crypto";
import type { Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

/** Longer than the retries of failing requests. */
const timeoutMilliseconds = 20_000;
/** A full disk may still accept a few bytes. */
const probeBytes = 64 << 10;

/**
 * Writes a blob, reads it back, finds it in the list, as a backup would, and removes it. `name` must be unique; calls with
 * the same name leave nothing behind. Rejects if the store fails or times out.
 */
export async function requireWritable(
  blobs: Blobs,
  name: string,
  signal: AbortSignal,
  milliseconds = timeoutMilliseconds,
): Promise<void> {
  const timeout = AbortSignal.timeout(milliseconds);
  const either = AbortSignal.any([signal, timeout]);
  try {
    await untilAborted(probe(blobs, name, either), either);
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new ObjectStoreFailure("The archive store takes too long to answer.", { isTransient: false });
  }
}

async function probe(blobs: Blobs, name: string, signal: AbortSignal): Promise<void> {
  const content = randomBytes(probeBytes);
  try {
    await blobs.put(name, content, signal);
    const found = await blobs.read(name, 0, content.length, signal);
    const listed = await blobs.list(name.slice(0, name.lastIndexOf("/")), signal);
    if (found.equals(content) && listed.get(name) === content.length) return;
    throw new ObjectStoreFailure("The archive store loses data.", { isTransient: false });
  } finally {
    // A store that forbids removals can still hold backups.
    await blobs.remove(name).catch(() => undefined);
  }
}

/** File operations on an unreachable disk may never return. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  // The one that ends later is ignored.
  for (const end of [work, aborted.promise]) end.catch(() => undefined);
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
