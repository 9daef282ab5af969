/** Index of the cached pages on disk and of those being written, with their total size. */
import type { PageAddress } from "./pageAsk.ts";

export interface PageFile {
  readonly environmentId: string;
  readonly file: string;
  readonly key: string;
  readonly place: PageAddress;
  readonly bytes: number;
}

export interface PageIndex {
  /** Notes that a page is being written. */
  expect(page: PageFile): void;
  /** Whether the page is still wanted: it may have been dropped in the meantime. */
  isExpected(page: PageFile): boolean;
  isAnyExpected(): boolean;
  /** Ends a write. Returns whether the page was still wanted. */
  settle(page: PageFile): boolean;
  /** Adds a page that is on disk. If the limit is exceeded, the oldest files are removed. */
  note(page: PageFile): void;
  /** Forgets a file and any write to it. */
  forget(file: string): void;
  /** Whether the file is on disk or being written. */
  knows(file: string): boolean;
  /** Removes the matching pages and cancels matching writes. */
  drop(isOld: (page: PageFile) => boolean): void;
  /** As `drop`, for files that are already gone. */
  forgetAll(isGone: (page: PageFile) => boolean): void;
}

/** `remove` removes a file. */
export function createPageIndex(mostBytes: number, remove: (file: string) => void): PageIndex {
  /** By path, oldest first. */
  const known = new Map<string, PageFile>();
  const expected = new Set<PageFile>();
  let bytes = 0;

  function forget(file: string): void {
    bytes -= known.get(file)?.bytes ?? 0;
    known.delete(file);
  }

  function dropFile(file: string): void {
    forget(file);
    remove(file);
  }

  function dropExpected(isOld: (page: PageFile) => boolean): void {
    for (const page of [...expected]) if (isOld(page)) expected.delete(page);
  }

  return {
    expect: (page) => void expected.add(page),
    isExpected: (page) => expected.has(page),
    isAnyExpected: () => expected.size > 0,
    settle: (page) => expected.delete(page),
    note: (page) => {
      forget(page.file);
      known.set(page.file, page);
      bytes += page.bytes;
      for (const oldest of known.keys()) {
        if (bytes <= mostBytes) break;
        dropFile(oldest);
      }
    },
    forget: (file) => {
      dropExpected((page) => page.file === file);
      forget(file);
    },
    knows: (file) => known.has(file) || [...expected].some((page) => page.file === file),
    drop: (isOld) => {
      dropExpected(isOld);
      for (const page of [...known.values()]) if (isOld(page)) dropFile(page.file);
    },
    forgetAll: (isGone) => {
      dropExpected(isGone);
      for (const page of [...known.values()]) if (isGone(page)) forget(page.file);
    },
  };
}
