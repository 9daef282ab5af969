/**
 * Host files and folders as nodes of Emscripten's NODEFS, with different operations for each mount: NODEFS itself
 * shares its operations between all mounts.
 */
import { fstatSync, lstatSync, mkdirSync, type Stats, writeFileSync } from "node:fs";
import path from "node:path";
import type { RootFs } from "@php-wasm/universal";

export interface FsNode {
  mode: number;
  readonly name: string;
  /** The root of a mount is its own parent. */
  readonly parent: FsNode;
  node_ops: NodeOps;
  stream_ops: StreamOps;
  isSharedFS: boolean;
}

/** Whether a node has the properties of a NODEFS node. */
function isHostNode(node: object): node is FsNode {
  return ["mode", "name", "parent", "node_ops", "stream_ops", "isSharedFS"].every((name) => name in node);
}

/** The functions of NODEFS that are used unchanged. */
interface NodeFs {
  createNode(parent: FsNode, name: string, mode: number): FsNode;
  /** Converts host errors into Emscripten errors: any other error would crash PHP. */
  tryFSOperation<Result>(operation: () => Result): Result;
}

function isNodeFs(nodeFs: object): nodeFs is NodeFs {
  return "createNode" in nodeFs && "tryFSOperation" in nodeFs;
}

/** File attributes in Emscripten's form. */
export type Attributes = Pick<
  Stats,
  | "dev"
  | "ino"
  | "mode"
  | "nlink"
  | "uid"
  | "gid"
  | "rdev"
  | "size"
  | "atime"
  | "mtime"
  | "ctime"
  | "blksize"
  | "blocks"
>;

export interface FsStream {
  readonly node: FsNode;
  readonly flags: number;
  /** The host's file descriptor. */
  readonly nfd: number;
}

export interface NodeOps {
  lookup(parent: FsNode, name: string): FsNode;
  mknod(parent: FsNode, name: string, mode: number, device: number): FsNode;
  getattr(node: FsNode): Attributes;
  setattr(node: FsNode, attributes: unknown): void;
  rename(node: FsNode, folder: FsNode, name: string): void;
  unlink(parent: FsNode, name: string): void;
  rmdir(parent: FsNode, name: string): void;
  symlink(parent: FsNode, name: string, target: string): void;
}

export interface StreamOps {
  open(stream: FsStream): void;
  write(stream: FsStream, buffer: unknown, offset: number, length: number, position: number): number;
  msync(stream: FsStream, buffer: unknown, position: number, length: number, flags: number): number;
  getattr(stream: FsStream): Attributes;
  setattr(stream: FsStream, attributes: unknown): void;
}

/** A host folder mounted in PHP's file system. */
export interface HostMount {
  readonly root: FsNode;
  /** Its path on the host. */
  readonly folder: string;
  makeNode(parent: FsNode, name: string, mode: number): FsNode;
  /** Runs a file system call of the host. Throws Emscripten errors. */
  callHost<Result>(call: () => Result): Result;
  makeError(errno: number): Error;
  /** Makes the next access look the node up again. */
  forget(node: FsNode): void;
  /** Whether PHP is opening a file that must not exist yet. */
  isExclusive(): boolean;
}

/** Mounts a host folder. `mountPoint` must be a folder. Throws if NODEFS differs from the expected version. */
export function mountHost(FS: RootFs, folder: string, mountPoint: string): HostMount {
  const nodeFs = FS.filesystems.NODEFS;
  if (nodeFs === undefined || !isNodeFs(nodeFs)) throw new Error("This PHP build has no NODEFS, or an unknown one.");
  const root = FS.mount(nodeFs, { root: folder }, mountPoint);
  if (!isHostNode(root)) throw new Error("This PHP build has an unknown NODEFS.");
  return {
    root,
    folder,
    makeNode: (parent, name, mode) => nodeFs.createNode(parent, name, mode),
    callHost: (call) => nodeFs.tryFSOperation(call),
    makeError: (errno) => new FS.ErrnoError(errno),
    forget: (node) => FS.hashRemoveNode(node),
    isExclusive: watchOpens(FS),
  };
}

/** O_EXCL as Emscripten numbers it. */
const exclusiveFlag = 128;
const exclusiveOpens = new WeakMap<RootFs, () => boolean>();

interface OpeningFs {
  open(path: unknown, flags: unknown, ...others: readonly unknown[]): unknown;
}

function canOpen(FS: object): FS is OpeningFs {
  return "open" in FS && typeof FS.open === "function";
}

/**
 * Emscripten does not tell the file system whether a file that it creates must not exist: it has looked the name up itself. Another
 * worker may create the file in between, and both would believe that it is theirs.
 */
function watchOpens(FS: RootFs): () => boolean {
  const known = exclusiveOpens.get(FS);
  if (known !== undefined) return known;
  if (!canOpen(FS)) throw new Error("This PHP build has an unknown file system.");
  let isExclusive = false;
  const open = FS.open.bind(FS);
  const watched: OpeningFs["open"] = (path, flags, ...others) => {
    isExclusive = typeof flags === "number" && (flags & exclusiveFlag) !== 0;
    try {
      return open(path, flags, ...others);
    } finally {
      isExclusive = false;
    }
  };
  Object.defineProperty(FS, "open", { value: watched });
  const read = () => isExclusive;
  exclusiveOpens.set(FS, read);
  return read;
}

