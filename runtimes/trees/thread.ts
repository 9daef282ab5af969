/**
 * The thread that walks through trees of files. Its calls of the system are synchronous: handing each one to another thread takes five
 * times as much processor time as the call itself. Walks take turns after each folder.
 */
import { type BigIntStats, lstatSync, opendirSync, readdirSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { ListedFile, ListedFolder, ListedTree, WalkAnswer, WalkFailure, WalkOrder } from "./order.ts";

const permissions = 0o777n;
/** Entries of a very large folder that are read in one go. */
const bufferSize = 256;

class WalkFailed extends Error {
  override readonly name = "WalkFailed";
  readonly failure: WalkFailure;
  constructor(cause: unknown, at: string) {
    super("A walk failed", { cause });
    this.failure = { message: String(cause), code: codeOf(cause), path: at };
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error ? String(error.code) : null;
}

/** Null if the entry has vanished since it was listed. */
function orNullIfVanished<T>(at: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw new WalkFailed(error, at);
  }
}

function sizeOf(file: string): number {
  try {
    return lstatSync(file).size;
  } catch {
    return 0;
  }
}

/** Files that vanish meanwhile, and folders that can't be read, count as 0. */
async function bytesIn(folder: string): Promise<number> {
  const folders: string[] = [];
  let bytes = 0;
  try {
    const opened = opendirSync(folder, { bufferSize });
    try {
      for (let count = 1; ; count += 1) {
        const entry = opened.readSync();
        if (entry === null) break;
        const each = path.join(folder, entry.name);
        if (entry.isDirectory()) folders.push(each);
        else if (entry.isFile()) bytes += sizeOf(each);
        if (count % bufferSize === 0) await nextTurn();
      }
    } finally {
      opened.closeSync();
    }
  } catch {
    return bytes;
  }
  await nextTurn();
  for (const each of folders) bytes += await bytesIn(each);
  return bytes;
}

/** The path on the disk, as bytes: names are not always valid UTF-8. */
function diskPath(root: string, inside: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(inside, "latin1")]);
}

async function list(root: string): Promise<ListedTree> {
  const folders: ListedFolder[] = [];
  const files: ListedFile[] = [];
  async function visit(folder: string): Promise<void> {
    await nextTurn();
    const found = orNullIfVanished(folder, () => readdirSync(diskPath(root, folder), { encoding: "latin1" })) ?? [];
    for (const name of found.toSorted((a, b) => (a < b ? -1 : 1))) {
      const each = folder === "" ? name : `${folder}/${name}`;
      const facts = orNullIfVanished(each, () => lstatSync(diskPath(root, each), { bigint: true }));
      if (facts === null) continue;
      if (facts.isFile()) files.push(fileOf(each, facts));
      if (!facts.isDirectory()) continue;
      folders.push({ path: each, mode: Number(facts.mode & permissions) });
      await visit(each);
    }
  }
  try {
    lstatSync(root);
  } catch (error) {
    throw new WalkFailed(error, "");
  }
  await visit("");
  return { folders, files };
}

function fileOf(at: string, { mode, size, mtimeNs, ino }: BigIntStats): ListedFile {
  return { path: at, mode: Number(mode & permissions), bytes: Number(size), modified: mtimeNs, inode: ino };
}

async function answer({ id, kind, folder }: WalkOrder): Promise<WalkAnswer> {
  try {
    if (kind === "bytes") return { id, kind, bytes: await bytesIn(folder) };
    return { id, kind, tree: await list(folder) };
  } catch (error) {
    const { failure } = error instanceof WalkFailed ? error : new WalkFailed(error, "");
    return { id, kind: "failed", failure };
  }
}

parentPort?.on("message", async (order: WalkOrder) => parentPort?.postMessage(await answer(order)));
