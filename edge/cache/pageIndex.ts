/** Index of the cached pages on disk and of those being written, with their total size. */
import type { PageAddress } from "../visit/pageRequest.ts";

export interface PageFile {
  readonly environmentId: string;
  readonly file: string;
  readonly key: string;
  readonly address: PageAddress;
  readonly bytes: number;
}

interface PageIndex {
  /** Notes that a page is being written. */
  addPending(page: PageFile): void;
  /** Whether the page is still wanted: it may have been dropped in the meantime. */
  isPending(page: PageFile): boolean;
  hasPending(): boolean;
  /** Ends a write. Returns whether the page was still wanted. */
  removePending(page: PageFile): boolean;
  /** Adds a page that is on disk. If the limit is exceeded, the oldest files are removed. */
  add(page: PageFile): void;
  /** Forgets a file and any write to it. */
  forget(file: string): void;
  /** Whether the file is on disk or being written. */
  has(file: string): boolean;
  /** Removes the matching pages and cancels matching writes. */
  removeWhere(isOld: (page: PageFile) => boolean): void;
  /** As `removeWhere`, for files that are already gone. */
  forgetWhere(isGone: (page: PageFile) => boolean): void;
}

/** `remove` removes a file. */
export function createPageIndex(maxBytes: number, remove: (file: string) => void): PageIndex {
  /** By path, oldest first. */
  const files = new Map<string, PageFile>();
  const pending = new Set<PageFile>();
  let bytes = 0;

  function forget(file: string): void {
    bytes -= files.get(file)?.bytes ?? 0;
    files.delete(file);
  }

  function removeFile(file: string): void {
    forget(file);
    remove(file);
  }

  function removePendingWhere(isOld: (page: PageFile) => boolean): void {
    for (const page of [...pending]) if (isOld(page)) pending.delete(page);
  }

  return {
    addPending: (page) => void pending.add(page),
    isPending: (page) => pending.has(page),
    hasPending: () => pending.size > 0,
    removePending: (page) => pending.delete(page),
    add: (page) => {
      forget(page.file);
      files.set(page.file, page);
      bytes += page.bytes;
      for (const oldest of files.keys()) {
        if (bytes <= maxBytes) break;
        removeFile(oldest);
      }
    },
    forget: (file) => {
      removePendingWhere((page) => page.file === file);
      forget(file);
    },
    has: (file) => files.has(file) || [...pending].some((page) => page.file === file),
    removeWhere: (isOld) => {
      removePendingWhere(isOld);
      for (const page of [...files.values()]) if (isOld(page)) removeFile(page.file);
    },
    forgetWhere: (isGone) => {
      removePendingWhere(isGone);
      for (const page of [...files.values()]) if (isGone(page)) forget(page.file);
    },
  };
}
