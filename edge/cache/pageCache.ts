/**
 * The page cache: public pages rendered by PHP, served to everyone who asks for the same page until they expire or are
 * purged.
 *
 * A page is not cached if it was purged while PHP was rendering it, because it may show the old content, or if PHP
 * reports at its end that it is private. Memory and disk are limited in bytes and shared fairly (`edge/shares/cacheShares.ts`).
 */
import type { PageRecorder } from "../php/pageRecorder.ts";
import type { UpstreamResponse } from "../php/upstream.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { type PageRequest, versionOf } from "../visit/pageRequest.ts";
import { createCacheableAddresses } from "./cacheableAddresses.ts";
import { type CachedPage, toCachedPage } from "./cachedPage.ts";
import type { DiskPages } from "./diskPages.ts";
import { type Lifetime, lifetimeOf } from "./lifetime.ts";
import { createMemoryPages } from "./memoryPages.ts";
import { type PurgeScope, pageUrlsOf, readPurgeScope } from "./purgeScope.ts";
import { createRefreshes } from "./refreshes.ts";
import { joinTags } from "./tags.ts";

export interface PageCache {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Finds a page in memory. Null if there is none that may be served, not even if PHP fails. */
  find(request: PageRequest): CachedPage | null;
  /** Loads a page from disk into memory. Null as in `find`. */
  load(request: PageRequest): Promise<CachedPage | null>;
  /** Whether the page was last seen to vary by language. */
  variesByLanguage(request: PageRequest): boolean;
  /** Whether a response to a neutral request can be cached, judged by its head. */
  mayCache(request: PageRequest, answer: Pick<UpstreamResponse, "status" | "headers">): boolean;
  /** Whether the last response at this address could be cached. */
  isCacheable(request: PageRequest): boolean;
  /** Starts recording a page that PHP is about to render. Always call `end` on the result. */
  record(request: PageRequest): PageRecorder;
  /** Like `record`, but only notes whether the page can be cached: it was rendered for one visitor. */
  observe(request: PageRequest): PageRecorder;
  /** True unless the page is being refreshed already, or a refresh failed recently. */
  beginRefresh(request: PageRequest): boolean;
  /** Ends a refresh. The next one may start after the pause. */
  endRefresh(request: PageRequest, pauseMilliseconds: number): void;
  /** Marks a write to the environment that lasts until the returned function is called. */
  beginWrite(environmentId: string): () => void;
  /** Clears pages. Returns how many were in memory. */
  purge(environmentId: string, scope: PurgeScope): number;
  /** Removes pages of other environments and pages of older versions of these. */
  retain(environments: readonly EdgeEnvironment[], payers: ReadonlyMap<string, string>): void;
  readonly usage: () => PageCacheUsage;
}

export interface PageCacheUsage {
  readonly pages: number;
  readonly bytes: number;
}

interface PageCacheOptions {
  /** Maximum for all pages together. */
  readonly memoryBytes: number;
  /** Null: memory only. */
  readonly disk: DiskPages | null;
  readonly now: () => number;
}

/** Longer pages are not cached. */
const maxPageBytes = 4 << 20;
/** Limit for the remembered keys. When it is reached, all are dropped. */
const maxLanguageKeys = 10_000;

interface PendingPage {
  readonly request: PageRequest;
  isPurged: boolean;
}

