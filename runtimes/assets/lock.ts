/**
 * A lock between processes: SQLite's lock on an empty database file. The operating system releases it when its holder
 * dies, so that there is nothing to clean up.
 */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

const busy = 5;

function tryLock(file: string): DatabaseSync | null {
  const database = new DatabaseSync(file);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return null;
    throw error;
  }
}

/**
 * Waits for the lock, then runs `work` while holding it. `onWait` is called once if another process holds it. Rejects if `signal` is
 * aborted before `work` begins.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  onWait?: () => void,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  await mkdir(path.dirname(file), { recursive: true });
  let lock = tryLock(file);
  if (lock === null) onWait?.();
  while (lock === null) {
    await delay(50, undefined, { signal });
    lock = tryLock(file);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}
