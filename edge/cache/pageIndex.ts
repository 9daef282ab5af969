/** Index of the cached pages on disk and of those being written, with their total size. */

import { createCacheShares, type Held, type Shareable } from "../shares/cacheShares.ts";
import type { PageAddress } from "../visit/pageRequest.ts";
import type { PageTags } from "./tags.ts";

export interface PageFile extends Shareable {
  readonly file: string;
  readonly key: string;
  readonly address: PageAddress;
  readonly tags: PageTags;
}

interface PageIndex {
  /** Notes that a page is being written. */
  addPending(page: PageFile): void;
  /** Whether the page is still wanted: it may have been dropped in the meantime. */
  isPending(page: PageFile): boolean;
  hasPending(): boolean;
  /** Ends a write. Returns whether the page was still wanted. */
  removePending(page: PageFile): boolean;
  /** Adds a page that is on disk. If the limit is exceeded, files are removed. */
  add(page: PageFile): void;
  /** Notes that a page was asked for. */
  touch(file: string): void;
  /** Forgets a file and any write to it. */
  forget(file: string): void;
  /** Whether the file is on disk or being written. */
  has(file: string): boolean;
  /** Removes the environment's matching pages and cancels matching writes. */
  removeWhere(environmentId: string, isOld: (page: PageFile) => boolean): void;
  /** Forgets all pages of an environment and cancels its writes. Their files are already gone. */
  forgetAll(environmentId: string): void;
  /** Environments that have pages on disk or being written. */
  environments(): readonly string[];
  /** Sets who pays for each environment's pages. */
  setPayers(payers: ReadonlyMap<string, string>): void;
}

/** `remove` removes a file. */
export function createPageIndex(maxBytes: number, remove: (file: string) => void): PageIndex {
  const files = new Map<string, Held<PageFile>>();
  const pending = new Set<PageFile>();
  const shares = createCacheShares<PageFile>(maxBytes, ({ file }) => {
    files.delete(file);
    remove(file);
  });

  function forget(file: string): Held<PageFile> | undefined {
    const held = files.get(file);
    if (held === undefined) return undefined;
    files.delete(file);
    shares.remove(held);
    return held;
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
      const replaced = forget(page.file);
      files.set(page.file, shares.add(page, replaced?.isAskedAgain ?? false));
      shares.makeRoom();
    },
    touch: (file) => {
      const held = files.get(file);
      if (held !== undefined) shares.touch(held);
    },
    forget: (file) => {
      removePendingWhere((page) => page.file === file);
      forget(file);
    },
    has: (file) => files.has(file) || [...pending].some((page) => page.file === file),
    removeWhere: (environmentId, isOld) => {
      removePendingWhere((page) => page.environmentId === environmentId && isOld(page));
      for (const { page } of shares.of(environmentId)) {
        if (!isOld(page)) continue;
        forget(page.file);
        remove(page.file);
      }
    },
    forgetAll: (environmentId) => {
      removePendingWhere((page) => page.environmentId === environmentId);
      for (const { page } of shares.of(environmentId)) forget(page.file);
    },
    environments: () => [...new Set([...shares.environments(), ...[...pending].map((page) => page.environmentId)])],
    setPayers: shares.setPayers,
  };
}
