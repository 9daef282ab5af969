/** Copies files quickly: the system's `cp` takes a fifth of the time of Node's own copying. */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { removeTree } from "../../folders.ts";

const run = promisify(execFile);
/** In English, because messages are read below. A name in one can't pass for a message: it stands in quotes, on one line. */
const settings = { env: { PATH: process.env.PATH, LC_ALL: "C" } };
/** A site that is at work may lose a thousand cached pages while it is copied, and each is a message. */
const maxBuffer = 64 << 20;
const copyArguments = ["-a", ...(process.platform === "linux" ? ["--reflink=auto"] : [])];

/** For `find`: links, pipes and sockets go. */
const removeLinks = ["!", "-type", "f", "!", "-type", "d", "-delete"];

/** Copies folders into `target`, with times and permissions; shares blocks where the file system can. */
export async function copyFolders(sources: readonly string[], target: string): Promise<void> {
  await run("cp", [...copyArguments, ...sources, target], settings);
}

/**
 * Copies a file or a folder of a site that may be at work: `target` is its new name, which must be free. What
 * vanishes meanwhile is left out, and so is everything that is neither file nor folder: no link leads anywhere.
 */
export async function copyLive(source: string, target: string): Promise<void> {
  await stat(source);
  await run("cp", [...copyArguments, source, target], { ...settings, maxBuffer }).catch((error: unknown) => {
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
    await run("cp", ["-al", source, target], { ...settings, maxBuffer });
  } catch (error) {
    if (!onlyVanished(error)) {
      await removeTree(target);
      return copyLive(source, target);
    }
  }
  await run("find", [target, ...removeLinks], settings);
}

function onlyVanished(error: unknown): boolean {
  if (!(error instanceof Error && "stderr" in error)) return false;
  const lines = String(error.stderr).trim().split("\n");
  return lines.every((line) => line.endsWith(": No such file or directory"));
}

export async function giveTo(owner: number, folder: string): Promise<void> {
  await run("chown", ["-R", `${owner}:${owner}`, folder], settings);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

/** Whether the disk was full, whoever noticed it: Node, `cp` or SQLite, in this process or another one. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const sqliteFull = "errcode" in error && error.errcode === 13;
  const sqliteWriteFailed = "errcode" in error && error.errcode === 778;
  return (
    codeOf(error) === "ENOSPC" ||
    sqliteFull ||
    sqliteWriteFailed ||
    /No space left|Disk quota|disk is full/.test(error.message)
  );
}