export function createPageCache({ memoryBytes, disk, now }: PageCacheOptions): PageCache {
  const refreshes = createRefreshes(now);
  const pendingPages = new Set<PendingPage>();
  const languageKeys = new Set<string>();
  const cacheable = createCacheableAddresses();
  // Memory keeps popular pages from being loaded from disk again, so the disk is told.
  const pages = createMemoryPages(memoryBytes, ({ environmentId, key }) => disk?.touch(environmentId, key));

  function usable(page: CachedPage | null | undefined): CachedPage | null {
    if (page === null || page === undefined) return null;
    if (now() - page.madeAt < page.lifetime.lastResort) return page;
    remove(page.request);
    return null;
  }

  function remove({ environmentId, key }: Pick<PageRequest, "environmentId" | "key">): void {
    pages.remove(key);
    disk?.remove(environmentId, key);
  }

  /** Ignores the file if the page was purged while it was read. */
  async function load(request: PageRequest): Promise<CachedPage | null> {
    if (disk === null) return null;
    const pending: PendingPage = { request, isPurged: false };
    pendingPages.add(pending);
    const loaded = await disk.get(request.environmentId, request.key);
    pendingPages.delete(pending);
    const newer = pages.get(request.key);
    if (newer !== undefined || loaded === null || pending.isPurged) return usable(newer);
    const page = usable(toCachedPage(loaded));
    if (page === null) return null;
    pages.put(page);
    cacheable.add(request);
    return page;
  }

  function markLanguageDependent(key: string): void {
    if (languageKeys.size >= maxLanguageKeys) languageKeys.clear();
    languageKeys.add(key);
  }

  /** Notes whether pages at this address can be cached. Called like a recorder. */
  function observe(request: PageRequest) {
    let bytes = 0;
    let isPublic: Promise<boolean> = Promise.resolve(true);
    return {
      /** Returns the page's lifetime in the cache, or null if it can't be cached. */
      start(answer: Parameters<PageRecorder["start"]>[0]): Lifetime | null {
        const lifetime = lifetimeOf(answer, now());
        if (lifetime === null) {
          // Errors may pass.
          if (answer.status < 500) cacheable.remove(request);
          return null;
        }
        cacheable.add(request);
        isPublic = answer.isCacheable;
        if (!lifetime.variesByLanguage || hasLanguage(request)) return lifetime;
        markLanguageDependent(request.key);
        return null;
      },
      /** Returns whether the page is short enough. */
      add(chunk: Buffer): boolean {
        bytes += chunk.length;
        if (bytes > maxPageBytes) cacheable.remove(request);
        return bytes <= maxPageBytes;
      },
      complete(): void {
        void isPublic.then((is) => is || cacheable.remove(request));
      },
      end: () => undefined,
    };
  }

  function record(request: PageRequest): PageRecorder {
    const pending: PendingPage = { request, isPurged: false };
    pendingPages.add(pending);
    const madeAt = now();
    const observer = observe(request);
    let head: (Pick<UpstreamResponse, "headers" | "isCacheable" | "tags"> & { readonly lifetime: Lifetime }) | null =
      null;
    let chunks: Buffer[] = [];
    let isComplete = false;

    function drop(): void {
      pendingPages.delete(pending);
      head = null;
      chunks = [];
    }

    return {
      start(answer) {
        const lifetime = observer.start(answer);
        if (lifetime !== null) {
          head = { headers: answer.headers, isCacheable: answer.isCacheable, tags: answer.tags, lifetime };
          return;
        }
        // The page no longer exists or has become private.
        if (answer.status < 500) remove(request);
        drop();
      },
      add(chunk) {
        if (head === null) return;
        chunks.push(chunk);
        if (!observer.add(chunk)) drop();
      },
      complete() {
        if (head === null) return;
        isComplete = true;
        observer.complete();
        const { headers, isCacheable, tags, lifetime } = head;
        const rendered = { request, headers, body: Buffer.concat(chunks), madeAt, lifetime };
        void Promise.all([isCacheable, tags]).then(([isPublic, shown]) => {
          // PHP has reported all its changes by now.
          if (isPublic && !pending.isPurged) {
            const page = { ...rendered, tags: joinTags(shown) };
            pages.put(toCachedPage(page));
            disk?.put(page);
          }
          drop();
        });
      },
      end() {
        if (!isComplete) drop();
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
    variesByLanguage: ({ key }) => languageKeys.has(key),
    mayCache(request, answer) {
      const lifetime = lifetimeOf(answer, now());
      return lifetime !== null && (!lifetime.variesByLanguage || hasLanguage(request));
    },
    isCacheable: cacheable.has,
    record,
    observe,
    purge(environmentId, scope) {
      const isPurged = readPurgeScope(scope);
      for (const pending of pendingPages) {
        const { environmentId: id, address } = pending.request;
        if (id === environmentId && isPurged({ address, tags: null })) pending.isPurged = true;
      }
      // A change that names pages says that they exist, so new ones need not be tried out with a visitor's own request.
      for (const url of pageUrlsOf(scope)) cacheable.add({ environmentId, url });
      disk?.purge(environmentId, isPurged);
      return pages.purge(environmentId, isPurged);
    },
    retain(environments, payers) {
      pages.setPayers(payers);
      disk?.setPayers(payers);
      const versions = new Map<string, string>();
      for (const environment of environments) {
        const version = versionOf(environment);
        if (version !== null) versions.set(environment.id, version);
      }
      cacheable.retain(versions.keys());
      pages.retain(versions);
      disk?.retain(versions);
    },
    usage: pages.usage,
  };
}

function hasLanguage({ headers }: PageRequest): boolean {
  return headers["accept-language"] !== undefined;
}
