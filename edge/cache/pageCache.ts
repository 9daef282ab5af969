/**
 * The page cache: public pages rendered by PHP, served to everyone who asks for the same page until they expire or are
 * purged.
 *
 * A page is not cached if it was purged while PHP was rendering it, because it may show the old content, or if PHP
 * reports at its end that it is private. Memory is limited in bytes; the least recently used pages are removed.
 */
import type { Keeping } from "../php/keeping.ts";
import type { UpstreamResponse } from "../php/upstream.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { type CachedPage, keepPage } from "./cachedPage.ts";
import type { DiskPages } from "./diskPages.ts";
import { type Lifetime, lifetimeOf } from "./lifetime.ts";
import { createMemoryPages } from "./memoryPages.ts";
import { type PageRequest, versionOf } from "./pageAsk.ts";
import { createRefreshes } from "./refreshes.ts";
import { readTouched, type Touched } from "./touched.ts";

export interface PageCache {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Finds a page in memory. Null if there is none that may be served, not even if PHP fails. */
  find(ask: PageRequest): CachedPage | null;
  /** Loads a page from disk into memory. Null as in `find`. */
  load(ask: PageRequest): Promise<CachedPage | null>;
  /** Whether the page was last seen to vary by language. */
  variesByLanguage(ask: PageRequest): boolean;
  /** Starts recording a page that PHP is about to render. Always call `end` on the result. */
  begin(ask: PageRequest): Keeping;
  /** True unless the page is being refreshed already, or a refresh failed recently. */
  beginRefresh(ask: PageRequest): boolean;
  /** Ends a refresh. The next one may start after the pause. */
  endRefresh(ask: PageRequest, pauseMilliseconds: number): void;
  /** Marks a write to the environment that lasts until the returned function is called. */
  beginWrite(environmentId: string): () => void;
  /** Clears pages. Returns how many were in memory. */
  purge(environmentId: string, touched: Touched): number;
  /** Removes pages of other environments and pages of older versions of these. */
  keep(environments: readonly EdgeEnvironment[]): void;
  readonly usage: () => PageCacheUsage;
}

export interface PageCacheUsage {
  readonly pages: number;
  readonly bytes: number;
}

export interface PageCacheOptions {
  /** Maximum for all pages together. */
  readonly memoryBytes: number;
  /** Null: memory only. */
  readonly disk: DiskPages | null;
  readonly now: () => number;
}

/** Longer pages are not cached. */
const pageBytes = 4 << 20;
/** Limit for the remembered keys. When it is reached, all are dropped. */
const rememberedKeys = 10_000;

interface Making {
  readonly ask: PageRequest;
  isTouched: boolean;
}

export function createPageCache({ memoryBytes, disk, now }: PageCacheOptions): PageCache {
  const refreshes = createRefreshes(now);
  const makings = new Set<Making>();
  const byLanguage = new Set<string>();
  const pages = createMemoryPages(memoryBytes);

  function usable(page: CachedPage | null | undefined): CachedPage | null {
    if (page === null || page === undefined) return null;
    if (now() - page.madeAt < page.lifetime.lastResort) return page;
    remove(page.ask);
    return null;
  }

  function remove({ environmentId, key }: Pick<PageRequest, "environmentId" | "key">): void {
    pages.remove(key);
    disk?.remove(environmentId, key);
  }

  /** Ignores the file if the page was purged while it was read. */
  async function load(ask: PageRequest): Promise<CachedPage | null> {
    if (disk === null) return null;
    const making: Making = { ask, isTouched: false };
    makings.add(making);
    const made = await disk.get(ask.environmentId, ask.key);
    makings.delete(making);
    const newer = pages.get(ask.key);
    if (newer !== undefined || made === null || making.isTouched) return usable(newer);
    const page = usable(keepPage(made));
    if (page !== null) pages.put(page);
    return page;
  }

  function remember(key: string): void {
    if (byLanguage.size >= rememberedKeys) byLanguage.clear();
    byLanguage.add(key);
  }

  function begin(ask: PageRequest): Keeping {
    const making: Making = { ask, isTouched: false };
    makings.add(making);
    const madeAt = now();
    let head: (Pick<UpstreamResponse, "headers" | "mayBeCached"> & { readonly lifetime: Lifetime }) | null = null;
    let chunks: Buffer[] = [];
    let bytes = 0;
    let isKeeping = false;

    function drop(): void {
      makings.delete(making);
      head = null;
      chunks = [];
    }

    return {
      begun(answer) {
        const lifetime = lifetimeOf(answer, madeAt);
        if (lifetime === null) {
          // The page no longer exists or has become private.
          if (answer.status < 500) remove(ask);
          return drop();
        }
        if (lifetime.variesByLanguage && !isAskedInLanguage(ask)) {
          remember(ask.key);
          return drop();
        }
        head = { headers: answer.headers, mayBeCached: answer.mayBeCached, lifetime };
      },
      add(chunk) {
        if (head === null) return;
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > pageBytes) drop();
      },
      whole() {
        if (head === null) return;
        isKeeping = true;
        const { headers, mayBeCached, lifetime } = head;
        const page = { ask, headers, body: Buffer.concat(chunks), madeAt, lifetime };
        void mayBeCached.then((mayBe) => {
          // PHP has reported all its changes by now.
          if (mayBe && !making.isTouched) {
            pages.put(keepPage(page));
            disk?.put(page);
          }
          drop();
        });
      },
      end() {
        if (!isKeeping) drop();
      },
    };
  }

  return {
    now,
    find: ({ key }) => usable(pages.get(key)),
    load,
    beginRefresh: ({ key }) => refreshes.begin(key),
    endRefresh: ({ key }, pauseMilliseconds) => refreshes.end(key, pauseMilliseconds),
    beginWrite: (environmentId) => disk?.beginWrite(environmentId) ?? (() => undefined),
    variesByLanguage: ({ key }) => byLanguage.has(key),
    begin,
    purge(environmentId, touched) {
      const isTouched = readTouched(touched);
      for (const making of makings) {
        if (making.ask.environmentId === environmentId && isTouched(making.ask.place)) making.isTouched = true;
      }
      disk?.purge(environmentId, isTouched);
      return pages.removeAt(environmentId, isTouched);
    },
    keep(environments) {
      const versions = new Map<string, string>();
      for (const environment of environments) {
        const version = versionOf(environment);
        if (version !== null) versions.set(environment.id, version);
      }
      pages.keep(versions);
      disk?.keep(versions);
    },
    usage: pages.usage,
  };
}

function isAskedInLanguage({ headers }: PageRequest): boolean {
  return headers["accept-language"] !== undefined;
}
