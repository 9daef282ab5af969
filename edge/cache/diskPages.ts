/**
 * Cached pages on the disk, so that a site that sleeps goes on answering from them after a restart, and more are kept than fit
 * into memory. A page is a file, found by its key alone.
 *
 * What was purged must not come back, whenever this process is killed. So files go before a purge is acknowledged; and while
 * something is written to an environment, a mark lies beside its pages: the next process that finds it does not trust them,
 * because this one may have been killed between a change and what WordPress said about it.
 *
 * A disk that is full or broken costs pages, and nothing else: where something can't be removed or marked, none of what lies
 * there is shown any more.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { MadePage } from "./cachedPage.ts";
import { readPageFile, readPageHead, writePageFile } from "./pageFile.ts";
import { createPageIndex, type PageFile } from "./pageIndex.ts";
import type { IsTouched } from "./touched.ts";

export interface DiskPages {
  /** In the background; a page that can't be written is not kept. */
  put(page: MadePage): void;
  /** Null if there is none. Never rejects. */
  get(environmentId: string, key: string): Promise<MadePage | null>;
  remove(environmentId: string, key: string): void;
  /** They are gone when it returns. */
  purge(environmentId: string, isTouched: IsTouched): void;
  /** Only these environments' pages stay, and of each those whose keys begin with this and a space. */
  keep(versions: ReadonlyMap<string, string>): void;
  /** Until the returned function is called, a process that starts does not trust the environment's pages. */
  beginWrite(environmentId: string): () => void;
  /** Resolves when everything that was there at the start is counted. */
  counted(): Promise<void>;
}

export interface DiskPagesOptions {
  /** A folder of its own. */
  readonly folder: string;
  /** All pages together; what was written longest ago goes. */
  readonly bytes: number;
  readonly onFailure: (error: unknown) => void;
}

const markName = "writing";

export function openDiskPages({ folder, bytes: mostBytes, onFailure }: DiskPagesOptions): DiskPages {
  const pages = createPageIndex(mostBytes, (file) => surely(() => rmSync(file, { force: true })));
  /** How many write to an environment. */
  const writers = new Map<string, number>();
  let isCounted = false;
  /** What lies there may be old. */
  let isLost = false;
  let serial = 0;

  const folderOf = (environmentId: string) => join(folder, environmentId);
  const fileOf = (environmentId: string, key: string) =>
    join(folderOf(environmentId), createHash("blake2s256").update(key).digest("hex"));

  /** Does what others rely on. */
  function surely(work: () => void): void {
    try {
      work();
    } catch (error) {
      isLost = true;
      onFailure(error);
    }
  }

  /** At once, though to remove what was in it takes its time. */
  function dropFolder(environmentId: string): void {
    pages.forgetAll((page) => page.environmentId === environmentId);
    serial += 1;
    const gone = join(folder, `.gone-${process.pid}-${Date.now()}-${serial}`);
    if (!existsSync(folderOf(environmentId))) return;
    surely(() => renameSync(folderOf(environmentId), gone));
    rm(gone, { recursive: true, force: true }).catch(onFailure);
    if (writers.has(environmentId)) surely(() => mark(environmentId));
  }

  function mark(environmentId: string): void {
    mkdirSync(folderOf(environmentId), { recursive: true, mode: 0o700 });
    writeFileSync(join(folderOf(environmentId), markName), "");
  }

  async function write(page: MadePage): Promise<void> {
    const { environmentId, key, place } = page.ask;
    const content = writePageFile(page);
    const file = fileOf(environmentId, key);
    const own: PageFile = { environmentId, file, key, place, bytes: content.length };
    serial += 1;
    const unfinished = `${file}.${serial}.new`;
    pages.expect(own);
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(unfinished, content, { mode: 0o600 });
      // Nothing may come between the look and the rename.
      if (pages.isExpected(own)) renameSync(unfinished, file);
      if (pages.settle(own)) pages.note(own);
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** Before anybody can ask for a page. */
  function distrust(): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) {
      const isGone = name.startsWith(".") || existsSync(join(folder, name, markName));
      if (isGone) rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  async function count(): Promise<void> {
    for (const environmentId of await readdir(folder)) {
      for (const name of await readdir(folderOf(environmentId)).catch(() => [])) {
        if (name !== markName) await learn(environmentId, join(folderOf(environmentId), name));
      }
    }
    isCounted = true;
  }

  async function learn(environmentId: string, file: string): Promise<void> {
    const isUnfinished = file.endsWith(".new");
    // It may be one of ours.
    if (isUnfinished && pages.isAnyExpected()) return;
    const head = isUnfinished ? null : await readPageHead(file).catch(() => null);
    // What was written or dropped since this began is known better.
    if (pages.knows(file)) return;
    if (head === null) rmSync(file, { force: true });
    else if (existsSync(file))
      pages.note({ environmentId, file, key: head.ask.key, place: head.ask.place, bytes: head.bytes });
  }

  surely(distrust);
  const counted = count().catch(onFailure);

  return {
    put: (page) => {
      if (mostBytes > 0 && !isLost) write(page).catch(onFailure);
    },
    async get(environmentId, key) {
      const content = isLost ? null : await readFile(fileOf(environmentId, key)).catch(() => null);
      const page = content === null ? null : readPageFile(content);
      return page?.ask.key === key && page.ask.environmentId === environmentId ? page : null;
    },
    remove(environmentId, key) {
      const file = fileOf(environmentId, key);
      pages.forget(file);
      surely(() => rmSync(file, { force: true }));
    },
    purge(environmentId, isTouched) {
      if (isCounted) pages.drop((page) => page.environmentId === environmentId && isTouched(page.place));
      else dropFolder(environmentId);
    },
    keep(versions) {
      const isKept = ({ environmentId, key }: PageFile) => key.startsWith(`${versions.get(environmentId)} `);
      pages.drop((page) => !isKept(page));
    },
    beginWrite(environmentId) {
      const others = writers.get(environmentId) ?? 0;
      writers.set(environmentId, others + 1);
      if (others === 0) surely(() => mark(environmentId));
      // The next process would find no mark.
      if (isLost) dropFolder(environmentId);
      return () => {
        const left = (writers.get(environmentId) ?? 1) - 1;
        writers.set(environmentId, left);
        if (left > 0) return;
        writers.delete(environmentId);
        surely(() => rmSync(join(folderOf(environmentId), markName), { force: true }));
      };
    },
    counted: () => counted,
  };
}
