/**
 * Request coalescing: concurrent requests for the same page share one PHP response ("collapsed requests", RFC 9111,
 * section 4). A crowd at one URL then costs as much as one visitor.
 *
 * Nothing is stored: a page is shared only while PHP renders it. Visitors must see their own changes on the next page,
 * so no request joins a page that was started before a write ended. Once a response was private, requests with the same
 * key no longer wait for each other.
 */
import { type CacheKey, isForAll } from "./cacheKey.ts";
import type { UpstreamResponse } from "./upstream.ts";
import type { Writes } from "./writes.ts";

export interface SharedPage extends Pick<UpstreamResponse, "status" | "headers"> {
  readonly body: Buffer;
}

/**
 * The result for requests that waited for another one's page. `alone`: can't be shared, so each must run PHP itself.
 */
export type Outcome =
  | { readonly kind: "page"; readonly page: SharedPage }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "alone" };

/** Receives the page from the request that runs PHP. Always call `end`. */
export interface Making {
  begun(answer: Pick<UpstreamResponse, "status" | "headers">): void;
  /** The response was cut off. The next one may be too, so no request waits for this page again. */
  broken(): void;
  /** Returns whether the page is still shared. If so, PHP must not wait for the first client. */
  add(chunk: Buffer): boolean;
  whole(): void;
  failed(error: unknown): void;
  end(): void;
}

export interface Coalescing {
  /** The result of the page that is being rendered for this key, or null if the request must run PHP itself. */
  find(key: CacheKey): Promise<Outcome> | null;
  /** Starts a page that other requests may wait for. Null if it can't be shared. */
  begin(key: CacheKey): Making | null;
  /** Called when a write starts: no request joins a page that was started before. */
  separate(environmentId: string): void;
}

/** Longer pages are not shared. */
const pageBytes = 1 << 20;
/** Limit for the remembered keys of private pages. When it is reached, all are dropped. */
const rememberedKeys = 10_000;

const alone: Outcome = { kind: "alone" };

interface Awaited {
  readonly outcome: Promise<Outcome>;
  isAwaited: boolean;
}

/** No pages of an environment are shared while it is being written to. */
export function createCoalescing(writes: Pick<Writes, "isUnderWay">): Coalescing {
  const makings = new Map<string, Map<string, Awaited>>();
  const forOneOnly = new Set<string>();

  function remember({ text }: CacheKey): void {
    if (forOneOnly.size >= rememberedKeys) forOneOnly.clear();
    forOneOnly.add(text);
  }

  function forget({ environmentId, text }: CacheKey, made: Awaited): void {
    const own = makings.get(environmentId);
    // After a write, another page may have started with the same key.
    if (own?.get(text) !== made) return;
    own.delete(text);
    if (own.size === 0) makings.delete(environmentId);
  }

  function make(key: CacheKey): Making {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const made: Awaited = { outcome: promise, isAwaited: false };
    const own = makings.get(key.environmentId) ?? new Map<string, Awaited>();
    makings.set(key.environmentId, own.set(key.text, made));
    let head: Pick<UpstreamResponse, "status" | "headers"> | null = null;
    let chunks: Buffer[] = [];
    let bytes = 0;

    function settle(outcome: Outcome): void {
      forget(key, made);
      resolve(outcome);
      head = null;
      chunks = [];
    }

    function refuse(): void {
      if (made.isAwaited) remember(key);
      settle(alone);
    }

    return {
      begun(answer) {
        if (!isForAll(answer)) return refuse();
        forOneOnly.delete(key.text);
        head = { status: answer.status, headers: answer.headers };
      },
      add(chunk) {
        if (head === null) return false;
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > pageBytes) refuse();
        return bytes <= pageBytes;
      },
      whole() {
        if (head !== null) settle({ kind: "page", page: { ...head, body: Buffer.concat(chunks) } });
      },
      broken: refuse,
      failed: (error) => settle({ kind: "failed", error }),
      end: () => settle(alone),
    };
  }

  return {
    find: ({ environmentId, text }) => {
      const made = forOneOnly.has(text) ? undefined : makings.get(environmentId)?.get(text);
      if (made === undefined) return null;
      made.isAwaited = true;
      return made.outcome;
    },
    begin: (key) => (writes.isUnderWay(key.environmentId) ? null : make(key)),
    separate: (environmentId) => {
      makings.delete(environmentId);
    },
  };
}
