/**
 * Where the temporary files of a test run are: in memory if there is plenty of it, because tests create hundreds of databases
 * and tens of thousands of files. A run removes its folder at the end, and what killed runs have left.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const memoryFileSystem = "/dev/shm";
/** Twice what a full run needs. */
const temporaryBytes = 8e9;
const processBytes = 4e9;
/** A short name: sockets are in the folder, and the path of a socket has at most 104 characters. */
const prefix = "sw-";

interface TemporaryFolder {
  /** The variables that tell processes about it. */
  readonly variables: NodeJS.ProcessEnv;
  readonly path: string;
  remove(): void;
}

export function createTemporaryFolder(): TemporaryFolder {
  const parent = hasPlenty() ? memoryFileSystem : tmpdir();
  removeLeftovers(parent);
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // PostgreSQL and PHP run as users of their own.
  chmodSync(path, 0o1777);
  return {
    // On a disk: clones with hard-linked packages, and data folders that are flushed.
    variables: { TMPDIR: path, SITEWRIGHT_TEST_DISK: tmpdir() },
    path,
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function hasPlenty(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memoryFileSystem);
    return bavail * bsize >= temporaryBytes && freemem() >= temporaryBytes + processBytes;
  } catch {
    return false;
  }
}

function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
