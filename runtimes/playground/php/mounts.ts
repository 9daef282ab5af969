/**
 * Mounts host folders in PHP's file system. There are several kinds of mount, all based on Emscripten's NODEFS. They keep
 * its name, because SQLite's file locks recognise a shared file by it.
 *
 * Read-only: WordPress core, one copy for all environments. Every change is refused and the write bits are hidden, so
 * that PHP's `is_writable` is correct. If the server runs as root, the files also belong to a different user than the
 * worker. As they never change, each file is looked up on the host once in a worker's life: a WordPress page looks up
 * 500 files, and a worker's first page looks each of them up four times.
 *
 * Files: an environment's own. Symbolic links can't be created. PHP resolves links inside its own file system, where
 * they can't lead out. But a worker may still have a name cached as a folder after another worker has replaced it by a
 * link, and the host would follow that link.
 *
 * Database: like files, and every access looks the name up again. SQLite's journal appears and disappears while one
 * worker writes, and another worker that has it cached could not open the database.
 *
 * Both can be write-protected for a request (`writeGuard.ts`). PHP does not see the protection: opening a file for
 * writing, as SQLite does even to read a database, is not a change yet.
 *
 * Growth of their files is refused beyond the environment's quota (`quota.ts`).
 *
 * Unprotected: like files, but never write-protected, because the folder is not part of a release. Used for sessions
 * and temporary files.
 */
import { statSync } from "node:fs";
import type { PHP, RootFs } from "@php-wasm/universal";
import type { DiskBudget } from "./diskBudget.ts";
import { type Attributes, type HostMount, mountHost, overrideOperations, pathOf } from "./hostNodes.ts";
import { limitGrowth } from "./quota.ts";
import type { WriteGuard } from "./writeGuard.ts";

/** Checks before changes of an environment's files; null: no check. */
export interface Guards {
  readonly writes: Pick<WriteGuard, "refuses"> | null;
  /** Absent: like `writes`. */
  readonly databaseWrites?: Pick<WriteGuard, "refuses">;
  readonly disk: DiskBudget | null;
}

export const unguarded: Guards = { writes: null, disk: null };

export type MountKind = "files" | "database" | "unprotected" | "readOnly";

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

/** Makes a mount writable. The guards are called before each change. */
function makeChangeable(mount: HostMount, kind: MountKind, { writes, disk }: Guards): void {
  const refused = refuse(mount, readOnlyFileSystem);
  const isProtected = () => writes?.refuses() ?? false;
  function unlessProtected<Parameters extends unknown[], Result>(change: (...parameters: Parameters) => Result) {
    return (...parameters: Parameters) => (isProtected() ? refused() : change(...parameters));
  }
  overrideOperations(mount, (host, streams) => {
    const change =
      disk === null
        ? { ...host, ...streams, setattr: host.setattr, streamSetattr: streams.setattr }
        : limitGrowth(mount, disk, kind === "database", host, streams);
    return {
      isShared: true,
      isCached: kind !== "database",
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

/** Cached attributes by path, for each read-only host folder. */
const attributeCaches = new Map<string, Map<string, Attributes>>();

function attributeCacheOf(folder: string): Map<string, Attributes> {
  const { dev, ino, birthtimeMs } = statSync(folder);
  const key = `${dev}:${ino}:${birthtimeMs}`;
  const known = attributeCaches.get(key) ?? new Map<string, Attributes>();
  attributeCaches.set(key, known);
  return known;
}

function hideWriteBits(attributes: Attributes): Attributes {
  return { ...attributes, mode: attributes.mode & ~writeBits };
}

function makeReadOnly(mount: HostMount): void {
  const refused = refuse(mount, readOnlyFileSystem);
  const known = attributeCacheOf(mount.folder);
  overrideOperations(mount, (host, streams) => ({
    // These files never change, so every lock is granted.
    isShared: false,
    isCached: true,
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
        // The mounted folder itself keeps its write bits: PHP uses a folder for opcodes only if it looks writable.
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
 * Mounts the host's `folder` at `mountPoint`. `folder` may be relative to the working directory, which lets a worker
 * reach its environment below folders that it can't read. Without guards everything can be changed. Returns the unmount
 * function.
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
