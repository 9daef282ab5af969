/** Which cached pages are on the disk, or on their way there, and how many bytes they are together. */
import type { PageAddress } from "./pageAsk.ts";

export interface PageFile {
  readonly environmentId: string;
  readonly file: string;
  readonly key: string;
  readonly place: PageAddress;
  readonly bytes: number;
}

export interface PageIndex {
  /** It is on its way to the disk. */
  expect(page: PageFile): void;
  /** Whether it still is: it may have been dropped meanwhile. */
  isExpected(page: PageFile): boolean;
  isAnyExpected(): boolean;
  /** It is not on its way any more; gives whether it was. */
  settle(page: PageFile): boolean;
  /** It is on the disk. What was written longest ago is removed where there is no more room. */
  note(page: PageFile): void;
  /** This file is gone, or will not come. */
  forget(file: string): void;
  /** Whether the file is there or on its way. */
  knows(file: string): boolean;
  /** Those on their way will not come, and the others are removed. */
  drop(isOld: (page: PageFile) => boolean): void;
  /** The same where the files are gone already. */
  forgetAll(isGone: (page: PageFile) => boolean): void;
}

/** `remove` removes a file. */
export function createPageIndex(mostBytes: number, remove: (file: string) => void): PageIndex {
  /** By path, what was written longest ago first. */
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
