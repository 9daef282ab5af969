/** Cached pages in memory, by key. */

import { createCacheShares, type Held, type Shareable } from "../shares/cacheShares.ts";
import type { CachedPage } from "./cachedPage.ts";
import type { IsPurged } from "./purgeScope.ts";

interface MemoryPages {
  get(key: string): CachedPage | undefined;
  put(page: CachedPage): void;
  remove(key: string): void;
  /** Removes the environment's matching pages. Returns how many. */
  purge(environmentId: string, isPurged: IsPurged): number;
  /** Removes all pages except those of these environments whose keys start with the given version and a space. */
  retain(versions: ReadonlyMap<string, string>): void;
  /** Sets who pays for each environment's pages. */
  setPayers(payers: ReadonlyMap<string, string>): void;
  usage(): { readonly pages: number; readonly bytes: number };
}

interface MemoryPage extends Shareable {
  readonly cached: CachedPage;
}

/** Larger pages are not kept in memory. */
const maxPageFraction = 1 / 4;

/** `onAskedAgain` is called when a page is asked for the first time since it was put here. */
export function createMemoryPages(
  maxBytes: number,
  onAskedAgain: (request: CachedPage["request"]) => void,
): MemoryPages {
  const pages = new Map<string, Held<MemoryPage>>();
  const shares = createCacheShares<MemoryPage>(maxBytes, ({ cached }) => pages.delete(cached.request.key));

  function remove(key: string): Held<MemoryPage> | undefined {
    const held = pages.get(key);
    if (held === undefined) return undefined;
    pages.delete(key);
    shares.remove(held);
    return held;
  }

  function removeWhere(environmentId: string, isOld: (page: CachedPage) => boolean): number {
    const old = shares.of(environmentId).filter(({ page }) => isOld(page.cached));
    for (const { page } of old) remove(page.cached.request.key);
    return old.length;
  }

  return {
    get: (key) => {
      const held = pages.get(key);
      if (held === undefined) return undefined;
      const { cached } = held.page;
      if (shares.touch(held)) onAskedAgain(cached.request);
      return cached;
    },
    put: (cached) => {
      const { key, environmentId, isVariant } = cached.request;
      const replaced = remove(key);
      if (cached.size > maxBytes * maxPageFraction) return;
      const page = { cached, environmentId, isVariant, bytes: cached.size };
      pages.set(key, shares.add(page, replaced?.isAskedAgain ?? false));
      shares.makeRoom();
    },
    remove: (key) => void remove(key),
    purge: (environmentId, isPurged) =>
      removeWhere(environmentId, ({ request: { address }, tags }) => isPurged({ address, tags })),
    retain: (versions) => {
      for (const id of shares.environments()) {
        const start = `${versions.get(id)} `;
        removeWhere(id, ({ request }) => !request.key.startsWith(start));
      }
    },
    setPayers: shares.setPayers,
    usage: () => ({ pages: pages.size, bytes: shares.bytes() }),
  };
}
