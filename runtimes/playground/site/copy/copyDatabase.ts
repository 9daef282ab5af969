/**
 * Copies a database that PHP may be writing, as it is at one moment.
 *
 * PHP writes everything in the folder, the journal beside the database too, and SQLite believes a journal, even where it
 * names another file that decides whether the write counts. So a live database is only ever opened for reading, which
 * leaves its journal alone. Where a killed worker has left a write unfinished, database and journal are copied as they
 * are, the journal is looked at, and the write is taken back in the copy.
 */
import { copyFile, mkdir, open, rm, stat } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { RuntimeFailure } from "../../../runtime.ts";
import { listDatabaseFiles } from "../database/databaseFiles.ts";

/** Codes of SQLite: the lower byte of its extended ones. */
const busy = 5;
const corrupt = 11;
const notDatabase = 26;
/** An extended code, whole. */
const unfinishedWrite = 776;

/** How long a reader waits for one who is just writing. */
const patienceMilliseconds = 20_000;
const tries = 50;
/** Of a backup: all at once, so that nothing can be written between two steps and make it begin again. */
const everyPage = 2 ** 31 - 1;
/** The last bytes of a journal that names another file. */
const endOfName = Buffer.from("d9d505f920a163d7", "hex");

function codeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}

/** Whether SQLite could not make sense of a file. */
export function isDamaged(error: unknown): boolean {
  return [corrupt, notDatabase].includes(codeOf(error) & 0xff);
}

/** Whether another process was reading or writing it. */
export function isBusy(error: unknown): boolean {
  return (codeOf(error) & 0xff) === busy;
}

/** Whether a killed worker has left an unfinished write, which readers can't roll back. */
export function isUnfinished(error: unknown): boolean {
  return codeOf(error) === unfinishedWrite;
}

async function copyInOneRead(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: patienceMilliseconds });
  try {
    source.exec("BEGIN");
    // The first read takes the lock, which is kept until the end. It reads nothing that PHP could have made a trap of.
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

/** False if there is no such file. */
async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/** False if the write was finished or rolled back meanwhile. */
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

/** Under WebAssembly any other journal loses rows (`../wpConfig.ts`). */
function useRollbackJournal(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.prepare("PRAGMA journal_mode = DELETE").get();
  } finally {
    database.close();
  }
}

/** `to` must not be there. Rejects with `RuntimeFailure` if the database is never free. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await copyInOneRead(from, to);
      useRollbackJournal(to);
      return;
    } catch (error) {
      if (isBusy(error)) {
        const sentence = "The database is written without a pause. Try again when less is going on.";
        throw new RuntimeFailure(sentence, { cause: error });
      }
      if (!isUnfinished(error) || tried === tries) throw error;
    }
    await rm(to, { force: true });
    if (await copyUnfinished(from, to)) return useRollbackJournal(to);
    await rm(to, { force: true });
    await delay(20);
  }
}

/** Copies all that is in `from` into the new folder `to`. Returns the paths of the databases in it, relative to it. */
export async function copyDatabaseFolder(from: string, to: string): Promise<readonly string[]> {
  const { folders, databases, others } = await listDatabaseFiles(from);
  for (const folder of ["", ...folders]) await mkdir(path.join(to, folder));
  for (const file of databases) await copyDatabase(path.join(from, file), path.join(to, file));
  for (const file of others) {
    // It may have vanished since it was listed.
    await copyIfThere(path.join(from, file), path.join(to, file));
  }
  return databases;
}
