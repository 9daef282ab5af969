/**
 * Confines a process that reads files which PHP has written, if this process is root: SQLite is native code, and such a
 * file may attack it. The process runs as the environment's user, in its own mount and network namespaces. The folders that
 * it needs are mounted in a place that the user can reach, because the folders above them may be closed to it, and SQLite
 * resolves every path to an absolute one.
 *
 * Where root can't make namespaces, as in most containers, the process still runs as that user, and belongs to a group that may
 * pass through the folders above.
 */
import { execFile } from "node:child_process";
import { chmod, chown, type FileHandle, lstat, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { nodeWithoutNewPrivileges } from "./expendable.ts";
import { giveOpened, giveTo, letGroupPass, openFolderOf, removeLinksIn } from "./folderOwner.ts";
import { makeMachineTrial } from "./machineTrial.ts";
import { ownerOf, readersGroup } from "./owner.ts";
import type { EnvironmentRef, SnapshotFolder } from "./runtime.ts";
import type { ProcessUser } from "./starter/orders.ts";

const run = promisify(execFile);

/**
 * Mounts each folder after the first parameter, up to `--`, and runs the command after it. The identity of a folder follows its
 * path, which may lead elsewhere by now.
 */
const mountAndRun = `
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
place=$1; shift; number=0
mount_here() {
  cd "$1" && [ "$(stat -c %d:%i .)" = "$2" ] && mount --no-canonicalize --bind . "$place/$number"
}
while [ "$1" != -- ]; do
  ( mount_here "$1" "$2" ) || exit 1
  number=$((number + 1)); shift 2
done
shift; exec "$@"`;

/** What to do about `confinementProblem`. */
export const namespacesAdvice = "Install util-linux, or start the container with CAP_SYS_ADMIN.";

const namespaces = ["--mount", "--net", "--propagation", "private"];

/** The files of a process. */
export interface JobFiles {
  /** The environment or snapshot that the process reads. */
  readonly source: Pick<EnvironmentRef, "number" | "companyId"> | SnapshotFolder;
  /** Existing folders with files of the source. */
  readonly reads: readonly string[];
  /** Existing folders for results, which are given to the process's user with their content. */
  readonly writes: readonly string[];
}

/** How to start a process. */
export interface Confinement {
  readonly execPath: string;
  readonly execArgv: string[];
  /** Null: this process's user. */
  readonly user: ProcessUser | null;
  /** Returns the path under which the process finds a file in one of its folders. */
  at(file: string): string;
  /** Call when the process has ended. */
  end(): Promise<void>;
}

/** The user of processes that read snapshots. It owns nothing else. */
const snapshotUser = () => ownerOf(0);

async function userFor({ source, reads: [first] }: JobFiles): Promise<number> {
  if (first === undefined) throw new Error("A confined process needs a folder to read.");
  if ("number" in source) return ownerOf(source.number);
  const { uid } = await lstat(first);
  if (uid !== 0) return uid;
  await giveTo(snapshotUser(), first);
  return snapshotUser();
}

/** A folder of a process, held open so that no other one can get its identity. */
interface OpenFolder {
  readonly path: string;
  readonly handle: FileHandle;
}

const closeAll = (folders: readonly OpenFolder[]) => Promise.all(folders.map(({ handle }) => handle.close()));

/** Throws if PHP's user has replaced a folder by a link, or by a folder of another user. */
async function openFolders(user: number, { reads, writes }: JobFiles): Promise<readonly OpenFolder[]> {
  const opened: OpenFolder[] = [];
  try {
    for (const folder of reads) opened.push({ path: folder, handle: await openFolderOf([user], folder) });
    for (const folder of writes) {
      const handle = await openFolderOf([user, 0], folder);
      opened.push({ path: folder, handle });
      await giveOpened(user, handle);
    }
    return opened;
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** Makes a folder with mount points. */
async function makePlace(count: number): Promise<string> {
  const place = await mkdtemp(path.join(tmpdir(), "sitewright-job-"));
  await chmod(place, 0o711);
  for (let number = 0; number < count; number += 1) await mkdir(path.join(place, String(number)));
  return place;
}

async function commandIn(place: string, folders: readonly OpenFolder[], command: readonly string[]): Promise<string[]> {
  const identities: string[] = [];
  for (const { path: folder, handle } of folders) {
    const { dev, ino } = await handle.stat({ bigint: true });
    identities.push(folder, `${dev}:${ino}`);
  }
  return [...namespaces, "--", "/bin/sh", "-c", mountAndRun, "sh", place, ...identities, "--", ...command];
}

function within(file: string, folder: string): string | null {
  const relative = path.relative(folder, file);
  return relative === ".." || relative.startsWith("../") || path.isAbsolute(relative) ? null : relative;
}

interface NodeCommand {
  readonly execPath: string;
  readonly execArgv: string[];
}

type Start = Omit<Confinement, "end">;

/** Returns how to start the command with nothing but its folders. */
async function inPlace(place: string, folders: readonly OpenFolder[], user: number, node: NodeCommand): Promise<Start> {
  return {
    execPath: "/usr/bin/unshare",
    execArgv: await commandIn(place, folders, [node.execPath, ...node.execArgv]),
    user: { id: user, groups: [] },
    at: (file) => {
      for (const [number, { path: folder }] of folders.entries()) {
        const relative = within(file, folder);
        if (relative !== null) return path.join(place, String(number), relative);
      }
      throw new Error(`${file} is in none of the folders of its process.`);
    },
  };
}

/** Returns how to start the command as the user, without namespaces. */
async function asUser(folders: readonly OpenFolder[], user: number, node: NodeCommand): Promise<Start> {
  for (const { path: folder } of folders) await letGroupPass({ user, group: readersGroup() }, folder);
  return { ...node, user: { id: user, groups: [readersGroup()] }, at: (file) => file };
}

/**
 * Returns how to start Node with these flags. The same command as usual if this process is not root. Throws if a folder does
 * not belong to the source.
 */
export async function confine(files: JobFiles, flags: readonly string[]): Promise<Confinement> {
  const node = nodeWithoutNewPrivileges(flags);
  if (!isRoot) return { ...node, user: null, at: (file) => file, end: async () => undefined };
  const user = await userFor(files);
  const folders = await openFolders(user, files);
  const place = (await confinementProblem()) === null ? await makePlace(folders.length) : null;
  const end = async () => {
    await closeAll(folders);
    // Others must not follow links that an attacked process has left.
    for (const folder of files.writes) await removeLinksIn(folder);
    if (place !== null) await rm(place, { recursive: true, force: true });
  };
  try {
    const start = await (place === null ? asUser(folders, user, node) : inPlace(place, folders, user, node));
    return { ...start, end };
  } catch (error) {
    await end();
    throw error;
  }
}

const isRoot = process.platform === "linux" && process.getuid?.() === 0;

/**
 * Returns why this machine does not let root make namespaces for processes, or null if it does or this process is not root.
 */
export const confinementProblem = makeMachineTrial({ tryOut, isSuccess: (problem) => problem === null });

/** Runs a program as another user on a mounted folder below one that is closed to that user. */
async function tryOut(): Promise<string | null> {
  if (!isRoot) return null;
  const folder = await mkdtemp(path.join(tmpdir(), "sitewright-try-"));
  const place = await makePlace(1);
  const own = path.join(folder, "own");
  await mkdir(own, { mode: 0o700 });
  await chown(own, snapshotUser(), snapshotUser());
  const opened = { path: own, handle: await openFolderOf([snapshotUser()], own) };
  try {
    const user = String(snapshotUser());
    const asThisUser = ["setpriv", "--no-new-privs", "--reuid", user, "--regid", user, "--clear-groups"];
    const command = [...asThisUser, "test", "-w", path.join(place, "0")];
    await run("/usr/bin/unshare", await commandIn(place, [opened], command));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  } finally {
    await opened.handle.close();
    await Promise.all([folder, place].map((each) => rm(each, { recursive: true, force: true })));
  }
}
