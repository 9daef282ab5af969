/**
 * Copies a consistent state of a database that PHP may be writing.
 *
 * PHP can write everything in the folder, including the journal, and SQLite trusts a journal, even if it names another
 * file that decides whether the write counts. So a live database is only opened for reading, which leaves its journal
 * alone. If a killed worker has left an unfinished write, database and journal are copied, the journal is checked, and
 * the write is rolled back in the copy.
 */
import { copyFile, mkdir, open, rm, stat } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { RuntimeFailure } from "../runtime.ts";
import { listDatabaseFiles } from "./databaseFiles.ts";

/** SQLite error codes: the lower byte of extended codes. */
const busy = 5;
const corrupt = 11;
const notDatabase = 26;
/** A complete extended code. */
const unfinishedWrite = 776;

/** How long a reader waits for a writer. */
const lockTimeoutMilliseconds = 20_000;
const maxAttempts = 50;
/** Pages per step of a backup: all at once, because a write between two steps would restart it. */
const everyPage = 2 ** 31 - 1;
/** The last bytes of a journal that names another file. */
const endOfName = Buffer.from("d9d505f920a163d7", "hex");

function codeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}

/** Whether SQLite found a file to be damaged. */
export function isDamaged(error: unknown): boolean {
  return [corrupt, notDatabase].includes(codeOf(error) & 0xff);
}

/** Whether another process had locked the database. */
export function isBusy(error: unknown): boolean {
  return (codeOf(error) & 0xff) === busy;
}

/** Whether a killed worker has left an unfinished write, which readers can't roll back. */
export function isUnfinished(error: unknown): boolean {
  return codeOf(error) === unfinishedWrite;
}

async function copyInOneRead(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: lockTimeoutMilliseconds });
  try {
    source.exec("BEGIN");
    // The first read takes the lock, which is held until the end. It reads nothing that PHP could have manipulated.
    source.prepare("PRAGMA schema_version").get();
    await backup(source, to, { rate: everyPage });
  } finally {
    source.close();
  }
}

async function identityOf(file: string): Promise<string | null> {
  const facts = await stat(file, { bigint: true }).catch(() => null);
  return facts === null ? null : [facts.ino, facts.size, facts.mtimeNs].join();
}

async function namesAnotherFile(journal: string): Promise<boolean> {
  const handle = await open(journal, "r");
  try {
    const { size } = await handle.stat();
    const end = Buffer.alloc(endOfName.length);
    await handle.read(end, 0, end.length, Math.max(0, size - end.length));
    return end.equals(endOfName);
  } finally {
    await handle.close();
  }
}

/** Copies a file. Returns false if it doesn't exist. */
async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Copies a database with an unfinished write and rolls the write back. Returns false if it was finished or rolled back
 * meanwhile.
 */
async function copyUnfinished(from: string, to: string): Promise<boolean> {
  const journal = `${from}-journal`;
  const before = await identityOf(journal);
  if (before === null) return false;
  try {
    // The writer may have finished since the check.
    if (!(await copyIfThere(journal, `${to}-journal`))) return false;
    await copyFile(from, to);
    if ((await identityOf(journal)) !== before) return false;
    if (await namesAnotherFile(`${to}-journal`)) {
      throw new RuntimeFailure(`The database ${path.basename(from)} has a journal that can't be trusted.`);
    }
    const copy = new DatabaseSync(to);
    try {
      copy.prepare("PRAGMA schema_version").get();
    } finally {
      copy.close();
    }
    return true;
  } finally {
    await rm(`${to}-journal`, { force: true });
  }
}

/** Sets the rollback journal: under WebAssembly any other mode loses rows (`sqliteDatabase.ts`). */
function useRollbackJournal(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.prepare("PRAGMA journal_mode = DELETE").get();
  } finally {
    database.close();
  }
}

/** Copies a database to `to`, which must not exist. Rejects with `RuntimeFailure` if the database is never free. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await copyInOneRead(from, to);
      useRollbackJournal(to);
      return;
    } catch (error) {
      if (isBusy(error)) {
        const sentence = "The database is being written constantly. Try again when the site is less busy.";
        throw new RuntimeFailure(sentence, { cause: error });
      }
      if (!isUnfinished(error) || attempt === maxAttempts) throw error;
    }
    await rm(to, { force: true });
    if (await copyUnfinished(from, to)) return useRollbackJournal(to);
    await rm(to, { force: true });
    await delay(20);
  }
}

/** Copies everything in `from` into the empty folder `to`. Returns the relative paths of the databases. */
export async function copyDatabaseFolder(from: string, to: string): Promise<readonly string[]> {
  const { folders, databases, others } = await listDatabaseFiles(from);
  for (const folder of folders) await mkdir(path.join(to, folder));
  for (const file of databases) await copyDatabase(path.join(from, file), path.join(to, file));
  for (const file of others) {
    // It may have vanished since it was listed.
    await copyIfThere(path.join(from, file), path.join(to, file));
  }
  return databases;
}
