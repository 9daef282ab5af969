/** File operations of a mount that enforce the environment's quota (`diskBudget.ts`). */
import { fstatSync, lstatSync, type Stats } from "node:fs";
import path from "node:path";
import { type DiskBudget, noSpaceLeft } from "./diskBudget.ts";
import { type FsNode, type FsStream, type HostMount, type NodeOps, pathOf, type StreamOps } from "./hostNodes.ts";

const journalSuffix = "-journal";
/** Overhead of SQLite's journal for each page, and before the first page. */
const journalFactor = 1.1;
const journalHeaderBytes = 128 << 10;

type Changing = Pick<NodeOps, "mknod" | "setattr" | "rename" | "unlink"> & Pick<StreamOps, "write" | "msync">;

/** Returns the new length in a change of attributes; null if the length stays. */
function lengthIn(attributes: unknown): number | null {
  const length: unknown =
    typeof attributes === "object" && attributes !== null ? Reflect.get(attributes, "size") : undefined;
  return typeof length === "number" ? length : null;
}

/**
 * Wraps the operations with the quota. `isDatabase`: SQLite's journals in the folder don't count, because they are
 * removed after each write.
 */
export function limitGrowth(
  mount: HostMount,
  budget: DiskBudget,
  isDatabase: boolean,
  ops: NodeOps,
  streams: StreamOps,
): Changing & { readonly streamSetattr: StreamOps["setattr"] } {
  const hostPath = (node: FsNode) => path.join(mount.folder, pathOf(node));
  const statOf = (file: string): Stats | undefined => mount.callHost(() => lstatSync(file, { throwIfNoEntry: false }));
  const sizeOf = (node: FsNode): number => statOf(hostPath(node))?.size ?? 0;

  function take(bytes: number): void {
    if (bytes !== 0 && !budget.take(bytes, isDatabase)) throw mount.makeError(noSpaceLeft);
  }

  /**
   * Whether the file is a journal. A journal holds earlier content of the database, so it never needs more space than
   * that, and without one nothing can be deleted.
   */
  function isJournal(node: FsNode, length: number): boolean {
    if (!isDatabase || !node.name.endsWith(journalSuffix)) return false;
    const database = statOf(hostPath(node).slice(0, -journalSuffix.length));
    return database !== undefined && length <= database.size * journalFactor + journalHeaderBytes;
  }

  function resize(node: FsNode, before: number, after: number): void {
    if (!isJournal(node, Math.max(before, after))) take(after - before);
  }

  function grow({ node, nfd }: FsStream, position: number, length: number): void {
    const end = position + length;
    budget.noteWrite();
    if (!budget.isLimited()) return;
    const { size } = mount.callHost(() => fstatSync(nfd));
    if (end > size) resize(node, size, end);
    else if (!budget.mayOverwrite(length, isDatabase)) throw mount.makeError(noSpaceLeft);
  }

  return {
    mknod: (parent, name, mode, device) => {
      budget.noteWrite();
      // Even an empty file takes some space: without any left, only journals are created, because deleting needs them.
      const isNeeded = isDatabase && name.endsWith(journalSuffix);
      if (!isNeeded && budget.isLimited() && !budget.take(1, isDatabase)) throw mount.makeError(noSpaceLeft);
      return ops.mknod(parent, name, mode, device);
    },
    setattr: (node, attributes) => {
      budget.noteWrite();
      const after = lengthIn(attributes);
      if (after !== null && budget.isLimited()) resize(node, sizeOf(node), after);
      ops.setattr(node, attributes);
    },
    rename: (node, folder, name) => {
      budget.noteWrite();
      // A journal was not counted; under another name it is.
      const size = budget.isLimited() ? sizeOf(node) : 0;
      if (isJournal(node, size) && !name.endsWith(journalSuffix)) take(size);
      ops.rename(node, folder, name);
    },
    unlink: (parent, name) => {
      budget.noteWrite();
      const isCounted = budget.isLimited() && !(isDatabase && name.endsWith(journalSuffix));
      const size = isCounted ? (statOf(path.join(hostPath(parent), name))?.size ?? 0) : 0;
      ops.unlink(parent, name);
      take(-size);
    },
    write: (stream, buffer, offset, length, position) => {
      grow(stream, position, length);
      return streams.write(stream, buffer, offset, length, position);
    },
    msync: (stream, buffer, position, length, flags) => {
      grow(stream, position, length);
      return streams.msync(stream, buffer, position, length, flags);
    },
    streamSetattr: (stream, attributes) => {
      budget.noteWrite();
      const after = lengthIn(attributes);
      if (after !== null && budget.isLimited()) {
        resize(stream.node, mount.callHost(() => fstatSync(stream.nfd)).size, after);
      }
      streams.setattr(stream, attributes);
    },
  };
}
