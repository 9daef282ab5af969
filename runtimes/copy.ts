/** Copies files with the system's `cp`, which takes a fifth of the time of Node's copying. */
import { stat } from "node:fs/promises";
import { CommandFailed, runCommand } from "./command.ts";
import { removeLinksIn } from "./folderOwner.ts";
import { removeTree } from "./folders.ts";

/** A live site may delete a thousand cached pages during a copy, and each causes a message. */
const maxBuffer = 64 << 20;
/** Length of the messages in an error, which goes to the terminal and the log. */
const maxErrorLength = 2_000;
const diskFullPattern = /: (No space left on device|Disk quota exceeded)$/m;
const copyArguments = ["-a", ...(process.platform === "linux" ? ["--reflink=auto"] : [])];

/** Copies folders into `target`, with times and permissions. Shares blocks if the file system supports it. */
export async function copyFolders(sources: readonly string[], target: string): Promise<void> {
  await runCp([...copyArguments, ...sources, target]);
}

/**
 * Copies a file or folder of a live site to `target`, which must not exist. Leaves out files that vanish meanwhile, and
 * everything except files and folders, so that the copy contains no links.
 */
export async function copyLive(source: string, target: string): Promise<void> {
  await stat(source);
  await runCp([...copyArguments, source, target]).catch((error: unknown) => {
    if (!onlyVanished(error)) throw error;
  });
  await removeLinksIn(target);
}

/**
 * Like `copyLive`, but with hard links if the file system supports them: writing to a file in the original then changes
 * the copy. The copy must be read soon and not written to.
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
  await removeLinksIn(target);
}

/**
 * Has the beginning of `cp`'s messages, and conclusions from all of them: on a full disk there is a message for each
 * file.
 */
export class CopyFailed extends Error {
  override readonly name = "CopyFailed";
  readonly code: "ENOSPC" | null;
  readonly onlyVanished: boolean;
  constructor(stderr: string) {
    super(`cp failed: ${firstLines(stderr)}`);
    this.code = diskFullPattern.test(stderr) ? "ENOSPC" : null;
    this.onlyVanished = stderr
      .trim()
      .split("\n")
      .every((line) => line.endsWith(": No such file or directory"));
  }
}

/**
 * Runs `cp`. Rejects with `CopyFailed` if it completed with errors, whose messages are parsed: a file name can't be mistaken for
 * a message, because it is quoted, on one line.
 */
async function runCp(parameters: readonly string[]): Promise<void> {
  try {
    await runCommand("cp", parameters, { maxBuffer });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    // Without an exit code it did not start or was killed, and its messages are incomplete.
    if (typeof codeOf(error) !== "number") throw interrupted(error, error.stderr);
    throw new CopyFailed(error.stderr);
  }
}

function interrupted(error: Error, stderr: string): Error {
  const code = diskFullPattern.test(stderr) ? "ENOSPC" : codeOf(error);
  return Object.assign(new Error(`cp was interrupted: ${firstLines(error.message)}`), { code });
}

/** Truncates a text at a line break, unless the first line alone is too long. */
function firstLines(text: string): string {
  const all = text.trim();
  if (all.length <= maxErrorLength) return all;
  const start = all.slice(0, maxErrorLength);
  const end = start.lastIndexOf("\n");
  return `${end > 0 ? start.slice(0, end) : start}\n…`;
}

function onlyVanished(error: unknown): boolean {
  return error instanceof CopyFailed && error.onlyVanished;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

/** Whether the error of Node, `cp` or SQLite means a full disk, in this process or another one. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // File names in its message may contain anything.
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
