/** Copies files quickly: the system's `cp` takes a fifth of the time of Node's own copying. */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { removeTree } from "../../../folders.ts";

const run = promisify(execFile);
/** In English, because messages are read below. A name in one can't pass for a message: it stands in quotes, on one line. */
const settings = { env: { PATH: process.env.PATH, LC_ALL: "C" } };
/** A site that is at work may lose a thousand cached pages while it is copied, and each is a message. */
const maxBuffer = 64 << 20;
/** Characters of it that go into an error, and from there to the terminal and the log. */
const mostSaid = 2_000;
const saysFull = /: (No space left on device|Disk quota exceeded)$/m;
const copyArguments = ["-a", ...(process.platform === "linux" ? ["--reflink=auto"] : [])];

/** For `find`: links, pipes and sockets go. */
const removeLinks = ["!", "-type", "f", "!", "-type", "d", "-delete"];

/** Copies folders into `target`, with times and permissions; shares blocks where the file system can. */
export async function copyFolders(sources: readonly string[], target: string): Promise<void> {
  await runCp([...copyArguments, ...sources, target]);
}

/**
 * Copies a file or a folder of a site that may be at work: `target` is its new name, which must be free. What
 * vanishes meanwhile is left out, and so is everything that is neither file nor folder: no link leads anywhere.
 */
export async function copyLive(source: string, target: string): Promise<void> {
  await stat(source);
  await runCp([...copyArguments, source, target]).catch((error: unknown) => {
    if (!onlyVanished(error)) throw error;
  });
  await run("find", [target, ...removeLinks], settings);
}

/**
 * What `copyLive` gives, but no content is copied where the file system can do without: a file is then the same one
 * under two names, and who writes to it there changes it here. To be read soon, and not written to.
 */
export async function linkLive(source: string, target: string): Promise<void> {
  await stat(source);
  try {
    await runCp(["-al", source, target]);
  } catch (error) {
    if (!onlyVanished(error)) {
      await removeTree(target);
      return copyLive(source, target);
    }
  }
  await run("find", [target, ...removeLinks], settings);
}

/** Has the beginning of what `cp` said, and what follows from all of it: on a full disk it says a line for each file. */
export class CopyFailed extends Error {
  override readonly name = "CopyFailed";
  readonly code: "ENOSPC" | null;
  readonly onlyVanished: boolean;
  constructor(stderr: string) {
    super(`cp failed: ${firstLines(stderr)}`);
    this.code = saysFull.test(stderr) ? "ENOSPC" : null;
    this.onlyVanished = stderr
      .trim()
      .split("\n")
      .every((line) => line.endsWith(": No such file or directory"));
  }
}

/** Rejects with `CopyFailed` if `cp` ran to its end and complained. */
async function runCp(parameters: readonly string[]): Promise<void> {
  try {
    await run("cp", parameters, { ...settings, maxBuffer });
  } catch (error) {
    if (!(error instanceof Error && "stderr" in error && typeof error.stderr === "string")) throw error;
    // Without an exit code it did not start, or was ended in the middle: what it said is not all, and not kept either.
    if (typeof codeOf(error) !== "number") throw brokenOff(error, error.stderr);
    throw new CopyFailed(error.stderr);
  }
}

function brokenOff(error: Error, stderr: string): Error {
  const code = saysFull.test(stderr) ? "ENOSPC" : codeOf(error);
  return Object.assign(new Error(`cp was broken off: ${firstLines(error.message)}`), { code });
}

/** Whole lines, unless the first alone is too long. */
function firstLines(text: string): string {
  const all = text.trim();
  if (all.length <= mostSaid) return all;
  const start = all.slice(0, mostSaid);
  const end = start.lastIndexOf("\n");
  return `${end > 0 ? start.slice(0, end) : start}\n…`;
}

function onlyVanished(error: unknown): boolean {
  return error instanceof CopyFailed && error.onlyVanished;
}

export async function giveTo(owner: number, folder: string): Promise<void> {
  await run("chown", ["-R", `${owner}:${owner}`, folder], settings);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

/** Whether the disk was full, as reported by Node, `cp` or SQLite, in this process or another one. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The name of a file in its message may be anything.
  if (error instanceof CopyFailed) return error.code === "ENOSPC";
  const sqliteFull = "errcode" in error && error.errcode === 13;
  const sqliteWriteFailed = "errcode" in error && error.errcode === 778;
  return (
    codeOf(error) === "ENOSPC" ||
    sqliteFull ||
    sqliteWriteFailed ||
    /No space left|Disk quota|disk is full/.test(error.message)
  );
}
