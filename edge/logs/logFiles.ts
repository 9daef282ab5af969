/**
 * Appends lines to log files in the background. Lines are collected in memory for a moment and written together.
 *
 * A log consists of the files `<folder>/<environment>/<name>-<time of creation>.log`, newest last. Files are never
 * renamed: after a crash the next process continues the last file, and concurrent readers find every line once. Lines
 * that can't be written are counted and dropped, so that a full disk doesn't affect visitors.
 */
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";

export interface LogLimits {
  /** Size at which the next file is started. */
  readonly fileBytes: number;
  /** Maximum for all files of a log together. */
  readonly logBytes: number;
  /** Age at which the next file is started, so that old ones can be removed. */
  readonly fileSeconds: number;
  /** How long lines are collected before they are written. */
  readonly flushMilliseconds: number;
  /** Limits for waiting lines, per log and for all logs. Further lines are lost. */
  readonly waitingCharacters: { readonly each: number; readonly all: number };
}

export const defaultLogLimits: LogLimits = {
  fileBytes: 10_000_000,
  logBytes: 50_000_000,
  fileSeconds: 24 * 60 * 60,
  flushMilliseconds: 200,
  waitingCharacters: { each: 2_000_000, all: 50_000_000 },
};

interface LogFilesOptions {
  readonly folder: string;
  readonly limits: LogLimits;
  /** Called when writing works again, with the number of lines that were lost. */
  readonly onLost: (environmentId: string, name: string, lines: number) => void;
}

interface LogFiles {
  /** Adds a line, given without line end. */
  write(environmentId: string, name: string, line: string): void;
  /** Resolves when all previous lines are written or lost. */
  flush(): Promise<void>;
}

interface Log {
  readonly environmentId: string;
  readonly name: string;
  lines: string[];
  characters: number;
  lost: number;
  /** The current file; null if it must be looked up. */
  file: { readonly name: string; readonly createdAt: number; bytes: number } | null;
}

/** Logs that are written in parallel. More would occupy the threads that also read visitors' files. */
const parallelWrites = 8;

export function createLogFiles({ folder, limits, onLost }: LogFilesOptions): LogFiles {
  const logs = new Map<string, Log>();
  let waiting = new Set<Log>();
  let waitingCharacters = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), limits.flushMilliseconds).unref();
  }

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing = writing.then(writeWaiting);
    return writing;
  }

  async function writeWaiting(): Promise<void> {
    const batch = [...waiting];
    waiting = new Set();
    for (let start = 0; start < batch.length; start += parallelWrites) {
      await Promise.all(batch.slice(start, start + parallelWrites).map(writeLog));
    }
  }

  async function writeLog(log: Log): Promise<void> {
    // The lines may have been written already, in the previous batch.
    if (log.lines.length === 0) return;
    const bytes = Buffer.from(`${log.lines.join("\n")}\n`);
    waitingCharacters -= log.characters;
    log.lines = [];
    log.characters = 0;
    const lost = await appendLines(log, path.join(folder, log.environmentId), bytes, limits);
    log.lost += lost;
    if (lost > 0 || log.lost === 0) return;
    onLost(log.environmentId, log.name, log.lost);
    log.lost = 0;
  }

  return {
    write(environmentId, name, line) {
      const key = `${environmentId}/${name}`;
      const log = logs.get(key) ?? { environmentId, name, lines: [], characters: 0, lost: 0, file: null };
      logs.set(key, log);
      const { each, all } = limits.waitingCharacters;
      if (log.characters + line.length > each || waitingCharacters + line.length > all) {
        log.lost += 1;
        return;
      }
      log.lines.push(line);
      log.characters += line.length;
      waitingCharacters += line.length;
      waiting.add(log);
      schedule();
    },
    flush,
  };
}

/** Returns how many lines are lost; never rejects. */
async function appendLines(log: Log, folder: string, bytes: Buffer, limits: LogLimits): Promise<number> {
  let written = 0;
  try {
    await using handle = await openLog(log, folder, limits);
    while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    if (log.file !== null) log.file.bytes += written;
    return 0;
  } catch {
    // The next write looks the file up again and completes its last line.
    log.file = null;
    return bytes.subarray(written).reduce((lines, byte) => (byte === lineEnd ? lines + 1 : lines), 0);
  }
}

const lineEnd = 10;

/** Opens the file to append to. If its last line is incomplete, ends it. */
async function openLog(log: Log, folder: string, limits: LogLimits): Promise<FileHandle> {
  if (log.file !== null && isFull(log.file, limits)) log.file = null;
  if (log.file !== null) return openFile(folder, log.file.name);
  const names = await listFiles(folder, log.name);
  const newest = names.at(-1);
  const found = newest === undefined ? null : await statFile(folder, newest, log.name);
  log.file = found !== null && !isFull(found, limits) ? found : await createFile(log.name, folder, names, limits);
  const handle = await openFile(folder, log.file.name);
  try {
    await endLastLine(handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function isFull({ createdAt, bytes }: NonNullable<Log["file"]>, limits: LogLimits): boolean {
  const age = Date.now() - createdAt;
  return bytes >= limits.fileBytes || age > limits.fileSeconds * 1000;
}

async function openFile(folder: string, name: string): Promise<FileHandle> {
  const file = path.join(folder, name);
  try {
    return await open(file, "a+", 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(file, "a+", 0o600);
  }
}

/** Ends a line that was cut off by a crash or a full disk. */
async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== lineEnd) await handle.write("\n");
}

/** The files of a log, oldest first. */
async function listFiles(folder: string, name: string): Promise<readonly string[]> {
  const all = await readdir(folder).catch(() => []);
  return all.filter((file) => creationTime(file, name) !== null).toSorted();
}

async function statFile(folder: string, file: string, name: string): Promise<Log["file"]> {
  const { size } = await stat(path.join(folder, file));
  return { name: file, createdAt: creationTime(file, name) ?? 0, bytes: size };
}

/** Starts a new file. Removes the oldest files if they and a full new one would exceed the limit. */
async function createFile(name: string, folder: string, files: readonly string[], limits: LogLimits) {
  const sizes = await Promise.all(files.map(async (file) => (await statFile(folder, file, name))?.bytes ?? 0));
  let room = limits.logBytes - limits.fileBytes;
  for (const [index, file] of [...files.entries()].reverse()) {
    room -= sizes[index] ?? 0;
    if (room < 0) await rm(path.join(folder, file), { force: true });
  }
  const last = creationTime(files.at(-1) ?? "", name) ?? 0;
  // Keeps the newest file last by name, even after the clock was set back.
  const at = Math.max(Date.now(), last + 1);
  return { name: fileName(name, at), createdAt: at, bytes: 0 };
}

/** `access-20261122T201531123Z.log` */
function fileName(name: string, at: number): string {
  return `${name}-${new Date(at).toISOString().replace(/[-:.]/g, "")}.log`;
}

const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.log$/;

/** The time in the file's name. Null if the file is not part of the log. */
function creationTime(file: string, name: string): number | null {
  if (!file.startsWith(`${name}-`)) return null;
  const parts = stamp.exec(file.slice(name.length + 1));
  if (parts === null) return null;
  const [, year, month, day, hours, minutes, seconds, milliseconds] = parts;
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
