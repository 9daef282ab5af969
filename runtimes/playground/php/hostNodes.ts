/**
 * Files and folders of the host as Emscripten's NODEFS has them, with operations that differ from mount to mount: the
 * originals serve all of them.
 */
import { fstatSync, lstatSync, mkdirSync, type Stats, writeFileSync } from "node:fs";
import path from "node:path";
import type { RootFs } from "@php-wasm/universal";

export interface FsNode {
  mode: number;
  readonly name: string;
  /** The root of a mount is its own. */
  readonly parent: FsNode;
  node_ops: NodeOps;
  stream_ops: StreamOps;
  isSharedFS: boolean;
}

/** What NODEFS gives its nodes. */
function isHostNode(node: object): node is FsNode {
  return ["mode", "name", "parent", "node_ops", "stream_ops", "isSharedFS"].every((name) => name in node);
}

/** The part of NODEFS that is used as it is. */
interface NodeFs {
  createNode(parent: FsNode, name: string, mode: number): FsNode;
  /** Turns an error of the host's into one of Emscripten's: any other would be PHP's end. */
  tryFSOperation<Result>(operation: () => Result): Result;
}

function isNodeFs(nodeFs: object): nodeFs is NodeFs {
  return "createNode" in nodeFs && "tryFSOperation" in nodeFs;
}

/** As Emscripten wants them. */
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
  /** The host's descriptor. */
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

/** A folder of the host where PHP has it. */
export interface HostMount {
  readonly root: FsNode;
  /** Its path on the host. */
  readonly folder: string;
  makeNode(parent: FsNode, name: string, mode: number): FsNode;
  askHost<Result>(question: () => Result): Result;
  makeError(errno: number): Error;
  /** Has it looked up again the next time. */
  forget(node: FsNode): void;
}

/** `mountPoint` must be a folder. Throws if NODEFS has another form than this version of it. */
export function mountHost(FS: RootFs, folder: string, mountPoint: string): HostMount {
  const nodeFs = FS.filesystems.NODEFS;
  if (nodeFs === undefined || !isNodeFs(nodeFs)) throw new Error("This PHP has no NODEFS, or another one.");
  const root = FS.mount(nodeFs, { root: folder }, mountPoint);
  if (!isHostNode(root)) throw new Error("This PHP's NODEFS has another form.");
  return {
    root,
    folder,
    makeNode: (parent, name, mode) => nodeFs.createNode(parent, name, mode),
    askHost: (question) => nodeFs.tryFSOperation(question),
    makeError: (errno) => new FS.ErrnoError(errno),
    forget: (node) => FS.hashRemoveNode(node),
  };
}

/** From the mount's folder, with a leading slash; empty for itself. */
export function pathOf(node: FsNode): string {
  return node.parent === node ? "" : `${pathOf(node.parent)}/${node.name}`;
}

const noEntry = 44;
const invalid = 28;

/**
 * Like NODEFS's own, but that there is nothing costs no exception with a stack, which takes ten times as long as the
 * question: SQLite asks for its journals before every query.
 */
function lookUp({ folder, makeNode, askHost, makeError }: HostMount): NodeOps["lookup"] {
  return (parent, name) => {
    const place = path.join(folder, pathOf(parent), name);
    const stats = askHost(() => lstatSync(place, { throwIfNoEntry: false }));
    if (stats === undefined) throw makeError(noEntry);
    return makeNode(parent, name, stats.mode);
  };
}

const fileType = 0o170000;
const folderType = 0o040000;
const regularType = 0o100000;

/**
 * Asks the host first, where NODEFS has a node already when the host refuses, and PHP then believes in the file. What
 * another process has made in the same moment is left as it is.
 */
function makeFile({ folder, makeNode, askHost, makeError }: HostMount): NodeOps["mknod"] {
  return (parent, name, mode) => {
    const place = path.join(folder, pathOf(parent), name);
    const type = mode & fileType;
    if (type === folderType) askHost(() => mkdirSync(place, mode));
    else if (type === regularType) askHost(() => writeFileSync(place, "", { mode, flag: "a" }));
    else throw makeError(invalid);
    return makeNode(parent, name, mode);
  };
}

function attributesOf(stats: Stats): Attributes {
  const { dev, ino, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime, blksize, blocks } = stats;
  return { dev, ino, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime, blksize, blocks };
}

/**
 * With the host's number of the file, where NODEFS has one for each time that it looked the file up: SQLite takes a
 * database whose number is another one than before for another file, and does not write to it.
 */
function getAttributes({ folder, askHost }: HostMount): NodeOps["getattr"] {
  return (node) => attributesOf(askHost(() => lstatSync(path.join(folder, pathOf(node)))));
}

/** Returns the mount's root, and every node that will be found below it, operations of its own. */
export function adopt(
  mount: HostMount,
  change: (
    ops: NodeOps,
    streams: StreamOps,
  ) => {
    readonly node: Partial<NodeOps>;
    readonly stream: Partial<StreamOps>;
    /** Whether other processes may change it: the host is asked for locks. */
    readonly isShared: boolean;
    /** Whether PHP may believe for the rest of a request that what it has looked up is there. */
    readonly isKept: boolean;
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
    getattr: ({ nfd }) => attributesOf(mount.askHost(() => fstatSync(nfd))),
  };
  const { node: nodeChanges, stream: streamChanges, isShared, isKept } = change(base, streams);
  const changed = { ...base, ...nodeChanges };
  const streamOps = { ...streams, ...streamChanges };
  const ops: NodeOps = {
    ...changed,
    lookup: (parent, name) => give(changed.lookup(parent, name)),
    mknod: (parent, name, mode, device) => give(changed.mknod(parent, name, mode, device)),
  };
  function give(node: FsNode): FsNode {
    node.node_ops = ops;
    node.stream_ops = streamOps;
    node.isSharedFS = isShared;
    if (!isKept && node !== root) mount.forget(node);
    return node;
  }
  give(root);
}

/** Every node that Emscripten has looked up, in lists by a hash of its name. */
export interface NodeTable {
  readonly nameTable: readonly (TableNode | null | undefined)[];
  hashRemoveNode(node: TableNode): void;
}

interface TableNode extends FsNode {
  readonly name_next?: TableNode | null;
  /** The mount for which this folder is the place. */
  readonly mounted: object | null;
}

/**
 * Emscripten looks up each name once and then believes that the file is there, whatever other processes do: a site of
 * which one worker has seen the page "Briefly unavailable" would try to show it for ever. Afterwards every
 * file in a shared folder is looked up again.
 */
export function forgetOwnNodes(table: NodeTable): void {
  for (const first of table.nameTable) {
    for (let node = first; node; node = node.name_next) {
      const isPlace = node.mounted !== null || node.parent === node;
      if (node.isSharedFS && !isPlace) table.hashRemoveNode(node);
    }
  }
}
