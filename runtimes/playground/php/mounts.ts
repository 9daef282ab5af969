/**
 * How host folders appear to PHP. Two kinds of mount, both on top of Emscripten's NODEFS, whose name they keep
 * because the file locks of SQLite recognise a shared file by it.
 *
 * Read-only: WordPress's own code, one copy for all environments. Every way to change something answers EROFS
 * and the write bits are hidden, so that PHP's `is_writable` tells the truth. Where the server runs as root
 * the files also belong to somebody else than the worker.
 *
 * Own: an environment's files. Making symbolic links is refused. A link is looked up inside PHP's file system,
 * where it can't lead out, but one worker may still believe a name to be a folder that another worker has
 * replaced by a link; then the host would follow it. No links, no such race.
 */
import type { PHP, RootFs } from "@php-wasm/universal";

interface FsNode {
  node_ops: NodeOps;
  stream_ops: StreamOps;
  isSharedFS: boolean;
}

/** What NODEFS gives its nodes. */
function isHostNode(node: object): node is FsNode {
  return "node_ops" in node && "stream_ops" in node && "isSharedFS" in node;
}

interface Attributes {
  mode: number;
}

interface FsStream {
  readonly flags: number;
}

interface NodeOps {
  lookup(parent: FsNode, name: string): FsNode;
  mknod(parent: FsNode, name: string, mode: number, device: number): FsNode;
  getattr(node: FsNode): Attributes;
  setattr(node: FsNode, attributes: unknown): void;
  rename(node: FsNode, folder: FsNode, name: string): void;
  unlink(parent: FsNode, name: string): void;
  rmdir(parent: FsNode, name: string): void;
  symlink(parent: FsNode, name: string, target: string): void;
}

interface StreamOps {
  open(stream: FsStream): void;
  write(...parameters: unknown[]): number;
  msync(...parameters: unknown[]): number;
  getattr(stream: FsStream): Attributes;
  setattr(stream: FsStream, attributes: unknown): void;
}

export type MountKind = "own" | "readOnly";

type ErrorMaker = (errno: number) => Error;

const notPermitted = 63;
const readOnlyFileSystem = 69;
const writeBits = 0o222;
/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND as Emscripten numbers them. */
const changingFlags = 1 | 2 | 64 | 512 | 1024;

function refuse(makeError: ErrorMaker, errno: number): () => never {
  return () => {
    throw makeError(errno);
  };
}

/**
 * Gives a node, and every node that will be found below it, operations of its own: the originals serve all mounts.
 * Locks are asked of the host only where `isShared`.
 */
function adopt(
  root: FsNode,
  isShared: boolean,
  change: (ops: NodeOps) => Partial<NodeOps>,
  streamOps: StreamOps,
): void {
  const base = { ...root.node_ops };
  const ops: NodeOps = {
    ...base,
    lookup: (parent, name) => give(base.lookup(parent, name)),
    mknod: (parent, name, mode, device) => give(base.mknod(parent, name, mode, device)),
    ...change(base),
  };
  function give(node: FsNode): FsNode {
    node.node_ops = ops;
    node.stream_ops = streamOps;
    node.isSharedFS = isShared;
    return node;
  }
  give(root);
}

function makeReadOnly(root: FsNode, makeError: ErrorMaker): void {
  const refused = refuse(makeError, readOnlyFileSystem);
  const streams = root.stream_ops;
  const hideWriteBits = <T extends Attributes>(attributes: T): T => ({
    ...attributes,
    mode: attributes.mode & ~writeBits,
  });
  // Nobody can change these files, so that every lock is granted.
  adopt(
    root,
    false,
    (base) => ({
      mknod: refused,
      setattr: refused,
      rename: refused,
      unlink: refused,
      rmdir: refused,
      symlink: refused,
      getattr: (node) => hideWriteBits(base.getattr(node)),
    }),
    {
      ...streams,
      open: (stream) => ((stream.flags & changingFlags) === 0 ? streams.open(stream) : refused()),
      getattr: (stream) => hideWriteBits(streams.getattr(stream)),
      write: refused,
      msync: refused,
      setattr: refused,
    },
  );
}

function ensureFolder(FS: RootFs, mountPoint: string): void {
  if (!FS.analyzePath(mountPoint, false).exists) FS.mkdirTree(mountPoint);
}

/**
 * Mounts `folder` of the host at `mountPoint`; the folder may be relative to the process's working directory,
 * which is how a worker reaches its environment below folders that it may not read. Returns the unmounting.
 */
export async function mountFolder(
  php: PHP,
  mountPoint: string,
  folder: string,
  kind: MountKind,
): Promise<() => Promise<void>> {
  const unmount = await php.mount(mountPoint, (_php, FS) => {
    ensureFolder(FS, mountPoint);
    const nodeFs = FS.filesystems.NODEFS;
    if (nodeFs === undefined) throw new Error("This PHP has no NODEFS.");
    const root = FS.mount(nodeFs, { root: folder }, mountPoint);
    if (!isHostNode(root)) throw new Error("This PHP's NODEFS has another form.");
    const makeError: ErrorMaker = (errno) => new FS.ErrnoError(errno);
    if (kind === "readOnly") makeReadOnly(root, makeError);
    else adopt(root, true, () => ({ symlink: refuse(makeError, notPermitted) }), root.stream_ops);
    return () => FS.unmount(mountPoint);
  });
  return async () => {
    await unmount();
  };
}
