/**
 * Cached pages on disk, so that idle sites can still be served from them after a restart, and more pages fit than in
 * memory. Each page is a file whose name is a hash of the key.
 *
 * Purged pages must never come back, whenever this process is killed. So files are removed before a purge is
 * acknowledged. While an environment is being written to, a marker file lies next to its pages. The next process
 * discards pages with a marker, because this one may have been killed after a change and before WordPress reported it.
 *
 * A full or broken disk only costs cached pages: if a file can't be removed or a marker can't be set, nothing is served
 * from disk any more.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RenderedPage } from "./cachedPage.ts";
import { readPageFile, readPageHead, writePageFile } from "./pageFile.ts";
import { createPageIndex, type PageFile } from "./pageIndex.ts";
import type { IsPurged } from "./purgeScope.ts";

export interface DiskPages {
  /** Writes a page in the background. If that fails, the page is not cached. */
  put(page: RenderedPage): void;
  /** Null if there is none. Never rejects. */
  get(environmentId: string, key: string): Promise<RenderedPage | null>;
  /** Notes that the page was asked for again, so that it is kept longer. */
  touch(environmentId: string, key: string): void;
  remove(environmentId: string, key: string): void;
  /** Removes the matching pages. They are gone when this returns. */
  purge(environmentId: string, isPurged: IsPurged): void;
  /** Removes all pages except those of these environments whose keys start with the given version and a space. */
  retain(versions: ReadonlyMap<string, string>): void;
  /** Sets who pays for each environment's pages. */
  setPayers(payers: ReadonlyMap<string, string>): void;
  /** Marks a write. Until the returned function is called, a new process would discard the environment's pages. */
  beginWrite(environmentId: string): () => void;
  /** Resolves when the files that existed at startup are in the index. */
  indexed(): Promise<void>;
}

interface DiskPagesOptions {
  /** Used for nothing else. */
  readonly folder: string;
  /** Maximum for all pages together. */
  readonly bytes: number;
  readonly onFailure: (error: unknown) => void;
}

const markerName = "writing";

export function openDiskPages({ folder, bytes: maxBytes, onFailure }: DiskPagesOptions): DiskPages {
  const pages = createPageIndex(maxBytes, (file) => mustSucceed(() => rmSync(file, { force: true })));
  /** Number of running writes per environment. */
  const writers = new Map<string, number>();
  let isIndexed = false;
  /** Files may be out of date, so none are read any more. */
  let isDisabled = false;
  let serial = 0;

  const folderOf = (environmentId: string) => join(folder, environmentId);
  const fileOf = (environmentId: string, key: string) =>
    join(folderOf(environmentId), createHash("blake2s256").update(key).digest("hex"));

  /** Runs file system work that correctness depends on. A failure disables the disk cache. */
  function mustSucceed(work: () => void): void {
    try {
      work();
    } catch (error) {
      isDisabled = true;
      onFailure(error);
    }
  }

  /** Renames the folder, which takes effect at once, and then removes it in the background. */
  function dropFolder(environmentId: string): void {
    pages.forgetAll(environmentId);
    serial += 1;
    const gone = join(folder, `.gone-${process.pid}-${Date.now()}-${serial}`);
    if (!existsSync(folderOf(environmentId))) return;
    mustSucceed(() => renameSync(folderOf(environmentId), gone));
    rm(gone, { recursive: true, force: true }).catch(onFailure);
    if (writers.has(environmentId)) mustSucceed(() => setMarker(environmentId));
  }

  function setMarker(environmentId: string): void {
    mkdirSync(folderOf(environmentId), { recursive: true, mode: 0o700 });
    writeFileSync(join(folderOf(environmentId), markerName), "");
  }

  async function write(page: RenderedPage): Promise<void> {
    const { environmentId, key, address, isVariant } = page.request;
    const content = writePageFile(page);
    const file = fileOf(environmentId, key);
    const entry: PageFile = { environmentId, file, key, address, isVariant, tags: page.tags, bytes: content.length };
    serial += 1;
    const unfinished = `${file}.${serial}.new`;
    pages.addPending(entry);
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(unfinished, content, { mode: 0o600 });
      // Synchronous: a purge between the check and the rename would be lost.
      if (pages.isPending(entry)) renameSync(unfinished, file);
      if (pages.removePending(entry)) pages.add(entry);
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** Runs before the first page is read. */
  function removeMarked(): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) {
      const isGone = name.startsWith(".") || existsSync(join(folder, name, markerName));
      if (isGone) rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  async function indexFiles(): Promise<void> {
    for (const environmentId of await readdir(folder)) {
      for (const name of await readdir(folderOf(environmentId)).catch(() => [])) {
        if (name !== markerName) await indexFile(environmentId, join(folderOf(environmentId), name));
      }
    }
    isIndexed = true;
  }

  async function indexFile(environmentId: string, file: string): Promise<void> {
    const isUnfinished = file.endsWith(".new");
    // It may belong to a write of this process.
    if (isUnfinished && pages.hasPending()) return;
    const head = isUnfinished ? null : await readPageHead(file).catch(() => null);
    // The index is newer: the file was written or removed in the meantime.
    if (pages.has(file)) return;
    if (head === null) rmSync(file, { force: true });
    else if (existsSync(file)) {
      const { key, address, isVariant } = head.request;
      pages.add({ environmentId, file, key, address, isVariant, tags: head.tags, bytes: head.bytes });
    }
  }

  mustSucceed(removeMarked);
  const indexed = indexFiles().catch(onFailure);

  return {
    put: (page) => {
      if (maxBytes > 0 && !isDisabled) write(page).catch(onFailure);
    },
    async get(environmentId, key) {
      const file = fileOf(environmentId, key);
      const content = isDisabled ? null : await readFile(file).catch(() => null);
      const page = content === null ? null : readPageFile(content);
      if (page?.request.key !== key || page.request.environmentId !== environmentId) return null;
      pages.touch(file);
      return page;
    },
    touch(environmentId, key) {
      if (!isDisabled) pages.touch(fileOf(environmentId, key));
    },
    remove(environmentId, key) {
      const file = fileOf(environmentId, key);
      pages.forget(file);
      mustSucceed(() => rmSync(file, { force: true }));
    },
    purge(environmentId, isPurged) {
      if (isIndexed) pages.removeWhere(environmentId, isPurged);
      else dropFolder(environmentId);
    },
    retain(versions) {
      for (const id of pages.environments()) {
        const start = `${versions.get(id)} `;
        pages.removeWhere(id, ({ key }) => !key.startsWith(start));
      }
    },
    setPayers: pages.setPayers,
    beginWrite(environmentId) {
      const others = writers.get(environmentId) ?? 0;
      writers.set(environmentId, others + 1);
      if (others === 0) mustSucceed(() => setMarker(environmentId));
      // The marker could not be set, so the next process would trust the pages.
      if (isDisabled) dropFolder(environmentId);
      return () => {
        const left = (writers.get(environmentId) ?? 1) - 1;
        writers.set(environmentId, left);
        if (left > 0) return;
        writers.delete(environmentId);
        mustSucceed(() => rmSync(join(folderOf(environmentId), markerName), { force: true }));
      };
    },
    indexed: () => indexed,
  };
}
