/**
 * Pages that PHP has made, kept for everybody who asks the same, until they are old or something in them has changed.
 *
 * A page that PHP began before a change and ended after it may be of before: it is not kept. Nor is one of which PHP says at
 * its end that nobody else may have it. What is kept in memory is bounded in bytes; what was asked for longest ago goes.
 */
import { LRUCache } from "lru-cache";
import type { UpstreamResponse } from "../php/upstream.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { type CachedPage, keepPage } from "./cachedPage.ts";
import type { DiskPages } from "./diskPages.ts";
import { type Lifetime, lifetimeOf } from "./lifetime.ts";
import { type PageAsk, versionOf } from "./pageAsk.ts";
import { readTouched, type Touched } from "./touched.ts";

export interface PageCache {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From memory. Null where there is none that may be shown, not even as a last resort. */
  find(ask: PageAsk): CachedPage | null;
  /** The same from the disk, whence it comes into memory. */
  load(ask: PageAsk): Promise<CachedPage | null>;
  /** Whether pages at this address differ by language, as was seen last. */
  variesByLanguage(ask: PageAsk): boolean;
  /** PHP is being asked for the page. `end` must be called, whatever happened. */
  begin(ask: PageAsk): Keeping;
  /** Whether nobody makes the page anew already, and nobody has failed at it lately. */
  beginRefresh(ask: PageAsk): boolean;
  /** It may be tried again after so many milliseconds. */
  endRefresh(ask: PageAsk, pauseMilliseconds: number): void;
  /** Something is being written to the environment, until the returned function is called. */
  beginWrite(environmentId: string): () => void;
  /** Gives how many pages in memory are not kept any more. */
  purge(environmentId: string, touched: Touched): number;
  /** Only pages of these environments are kept from now on, and of each only those that are of it as it is now. */
  keep(environments: readonly EdgeEnvironment[]): void;
  readonly usage: () => PageCacheUsage;
}

export interface PageCacheUsage {
  readonly pages: number;
  readonly bytes: number;
}

/** A page that PHP is making, as whoever passes it on tells of it. */
export interface Keeping {
  begun(answer: Pick<UpstreamResponse, "status" | "headers" | "mayBeCached">): void;
  add(chunk: Buffer): void;
  /** All of it was there. */
  whole(): void;
  end(): void;
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
  /** Keys, and when it may be tried again. Infinity: it is being tried. */
  const refreshes = new Map<string, number>();
  const makings = new Set<Making>();
  const byLanguage = new Set<string>();
  const ofEnvironments = new Map<string, Map<string, CachedPage>>();
  const pages = new LRUCache<string, CachedPage>({
    maxSize: memoryBytes,
    maxEntrySize: Math.max(1, Math.floor(memoryBytes / 4)),
    sizeCalculation: ({ size }) => size,
    dispose: (page, key) => forget(page, key),
  });

  function forget({ ask: { environmentId } }: CachedPage, key: string): void {
    const own = ofEnvironments.get(environmentId);
    own?.delete(key);
    if (own?.size === 0) ofEnvironments.delete(environmentId);
  }

  function put(page: CachedPage): void {
    const { environmentId, key } = page.ask;
    pages.set(key, page);
    if (!pages.has(key)) return;
    const own = ofEnvironments.get(environmentId) ?? new Map<string, CachedPage>();
    ofEnvironments.set(environmentId, own.set(key, page));
  }

  function usable(page: CachedPage | null | undefined): CachedPage | null {
    if (page === null || page === undefined) return null;
    if (now() - page.madeAt < page.lifetime.lastResort) return page;
    remove(page.ask);
    return null;
  }

  function remove({ environmentId, key }: Pick<PageAsk, "environmentId" | "key">): void {
    pages.delete(key);
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
    if (page !== null) put(page);
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
            put(keepPage(page));
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
    beginRefresh({ key }) {
      const again = refreshes.get(key) ?? 0;
      if (now() < again) return false;
      refreshes.set(key, Infinity);
      return true;
    },
    endRefresh({ key }, pauseMilliseconds) {
      if (refreshes.size > rememberedKeys) refreshes.clear();
      if (pauseMilliseconds === 0) refreshes.delete(key);
      else refreshes.set(key, now() + pauseMilliseconds);
    },
    beginWrite: (environmentId) => disk?.beginWrite(environmentId) ?? (() => undefined),
    variesByLanguage: ({ key }) => byLanguage.has(key),
    begin,
    purge(environmentId, touched) {
      const isTouched = readTouched(touched);
      for (const making of makings) {
        if (making.ask.environmentId === environmentId && isTouched(making.ask.place)) making.isTouched = true;
      }
      const old = [...(ofEnvironments.get(environmentId) ?? [])].filter(([, { ask }]) => isTouched(ask.place));
      for (const [key] of old) pages.delete(key);
      disk?.purge(environmentId, isTouched);
      return old.length;
    },
    keep(environments) {
      const versions = new Map<string, string>();
      for (const environment of environments) {
        const version = versionOf(environment);
        if (version !== null) versions.set(environment.id, version);
      }
      for (const [id, own] of ofEnvironments) {
        const old = [...own.keys()].filter((key) => !key.startsWith(`${versions.get(id)} `));
        for (const key of old) pages.delete(key);
      }
      disk?.keep(versions);
    },
    usage: () => ({ pages: pages.size, bytes: pages.calculatedSize }),
  };
}

function isAskedInLanguage({ headers }: PageAsk): boolean {
  return headers["accept-language"] !== undefined;
}
