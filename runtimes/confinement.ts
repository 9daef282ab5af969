/**
 * Confines a process that reads files which PHP has written, if this process is root: SQLite is native code, and such a
 * file may attack it. The process runs as the environment's user, in its own mount and network namespaces. The folders that
 * it needs are mounted in a place that the user can reach, because the folders above them may be closed to it, and SQLite
 * resolves every path to an absolute one.
 */
import { execFile } from "node:child_process";
import { chmod, chown, lstat, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { nodeWithoutNewPrivileges } from "./expendable.ts";
import { giveTo, removeLinksIn } from "./folderOwner.ts";
import { ownerOf } from "./owner.ts";
import type { EnvironmentRef, SnapshotFolder } from "./runtime.ts";

const run = promisify(execFile);

/** Mounts each folder after the first two parameters, up to `--`, and runs the command after it. */
const mountAndRun = `
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
place=$1; shift; number=0
while [ "$1" != -- ]; do
  mount --bind "$1" "$place/$number" || exit 1
  number=$((number + 1)); shift
done
shift; exec "$@"`;

const namespaces = ["--mount", "--net", "--propagation", "private"];

/** The files of a process. */
export interface JobFiles {
  /** The environment or snapshot that the process reads. */
  readonly source: Pick<EnvironmentRef, "number"> | SnapshotFolder;
  /** Existing folders with files of the source. */
  readonly reads: readonly string[];
  /** Existing folders for results, which are given to the process's user with their content. */
  readonly writes: readonly string[];
}

/** How to start a process. */
export interface Confinement {
  readonly execPath: string;
  readonly execArgv: string[];
  /** User and group to change to before reading a file of the source; null: none. */
  readonly user: number | null;
  /** Returns the path under which the process finds a file in one of its folders. */
  at(file: string): string;
  /** Call when the process has ended. */
  end(): Promise<void>;
}

/** The user of processes that read snapshots. It owns nothing else. */
const snapshotUser = () => ownerOf(0);

async function ownerOfFolder(folder: string): Promise<number> {
  return (await lstat(folder)).uid;
}

/** Throws if PHP's user has replaced a folder by a link to a folder of another user. */
async function userFor({ source, reads: [first] }: JobFiles): Promise<number> {
  if (first === undefined) throw new Error("A confined process needs a folder to read.");
  const owner = await ownerOfFolder(first);
  if ("number" in source) {
    const user = ownerOf(source.number);
    if (owner === user) return user;
    throw new Error(`${first} belongs to user ${owner} instead of ${user}.`);
  }
  if (owner !== 0) return owner;
  await giveTo(snapshotUser(), first);
  return snapshotUser();
}

/** Makes a folder with a mount point for each folder. */
async function makePlace(folders: readonly string[]): Promise<string> {
  const place = await mkdtemp(path.join(tmpdir(), "sitewright-job-"));
  await chmod(place, 0o711);
  for (const number of folders.keys()) await mkdir(path.join(place, String(number)));
  return place;
}

function commandIn(place: string, folders: readonly string[], command: readonly string[]): string[] {
  return [...namespaces, "--", "/bin/sh", "-c", mountAndRun, "sh", place, ...folders, "--", ...command];
}

function within(file: string, folder: string): string | null {
  const relative = path.relative(folder, file);
  return relative === ".." || relative.startsWith("../") || path.isAbsolute(relative) ? null : relative;
}

/** Returns how to start Node with these flags. The same command as usual if confinement is not possible here. */
export async function confine(files: JobFiles, flags: readonly string[]): Promise<Confinement> {
  const node = nodeWithoutNewPrivileges(flags);
  const free = { ...node, user: null, at: (file: string) => file, end: async () => undefined };
  if (process.getuid?.() !== 0 || (await confinementProblem()) !== null) return free;
  const user = await userFor(files);
  for (const folder of files.writes) await giveTo(user, folder);
  const folders = [...files.reads, ...files.writes];
  const place = await makePlace(folders);
  return {
    execPath: "/usr/bin/unshare",
    execArgv: commandIn(place, folders, [node.execPath, ...node.execArgv]),
    user,
    at: (file) => {
      for (const [number, folder] of folders.entries()) {
        const relative = within(file, folder);
        if (relative !== null) return path.join(place, String(number), relative);
      }
      throw new Error(`${file} is in none of the folders of its process.`);
    },
    end: async () => {
      // Others must not follow links that an attacked process has left.
      for (const folder of files.writes) await removeLinksIn(folder);
      await rm(place, { recursive: true, force: true });
    },
  };
}

let found: Promise<string | null> | null = null;

/** Returns why processes can't be confined on this machine, or null if they can. For root. */
export function confinementProblem(): Promise<string | null> {
  found ??= tryOut();
  return found;
}

/** Runs a program as another user on a mounted folder below one that is closed to that user. */
async function tryOut(): Promise<string | null> {
  const folder = await mkdtemp(path.join(tmpdir(), "sitewright-try-"));
  const place = await makePlace([folder]);
  try {
    const own = path.join(folder, "own");
    await mkdir(own, { mode: 0o700 });
    await chown(own, snapshotUser(), snapshotUser());
    const user = String(snapshotUser());
    const asUser = ["setpriv", "--no-new-privs", "--reuid", user, "--regid", user, "--clear-groups"];
    const command = [...asUser, "test", "-w", path.join(place, "0")];
    await run("/usr/bin/unshare", commandIn(place, [own], command));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  } finally {
    await Promise.all([folder, place].map((each) => rm(each, { recursive: true, force: true })));
  }
}
