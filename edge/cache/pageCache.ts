/**
 * Pages that PHP has made, kept for everybody who asks the same, until they are old or something in them has changed.
 *
 * A page that PHP began before a change and ended after it may be of before: it is not kept. Nor is one of which PHP says at
 * its end that nobody else may have it. What is kept in memory is bounded in bytes; what was asked for longest ago goes.
 */
import type { Keeping } from "../php/keeping.ts";
import type { UpstreamResponse } from "../php/upstream.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { type CachedPage, keepPage } from "./cachedPage.ts";
import type { DiskPages } from "./diskPages.ts";
import { type Lifetime, lifetimeOf } from "./lifetime.ts";
import { createMemoryPages } from "./memoryPages.ts";
import { type PageAsk, versionOf } from "./pageAsk.ts";
import { createRefreshes } from "./refreshes.ts";
import { readTouched, type Touched } from "./touched.ts";

export interface PageCache {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From memory. Null if there is none that may be shown, not even as a last resort. */
  find(ask: PageAsk): CachedPage | null;
  /** The same from the disk, whence it comes into memory. */
  load(ask: PageAsk): Promise<CachedPage | null>;
  /** Whether pages at this address differ by language, as was seen last. */
  variesByLanguage(ask: PageAsk): boolean;
  /** PHP is being asked for the page. `end` must be called, whatever happened. */
  begin(ask: PageAsk): Keeping;
  /** True unless the page is being refreshed already, or a refresh failed recently. */
  beginRefresh(ask: PageAsk): boolean;
  /** It may be tried again after so many milliseconds. */
  endRefresh(ask: PageAsk, pauseMilliseconds: number): void;
  /** Something is being written to the environment, until the returned function is called. */
  beginWrite(environmentId: string): () => void;
  /** Returns how many pages in memory are not kept any more. */
  purge(environmentId: string, touched: Touched): number;
  /** Only pages of these environments are kept from now on, and of each only those that are of it as it is now. */
  keep(environments: readonly EdgeEnvironment[]): void;
  readonly usage: () => PageCacheUsage;
}

export interface PageCacheUsage {
  readonly pages: number;
  readonly bytes: number;
}

export interface PageCacheOptions {
  /** All pages together. */
  readonly memoryBytes: number;
  /** Null: pages are kept in memory only. */
  readonly disk: DiskPages | null;
  readonly now: () => number;
}

/** Longer pages are made each time. */
const pageBytes = 4 << 20;
/** So many keys are remembered; then all are forgotten. */
const rememberedKeys = 10_000;

interface Making {
  readonly ask: PageAsk;
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

  function remove({ environmentId, key }: Pick<PageAsk, "environmentId" | "key">): void {
    pages.remove(key);
    disk?.remove(environmentId, key);
  }

  /** A change that came while it was read has gone past it. */
  async function load(ask: PageAsk): Promise<CachedPage | null> {
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

  function begin(ask: PageAsk): Keeping {
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
          // There is no such page any more, or it is for one visitor only from now on.
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
          // Whatever has changed until now, PHP has said by now.
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

function isAskedInLanguage({ headers }: PageAsk): boolean {
  return headers["accept-language"] !== undefined;
}
