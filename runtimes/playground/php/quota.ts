/** The operations of a mount whose files can only grow as far as the environment may (`diskBudget.ts`). */
import { fstatSync, lstatSync, type Stats } from "node:fs";
import path from "node:path";
import { type DiskBudget, noSpaceLeft } from "./diskBudget.ts";
import { type FsNode, type FsStream, type HostMount, type NodeOps, pathOf, type StreamOps } from "./hostNodes.ts";

const journalEnd = "-journal";
/** What SQLite keeps beside each page in its journal, and before the first. */
const journalFactor = 1.1;
const journalHeadBytes = 128 << 10;

type Changing = Pick<NodeOps, "mknod" | "setattr" | "rename" | "unlink"> & Pick<StreamOps, "write" | "msync">;

/** What a change of attributes makes of the length; null: nothing. */
function lengthIn(attributes: unknown): number | null {
  const length: unknown =
    typeof attributes === "object" && attributes !== null ? Reflect.get(attributes, "size") : undefined;
  return typeof length === "number" ? length : null;
}

/** `isDatabase`: SQLite's journals are there, which are gone again when what is written is. */
export function limitGrowth(
  mount: HostMount,
  budget: DiskBudget,
  isDatabase: boolean,
  ops: NodeOps,
  streams: StreamOps,
): Changing & { readonly streamSetattr: StreamOps["setattr"] } {
  const placeOf = (node: FsNode) => path.join(mount.folder, pathOf(node));
  const statOf = (place: string): Stats | undefined => mount.askHost(() => lstatSync(place, { throwIfNoEntry: false }));
  const sizeOf = (node: FsNode): number => statOf(placeOf(node))?.size ?? 0;

  function take(bytes: number): void {
    if (bytes !== 0 && !budget.take(bytes, isDatabase)) throw mount.makeError(noSpaceLeft);
  }

  /** A journal holds what the database was before, so it needs no more room than that; and without one nothing can be removed. */
  function isJournal(node: FsNode, length: number): boolean {
    if (!isDatabase || !node.name.endsWith(journalEnd)) return false;
    const database = statOf(placeOf(node).slice(0, -journalEnd.length));
    return database !== undefined && length <= database.size * journalFactor + journalHeadBytes;
  }

  function becomes(node: FsNode, before: number, after: number): void {
    if (!isJournal(node, Math.max(before, after))) take(after - before);
  }

  function grow({ node, nfd }: FsStream, end: number): void {
    budget.noteWrite();
    if (!budget.isLimited()) return;
    const { size } = mount.askHost(() => fstatSync(nfd));
    if (end > size) becomes(node, size, end);
  }

  return {
    mknod: (parent, name, mode, device) => {
      budget.noteWrite();
      // An empty file takes room, too, if not much: where there is none left, none is made but what removing needs.
      const isNeeded = isDatabase && name.endsWith(journalEnd);
      if (!isNeeded && budget.isLimited() && !budget.take(1, isDatabase)) throw mount.makeError(noSpaceLeft);
      return ops.mknod(parent, name, mode, device);
    },
    setattr: (node, attributes) => {
      budget.noteWrite();
      const after = lengthIn(attributes);
      if (after !== null && budget.isLimited()) becomes(node, sizeOf(node), after);
      ops.setattr(node, attributes);
    },
    rename: (node, folder, name) => {
      budget.noteWrite();
      // What was no burden as a journal is one under another name.
      const size = budget.isLimited() ? sizeOf(node) : 0;
      if (isJournal(node, size) && !name.endsWith(journalEnd)) take(size);
      ops.rename(node, folder, name);
    },
    unlink: (parent, name) => {
      budget.noteWrite();
      const isCounted = budget.isLimited() && !(isDatabase && name.endsWith(journalEnd));
      const size = isCounted ? (statOf(path.join(placeOf(parent), name))?.size ?? 0) : 0;
      ops.unlink(parent, name);
      take(-size);
    },
    write: (stream, buffer, offset, length, position) => {
      grow(stream, position + length);
      return streams.write(stream, buffer, offset, length, position);
    },
    msync: (stream, buffer, position, length, flags) => {
      grow(stream, position + length);
      return streams.msync(stream, buffer, position, length, flags);
    },
    streamSetattr: (stream, attributes) => {
      budget.noteWrite();
      const after = lengthIn(attributes);
      if (after !== null && budget.isLimited()) {
        becomes(stream.node, mount.askHost(() => fstatSync(stream.nfd)).size, after);
      }
      streams.setattr(stream, attributes);
    },
  };
}
