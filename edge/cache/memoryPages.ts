/** Cached pages in memory, by key and by environment. The least recently used pages are removed when memory is full. */
import { LRUCache } from "lru-cache";
import type { PageAddress } from "../visit/pageRequest.ts";
import type { CachedPage } from "./cachedPage.ts";

interface MemoryPages {
  get(key: string): CachedPage | undefined;
  put(page: CachedPage): void;
  remove(key: string): void;
  /** Removes the environment's pages at matching addresses. Returns how many. */
  removeAt(environmentId: string, isPurged: (address: PageAddress) => boolean): number;
  /** Removes all pages except those of these environments whose keys start with the given version and a space. */
  retain(versions: ReadonlyMap<string, string>): void;
  usage(): { readonly pages: number; readonly bytes: number };
}

export function createMemoryPages(maxBytes: number): MemoryPages {
  const byEnvironment = new Map<string, Map<string, CachedPage>>();
  const pages = new LRUCache<string, CachedPage>({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 4)),
    sizeCalculation: ({ size }) => size,
    dispose: ({ request: { environmentId } }, key) => {
      const own = byEnvironment.get(environmentId);
      own?.delete(key);
      if (own?.size === 0) byEnvironment.delete(environmentId);
    },
  });

  return {
    get: (key) => pages.get(key),
    put: (page) => {
      const { environmentId, key } = page.request;
      pages.set(key, page);
      // The cache rejects pages that are too large.
      if (!pages.has(key)) return;
      const own = byEnvironment.get(environmentId) ?? new Map<string, CachedPage>();
      byEnvironment.set(environmentId, own.set(key, page));
    },
    remove: (key) => {
      pages.delete(key);
    },
    removeAt: (environmentId, isPurged) => {
      const old = [...(byEnvironment.get(environmentId) ?? [])].filter(([, { request: ask }]) => isPurged(ask.address));
      for (const [key] of old) pages.delete(key);
      return old.length;
    },
    retain: (versions) => {
      for (const [id, own] of byEnvironment) {
        const old = [...own.keys()].filter((key) => !key.startsWith(`${versions.get(id)} `));
        for (const key of old) pages.delete(key);
      }
    },
    usage: () => ({ pages: pages.size, bytes: pages.calculatedSize }),
  };
}
