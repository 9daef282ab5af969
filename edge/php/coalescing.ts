/**
 * Where several ask the same of PHP at the same time, the page is made once and all of them get it: "collapsed
 * requests" (RFC 9111, section 4). A crowd at one address then costs what one visitor costs.
 *
 * Nothing is kept: a page is shared from when the first asks until its last byte is there. Whoever has written
 * something must find it in the next page that they ask for, so nobody joins a page that was begun before a write
 * ended. And where an answer turned out to be for one visitor only, others don't wait for such a page again.
 */
import { type CacheKey, isForAll } from "./cacheKey.ts";
import type { UpstreamResponse } from "./upstream.ts";
import type { Writes } from "./writes.ts";

export interface SharedPage extends Pick<UpstreamResponse, "status" | "headers"> {
  readonly body: Buffer;
}

/** The outcome for requests that waited for another one's page. Alone: unknown, so each asks for itself. */
export type Outcome =
  | { readonly kind: "page"; readonly page: SharedPage }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "alone" };

/** A page in the making, reported by the request that asked first. `end` must be called in any case. */
export interface Making {
  begun(answer: Pick<UpstreamResponse, "status" | "headers">): void;
  /** There is an answer, and it broke off: the next one may, too, so no request waits for it. */
  broken(): void;
  /** Whether this and all before it is kept for others: PHP must not wait for the first client. */
  add(chunk: Buffer): boolean;
  whole(): void;
  failed(error: unknown): void;
  end(): void;
}

export interface Coalescing {
  /** A page that is being made as an answer to just this; null if the request must run PHP itself. */
  find(key: CacheKey): Promise<Outcome> | null;
  /** Others may wait for the page from now on. Null if they may not. */
  begin(key: CacheKey): Making | null;
  /** A write begins: no request joins a page that was begun before. */
  separate(environmentId: string): void;
}

/** A longer page is passed on, and not kept for others. */
const pageBytes = 1 << 20;
/** So many questions are remembered as none to wait for; then all are forgotten. */
const rememberedKeys = 10_000;

const alone: Outcome = { kind: "alone" };

interface Awaited {
  readonly outcome: Promise<Outcome>;
  isAwaited: boolean;
}

/** While something is being written to an environment, no page of it is shared. */
export function createCoalescing(writes: Pick<Writes, "isUnderWay">): Coalescing {
  const makings = new Map<string, Map<string, Awaited>>();
  const forOneOnly = new Set<string>();

  function remember({ text }: CacheKey): void {
    if (forOneOnly.size >= rememberedKeys) forOneOnly.clear();
    forOneOnly.add(text);
  }

  function forget({ environmentId, text }: CacheKey, made: Awaited): void {
    const own = makings.get(environmentId);
    // Another one may have begun since a write.
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
