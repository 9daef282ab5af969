/**
 * How host folders appear to PHP. Several kinds of mount, all on top of Emscripten's NODEFS, whose name they keep
 * because the file locks of SQLite recognise a shared file by it.
 *
 * Read-only: WordPress's own code, one copy for all environments. Every way to change something is refused
 * and the write bits are hidden, so that PHP's `is_writable` tells the truth. Where the server runs as root
 * the files also belong to somebody else than the worker. As nobody changes them, the host is asked about each
 * of them once in a worker's life: a page of WordPress asks for 500 of them, and a worker's first one four times.
 *
 * Files: an environment's own. Making symbolic links is refused. A link is looked up inside PHP's file system,
 * where it can't lead out, but one worker may still believe a name to be a folder that another worker has
 * replaced by a link; then the host would follow it. No links, no such race.
 *
 * Database: the same, and every name is looked up whenever PHP asks. While one worker writes, SQLite's journal comes and
 * goes, and another one that still believes in it could not open the database.
 *
 * Either can be protected for the time of a request (`writeGuard.ts`). It then looks to PHP as before: opening a file
 * for writing, as SQLite opens a database that it only reads, is no change yet.
 *
 * What makes their files longer is refused where the environment may not grow (`quota.ts`).
 *
 * Own: a folder that is like that of files and never protected, because it is no part of a release. Sessions are in one.
 */
import { statSync } from "node:fs";
import type { PHP, RootFs } from "@php-wasm/universal";
import type { DiskBudget } from "./diskBudget.ts";
import { type Attributes, adopt, type HostMount, mountHost, pathOf } from "./hostNodes.ts";
import { limitGrowth } from "./quota.ts";
import type { WriteGuard } from "./writeGuard.ts";

/** What stands before changes of an environment's files; null: nothing does. */
export interface Guards {
  readonly writes: Pick<WriteGuard, "refuses"> | null;
  readonly disk: DiskBudget | null;
}

export const unguarded: Guards = { writes: null, disk: null };

export type MountKind = "files" | "database" | "own" | "readOnly";

const notPermitted = 63;
const readOnlyFileSystem = 69;
const writeBits = 0o222;
/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND as Emscripten numbers them. */
const changingFlags = 1 | 2 | 64 | 512 | 1024;

function refuse({ makeError }: HostMount, errno: number): () => never {
  return () => {
    throw makeError(errno);
  };
}

/** The guards are asked before each change. */
function makeChangeable(mount: HostMount, kind: MountKind, { writes, disk }: Guards): void {
  const refused = refuse(mount, readOnlyFileSystem);
  const isProtected = () => writes?.refuses() ?? false;
  function unlessProtected<Parameters extends unknown[], Result>(change: (...parameters: Parameters) => Result) {
    return (...parameters: Parameters) => (isProtected() ? refused() : change(...parameters));
  }
  adopt(mount, (host, streams) => {
    const change =
      disk === null
        ? { ...host, ...streams, setattr: host.setattr, streamSetattr: streams.setattr }
        : limitGrowth(mount, disk, kind === "database", host, streams);
    return {
      isShared: true,
      isKept: kind !== "database",
      node: {
        mknod: unlessProtected(change.mknod),
        setattr: unlessProtected(change.setattr),
        rename: unlessProtected(change.rename),
        unlink: unlessProtected(change.unlink),
        rmdir: unlessProtected(host.rmdir),
        symlink: refuse(mount, notPermitted),
      },
      stream: {
        write: unlessProtected(change.write),
        msync: unlessProtected(change.msync),
        setattr: unlessProtected(change.streamSetattr),
      },
    };
  });
}

/** Attributes by path below each read-only host folder that was mounted. */
const knownFolders = new Map<string, Map<string, Attributes>>();

function knownIn(folder: string): Map<string, Attributes> {
  const { dev, ino, birthtimeMs } = statSync(folder);
  const key = `${dev}:${ino}:${birthtimeMs}`;
  const known = knownFolders.get(key) ?? new Map<string, Attributes>();
  knownFolders.set(key, known);
  return known;
}

function hideWriteBits(attributes: Attributes): Attributes {
  return { ...attributes, mode: attributes.mode & ~writeBits };
}

function makeReadOnly(mount: HostMount): void {
  const refused = refuse(mount, readOnlyFileSystem);
  const known = knownIn(mount.folder);
  adopt(mount, (host, streams) => ({
    // These files can't be changed, so every lock is granted.
    isShared: false,
    isKept: true,
    node: {
      mknod: refused,
      setattr: refused,
      rename: refused,
      unlink: refused,
      rmdir: refused,
      symlink: refused,
      lookup: (parent, name) => {
        const attributes = known.get(`${pathOf(parent)}/${name}`);
        if (attributes !== undefined) return mount.makeNode(parent, name, attributes.mode);
        const node = host.lookup(parent, name);
        // Not the folder that is mounted: PHP takes one for its opcodes only where it seems that it could write to it.
        node.mode &= ~writeBits;
        return node;
      },
      getattr: (node) => {
        const path = pathOf(node);
        const attributes = known.get(path) ?? hideWriteBits(host.getattr(node));
        known.set(path, attributes);
        return attributes;
      },
    },
    stream: {
      open: (stream) => ((stream.flags & changingFlags) === 0 ? streams.open(stream) : refused()),
      getattr: (stream) => hideWriteBits(streams.getattr(stream)),
      write: refused,
      msync: refused,
      setattr: refused,
    },
  }));
}

function ensureFolder(FS: RootFs, mountPoint: string): void {
  if (!FS.analyzePath(mountPoint, false).exists) FS.mkdirTree(mountPoint);
}

/**
 * Mounts `folder` of the host at `mountPoint`; the folder may be relative to the process's working directory,
 * which is how a worker reaches its environment below folders that it may not read. Without guards
 * everything can be changed. Returns the unmounting.
 */
export async function mountFolder(
  php: PHP,
  mountPoint: string,
  folder: string,
  kind: MountKind,
  guards: Guards = unguarded,
): Promise<() => Promise<void>> {
  const unmount = await php.mount(mountPoint, (_php, FS) => {
    ensureFolder(FS, mountPoint);
    const mount = mountHost(FS, folder, mountPoint);
    if (kind === "readOnly") makeReadOnly(mount);
    else makeChangeable(mount, kind, guards);
    return () => FS.unmount(mountPoint);
  });
  return async () => {
    await unmount();
  };
}
