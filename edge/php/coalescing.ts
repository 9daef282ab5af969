/**
 * Request coalescing: concurrent requests for the same page share one PHP response ("collapsed requests", RFC 9111,
 * section 4). A crowd at one URL then costs as much as one visitor.
 *
 * Nothing is stored: a page is shared only while PHP renders it. Visitors must see their own changes on the next page,
 * so no request joins a page that was started before a write ended. Once a response was private, requests with the same
 * key no longer wait for each other.
 */
import { type CacheKey, isShareable } from "./cacheKey.ts";
import type { UpstreamResponse } from "./upstream.ts";
import type { Writes } from "./writes.ts";

export interface SharedPage extends Pick<UpstreamResponse, "status" | "headers"> {
  readonly body: Buffer;
}

/**
 * The result for requests that waited for another one's page. `notShared`: can't be shared, so each must run PHP
 * itself.
 */
export type SharedOutcome =
  | { readonly kind: "page"; readonly page: SharedPage }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "notShared" };

/** Receives the page from the request that runs PHP. Always call `end`. */
export interface SharedRender {
  start(answer: Pick<UpstreamResponse, "status" | "headers">): void;
  /** The response was cut off. The next one may be too, so no request waits for this page again. */
  abort(): void;
  /** Returns whether the page is still shared. If so, PHP must not wait for the first client. */
  add(chunk: Buffer): boolean;
  complete(): void;
  fail(error: unknown): void;
  end(): void;
}

export interface Coalescing {
  /** The result of the page that is being rendered for this key, or null if the request must run PHP itself. */
  find(key: CacheKey): Promise<SharedOutcome> | null;
  /** Starts a page that other requests may wait for. Null if it can't be shared. */
  begin(key: CacheKey): SharedRender | null;
  /** Called when a write starts: no request joins a page that was started before. */
  stopSharing(environmentId: string): void;
}

/** Longer pages are not shared. */
const maxPageBytes = 1 << 20;
/** Limit for the remembered keys of private pages. When it is reached, all are dropped. */
const maxPrivateKeys = 10_000;

const notShared: SharedOutcome = { kind: "notShared" };

interface PendingRender {
  readonly outcome: Promise<SharedOutcome>;
  isAwaited: boolean;
}

/** No pages of an environment are shared while it is being written to. */
export function createCoalescing(writes: Pick<Writes, "isWriting">): Coalescing {
  const renders = new Map<string, Map<string, PendingRender>>();
  const privateKeys = new Set<string>();

  function markPrivate({ text }: CacheKey): void {
    if (privateKeys.size >= maxPrivateKeys) privateKeys.clear();
    privateKeys.add(text);
  }

  function forget({ environmentId, text }: CacheKey, render: PendingRender): void {
    const ofEnvironment = renders.get(environmentId);
    // After a write, another page may have started with the same key.
    if (ofEnvironment?.get(text) !== render) return;
    ofEnvironment.delete(text);
    if (ofEnvironment.size === 0) renders.delete(environmentId);
  }

  function start(key: CacheKey): SharedRender {
    const { promise, resolve } = Promise.withResolvers<SharedOutcome>();
    const render: PendingRender = { outcome: promise, isAwaited: false };
    const ofEnvironment = renders.get(key.environmentId) ?? new Map<string, PendingRender>();
    renders.set(key.environmentId, ofEnvironment.set(key.text, render));
    let head: Pick<UpstreamResponse, "status" | "headers"> | null = null;
    let chunks: Buffer[] = [];
    let bytes = 0;

    function settle(outcome: SharedOutcome): void {
      forget(key, render);
      resolve(outcome);
      head = null;
      chunks = [];
    }

    function refuse(): void {
      if (render.isAwaited) markPrivate(key);
      settle(notShared);
    }

    return {
      start(answer) {
        if (!isShareable(answer)) return refuse();
        privateKeys.delete(key.text);
        head = { status: answer.status, headers: answer.headers };
      },
      add(chunk) {
        if (head === null) return false;
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > maxPageBytes) refuse();
        return bytes <= maxPageBytes;
      },
      complete() {
        if (head !== null) settle({ kind: "page", page: { ...head, body: Buffer.concat(chunks) } });
      },
      abort: refuse,
      fail: (error) => settle({ kind: "failed", error }),
      end: () => settle(notShared),
    };
  }

  return {
    find: ({ environmentId, text }) => {
      const render = privateKeys.has(text) ? undefined : renders.get(environmentId)?.get(text);
      if (render === undefined) return null;
      render.isAwaited = true;
      return render.outcome;
    },
    begin: (key) => (writes.isWriting(key.environmentId) ? null : start(key)),
    stopSharing: (environmentId) => {
      renders.delete(environmentId);
    },
  };
}
