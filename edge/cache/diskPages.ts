/**
 * Kept pages on the disk, so that a site that sleeps goes on answering from them after a restart, and more are kept than fit
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
import type { PagePlace } from "./pageAsk.ts";
import { readPageFile, readPageHead, writePageFile } from "./pageFile.ts";
import type { IsTouched } from "./touched.ts";

export interface DiskPages {
  /** In the background; a page that can't be written is not kept. */
  put(page: MadePage): void;
  /** Null where there is none. Never rejects. */
  get(environmentId: string, key: string): Promise<MadePage | null>;
  remove(environmentId: string, key: string): void;
  /** They are gone when it returns. */
  purge(environmentId: string, isTouched: IsTouched): void;
  /** Only these environments' pages stay, and of each those whose keys begin with this and a space. */
  keep(versions: ReadonlyMap<string, string>): void;
  /** Until the returned function is called, a process that starts anew does not trust the environment's pages. */
  beginWrite(environmentId: string): () => void;
  /** Resolves when everything that was there at the start is counted. */
  counted(): Promise<void>;
}

export interface DiskPagesOptions {
  /** Nobody else's. */
  readonly folder: string;
  /** All pages together; what was written longest ago goes. */
  readonly bytes: number;
  readonly onFailure: (error: unknown) => void;
}

interface PageFile {
  readonly environmentId: string;
  readonly file: string;
  readonly key: string;
  readonly place: PagePlace;
  readonly bytes: number;
}

const markName = "writing";

export function openDiskPages({ folder, bytes: mostBytes, onFailure }: DiskPagesOptions): DiskPages {
  /** By path, what was written longest ago first. */
  const known = new Map<string, PageFile>();
  /** On their way to the disk. One that is dropped meanwhile is in here no more. */
  const coming = new Set<PageFile>();
  const writers = new Map<string, number>();
  let bytes = 0;
  let isCounted = false;
  /** What lies there may be old. */
  let isLost = false;
  let serial = 0;

  const folderOf = (environmentId: string) => join(folder, environmentId);
  const fileOf = (environmentId: string, key: string) =>
    join(folderOf(environmentId), createHash("blake2s256").update(key).digest("hex"));

  function note(page: PageFile): void {
    forget(page.file);
    known.set(page.file, page);
    bytes += page.bytes;
    for (const oldest of known.keys()) {
      if (bytes <= mostBytes) break;
      drop(oldest);
    }
  }

  function forget(file: string): void {
    bytes -= known.get(file)?.bytes ?? 0;
    known.delete(file);
  }

  /** Does what others rely on. */
  function surely(work: () => void): void {
    try {
      work();
    } catch (error) {
      isLost = true;
      onFailure(error);
    }
  }

  function drop(file: string): void {
    forget(file);
    surely(() => rmSync(file, { force: true }));
  }

  function dropWhere(isOld: (page: PageFile) => boolean): void {
    for (const page of [...coming]) if (isOld(page)) coming.delete(page);
    for (const page of [...known.values()]) if (isOld(page)) drop(page.file);
  }

  /** At once, though to remove what was in it takes its time. */
  function dropFolder(environmentId: string): void {
    for (const page of [...coming]) if (page.environmentId === environmentId) coming.delete(page);
    for (const page of [...known.values()]) if (page.environmentId === environmentId) forget(page.file);
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
    coming.add(own);
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(unfinished, content, { mode: 0o600 });
      // Nothing may come between the look and the rename.
      if (coming.has(own)) renameSync(unfinished, file);
      if (coming.delete(own)) note(own);
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
    if (isUnfinished && coming.size > 0) return;
    const head = isUnfinished ? null : await readPageHead(file).catch(() => null);
    // What was written or dropped since this began is known better.
    if (known.has(file) || [...coming].some((page) => page.file === file)) return;
    if (head === null) rmSync(file, { force: true });
    else if (existsSync(file))
      note({ environmentId, file, key: head.ask.key, place: head.ask.place, bytes: head.bytes });
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
      for (const page of [...coming]) if (page.file === file) coming.delete(page);
      drop(file);
    },
    purge(environmentId, isTouched) {
      if (isCounted) dropWhere((page) => page.environmentId === environmentId && isTouched(page.place));
      else dropFolder(environmentId);
    },
    keep(versions) {
      const isKept = ({ environmentId, key }: PageFile) => key.startsWith(`${versions.get(environmentId)} `);
      dropWhere((page) => !isKept(page));
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
