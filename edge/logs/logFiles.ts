/**
 * Lines that are appended to files without anybody waiting for it: kept in memory for a moment, written together.
 *
 * A log is `<folder>/<of>/<name>-<when the file was begun>.log`, newest last. Nothing is ever renamed, so that a process
 * that is killed leaves a file that the next one goes on with, and whoever reads meanwhile finds every line once. What
 * can't be written is counted and thrown away: a full disk is no visitor's trouble.
 */
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";

export interface LogLimits {
  /** Of one file; then another is begun. */
  readonly fileBytes: number;
  /** Of all files of one log together. */
  readonly logBytes: number;
  /** After which another file is begun, so that old ones can be removed. */
  readonly fileSeconds: number;
  /** How long a line waits for others. */
  readonly flushMilliseconds: number;
  /** Of lines of one log, and of all together, that wait to be written: what comes on top is lost. */
  readonly waitingCharacters: { readonly each: number; readonly all: number };
}

export const usualLogLimits: LogLimits = {
  fileBytes: 10_000_000,
  logBytes: 50_000_000,
  fileSeconds: 24 * 60 * 60,
  flushMilliseconds: 200,
  waitingCharacters: { each: 2_000_000, all: 50_000_000 },
};

export interface LogFilesOptions {
  readonly folder: string;
  readonly limits: LogLimits;
  /** Lines can be written again; so many could not. */
  readonly onLost: (of: string, name: string, lines: number) => void;
}

export interface LogFiles {
  /** `line` is one line, without its end. */
  write(of: string, name: string, line: string): void;
  /** Resolves when all lines before are written, or lost. */
  flush(): Promise<void>;
}

interface Log {
  readonly of: string;
  readonly name: string;
  lines: string[];
  characters: number;
  lost: number;
  /** Which is written to; null if that must be looked up. */
  file: { readonly name: string; readonly begunAt: number; bytes: number } | null;
}

/** Of logs. More would keep files of visitors waiting for the same threads. */
const writtenTogether = 8;

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
    const turn = [...waiting];
    waiting = new Set();
    for (let start = 0; start < turn.length; start += writtenTogether) {
      await Promise.all(turn.slice(start, start + writtenTogether).map(writeLog));
    }
  }

  async function writeLog(log: Log): Promise<void> {
    // Those that came since its turn began were written in it.
    if (log.lines.length === 0) return;
    const bytes = Buffer.from(`${log.lines.join("\n")}\n`);
    waitingCharacters -= log.characters;
    log.lines = [];
    log.characters = 0;
    const missing = await append(log, path.join(folder, log.of), bytes, limits);
    log.lost += missing;
    if (missing > 0 || log.lost === 0) return;
    onLost(log.of, log.name, log.lost);
    log.lost = 0;
  }

  return {
    write(of, name, line) {
      const key = `${of}/${name}`;
      const log = logs.get(key) ?? { of, name, lines: [], characters: 0, lost: 0, file: null };
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
async function append(log: Log, folder: string, bytes: Buffer, limits: LogLimits): Promise<number> {
  let written = 0;
  try {
    await using handle = await openLog(log, folder, limits);
    while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    if (log.file !== null) log.file.bytes += written;
    return 0;
  } catch {
    // The next one looks what is there, and whether the last line ended.
    log.file = null;
    return bytes.subarray(written).reduce((lines, byte) => (byte === lineEnd ? lines + 1 : lines), 0);
  }
}

const lineEnd = 10;

/** The file to append to, whose last line has ended. */
async function openLog(log: Log, folder: string, limits: LogLimits): Promise<FileHandle> {
  if (log.file !== null && isToBeLeft(log.file, limits)) log.file = null;
  if (log.file !== null) return openIn(folder, log.file.name);
  const names = await filesOf(folder, log.name);
  const newest = names.at(-1);
  const found = newest === undefined ? null : await lookAt(folder, newest, log.name);
  log.file = found !== null && !isToBeLeft(found, limits) ? found : await begin(log.name, folder, names, limits);
  const handle = await openIn(folder, log.file.name);
  try {
    await endLastLine(handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function isToBeLeft({ begunAt, bytes }: NonNullable<Log["file"]>, limits: LogLimits): boolean {
  const age = Date.now() - begunAt;
  return bytes >= limits.fileBytes || age > limits.fileSeconds * 1000;
}

async function openIn(folder: string, name: string): Promise<FileHandle> {
  const file = path.join(folder, name);
  try {
    return await open(file, "a+", 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(file, "a+", 0o600);
  }
}

/** Its writer may have been killed, or have hit a full disk, in the middle of a line. */
async function endLastLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== lineEnd) await handle.write("\n");
}

/** By name, which is by age. */
async function filesOf(folder: string, name: string): Promise<readonly string[]> {
  const all = await readdir(folder).catch(() => []);
  return all.filter((file) => begunAt(file, name) !== null).toSorted();
}

async function lookAt(folder: string, file: string, name: string): Promise<Log["file"]> {
  const { size } = await stat(path.join(folder, file));
  return { name: file, begunAt: begunAt(file, name) ?? 0, bytes: size };
}

/** Removes the oldest files where they and a full new one would be too much. */
async function begin(name: string, folder: string, files: readonly string[], limits: LogLimits) {
  const sizes = await Promise.all(files.map(async (file) => (await lookAt(folder, file, name))?.bytes ?? 0));
  let room = limits.logBytes - limits.fileBytes;
  for (const [index, file] of [...files.entries()].reverse()) {
    room -= sizes[index] ?? 0;
    if (room < 0) await rm(path.join(folder, file), { force: true });
  }
  const last = begunAt(files.at(-1) ?? "", name) ?? 0;
  // After a clock was set back, too, the newest is the last by name.
  const at = Math.max(Date.now(), last + 1);
  return { name: fileName(name, at), begunAt: at, bytes: 0 };
}

/** `access-20261122T201531123Z.log` */
function fileName(name: string, at: number): string {
  return `${name}-${new Date(at).toISOString().replace(/[-:.]/g, "")}.log`;
}

const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.log$/;

/** Null if it is no file of the log. */
function begunAt(file: string, name: string): number | null {
  if (!file.startsWith(`${name}-`)) return null;
  const parts = stamp.exec(file.slice(name.length + 1));
  if (parts === null) return null;
  const [, year, month, day, hours, minutes, seconds, milliseconds] = parts;
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