/** Path below the mount's folder, with a leading slash; empty for the folder itself. */
export function pathOf(node: FsNode): string {
  return node.parent === node ? "" : `${pathOf(node.parent)}/${node.name}`;
}

const noEntry = 44;
const invalid = 28;

/**
 * Looks up a name like NODEFS, but without an exception with a stack trace for a missing file, which takes ten times as
 * long as the lookup: SQLite looks for its journals before every query.
 */
function lookUp({ folder, makeNode, callHost, makeError }: HostMount): NodeOps["lookup"] {
  return (parent, name) => {
    const file = path.join(folder, pathOf(parent), name);
    const stats = callHost(() => lstatSync(file, { throwIfNoEntry: false }));
    if (stats === undefined) throw makeError(noEntry);
    return makeNode(parent, name, stats.mode);
  };
}

const fileType = 0o170000;
const folderType = 0o040000;
const regularType = 0o100000;

/**
 * Creates a file on the host before its node: NODEFS creates the node first, and if the host refuses, PHP believes that
 * the file exists. A file that another process has just created is kept, unless there must be none.
 */
function makeFile({ folder, makeNode, callHost, makeError, isExclusive }: HostMount): NodeOps["mknod"] {
  return (parent, name, mode) => {
    const file = path.join(folder, pathOf(parent), name);
    const type = mode & fileType;
    if (type === folderType) callHost(() => mkdirSync(file, mode));
    else if (type === regularType) callHost(() => writeFileSync(file, "", { mode, flag: isExclusive() ? "wx" : "a" }));
    else throw makeError(invalid);
    return makeNode(parent, name, mode);
  };
}

function attributesOf(stats: Stats): Attributes {
  const { dev, ino, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime, blksize, blocks } = stats;
  return { dev, ino, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime, blksize, blocks };
}

/**
 * Returns attributes with the host's inode number. NODEFS assigns a new number at each lookup, and SQLite would take
 * the database for a different file and refuse to write to it.
 */
function getAttributes({ folder, callHost }: HostMount): NodeOps["getattr"] {
  return (node) => attributesOf(callHost(() => lstatSync(path.join(folder, pathOf(node)))));
}

/** Sets the operations of the mount's root and of every node found below it. */
export function overrideOperations(
  mount: HostMount,
  change: (
    ops: NodeOps,
    streams: StreamOps,
  ) => {
    readonly node: Partial<NodeOps>;
    readonly stream: Partial<StreamOps>;
    /** Whether other processes may change the files: locks are then taken on the host. */
    readonly isShared: boolean;
    /** Whether a lookup stays valid for the rest of a request. */
    readonly isCached: boolean;
  },
): void {
  const { root } = mount;
  const base = {
    ...root.node_ops,
    lookup: lookUp(mount),
    mknod: makeFile(mount),
    getattr: getAttributes(mount),
  };
  const streams: StreamOps = {
    ...root.stream_ops,
    getattr: ({ nfd }) => attributesOf(mount.callHost(() => fstatSync(nfd))),
  };
  const { node: nodeChanges, stream: streamChanges, isShared, isCached } = change(base, streams);
  const changed = { ...base, ...nodeChanges };
  const streamOps = { ...streams, ...streamChanges };
  const ops: NodeOps = {
    ...changed,
    lookup: (parent, name) => setOperations(changed.lookup(parent, name)),
    mknod: (parent, name, mode, device) => setOperations(changed.mknod(parent, name, mode, device)),
  };
  function setOperations(node: FsNode): FsNode {
    node.node_ops = ops;
    node.stream_ops = streamOps;
    node.isSharedFS = isShared;
    if (!isCached && node !== root) mount.forget(node);
    return node;
  }
  setOperations(root);
}

/** Emscripten's table of all nodes it has looked up, as lists by name hash. */
export interface NodeTable {
  readonly nameTable: readonly (TableNode | null | undefined)[];
  hashRemoveNode(node: TableNode): void;
}

interface TableNode extends FsNode {
  readonly name_next?: TableNode | null;
  /** The mount whose mount point this folder is. */
  readonly mounted: object | null;
}

/**
 * Removes all nodes in shared folders from the table, so that they are looked up again, except mount points and the
 * folders above them. Emscripten looks each name up once and then assumes that the file exists, whatever other processes
 * do: a worker that has seen the file of the page "Briefly unavailable" would try to show that page forever.
 */
export function forgetOwnNodes(table: NodeTable): void {
  const nodes = [...allNodes(table)];
  // A folder found again would be another node, without the mounts below it.
  const kept = new Set<FsNode>();
  for (const node of nodes) {
    const isMountPoint = node.mounted !== null || node.parent === node;
    for (let each: FsNode = node; isMountPoint && !kept.has(each); each = each.parent) kept.add(each);
  }
  for (const node of nodes) {
    if (node.isSharedFS && !kept.has(node)) table.hashRemoveNode(node);
  }
}

function* allNodes(table: NodeTable): Iterable<TableNode> {
  for (const first of table.nameTable) {
    for (let node = first; node; node = node.name_next) yield node;
  }
}
