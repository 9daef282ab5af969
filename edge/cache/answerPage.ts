/**
 * Answers page requests from the cache, and lets PHP render pages that are missing or too old.
 *
 * A stale page is served at once and refreshed in the background by one request. A page so old that its forms would no
 * longer work is rendered while the visitor waits; the old one is then served only if PHP fails.
 */

import { noteUnanswered } from "../answered.ts";
import { addressOf } from "../http/address.ts";
import { withoutSecrets } from "../logs/masks.ts";
import type { CacheKey } from "../php/cacheKey.ts";
import type { Making } from "../php/coalescing.ts";
import { answerOnce, askToRead, havePageMade, type PhpOutcome, type PhpParts } from "../php/php.ts";
import type { Script } from "../php/script.ts";
import type { Visit } from "../visit.ts";
import { pageAskOf } from "./askForPage.ts";
import type { CachedPage } from "./cachedPage.ts";
import { inLanguage, type PageRequest } from "./pageAsk.ts";
import type { PageCache } from "./pageCache.ts";
import { sendCachedPage } from "./sendCachedPage.ts";

export interface PageParts extends PhpParts {
  readonly pageCache: PageCache;
}

/** After this time the disk is checked again for a new file at the page's URL. */
const resolvedMilliseconds = 1_000;

/** The page that a visit asks for, or null if the response may be private. */
export function pageOf(visit: Omit<Visit, "page">, cache: Pick<PageCache, "variesByLanguage">): PageRequest | null {
  const ask = pageAskOf(visit);
  if (ask === null || !cache.variesByLanguage(ask)) return ask;
  return inLanguage(ask, visit.request.headers["accept-language"]);
}

/** Sends a fresh page from memory without checking the disk. False if there is none. */
export function answerAtOnce({ page, request, response }: Visit, { pageCache }: Pick<PageParts, "pageCache">): boolean {
  if (page === null) return false;
  const kept = pageCache.find(page);
  const now = pageCache.now();
  if (kept === null || ageOf(kept, now) >= kept.lifetime.fresh) return false;
  if (Math.abs(now - kept.resolvedAt) >= resolvedMilliseconds) return false;
  sendCachedPage(request, response, kept, { state: "HIT", now });
  return true;
}

/** Answers a request whose URL leads to WordPress. */
export async function answerWithPage(
  visit: Visit,
  ask: PageRequest,
  script: Script,
  parts: PageParts,
): Promise<PhpOutcome> {
  const { pageCache } = parts;
  const kept = pageCache.find(ask) ?? (await pageCache.load(ask));
  const now = pageCache.now();
  if (kept !== null && ageOf(kept, now) < kept.lifetime.stale) {
    kept.resolvedAt = now;
    const isFresh = ageOf(kept, now) < kept.lifetime.fresh;
    sendCachedPage(visit.request, visit.response, kept, { state: isFresh ? "HIT" : "STALE", now });
    if (!isFresh) void refresh(visit, ask, script, parts);
    return "answered";
  }
  return answerOnce(visit, cacheKeyFor(ask), parts, (making) =>
    haveItMade(visit, ask, script, parts, { making, kept }),
  );
}

function ageOf({ madeAt }: CachedPage, now: number): number {
  // `abs`: after the clock was set back, a page must not stay fresh for longer.
  return Math.abs(now - madeAt);
}

function cacheKeyFor({ environmentId, key }: PageRequest): CacheKey {
  return { environmentId, text: key };
}

async function haveItMade(
  visit: Visit,
  ask: PageRequest,
  script: Script,
  parts: PageParts,
  { making, kept }: { readonly making: Making | null; readonly kept: CachedPage | null },
): Promise<PhpOutcome> {
  const { request, response } = visit;
  const keeping = parts.pageCache.begin(ask);
  const lastResort = () => {
    if (kept !== null) sendCachedPage(request, response, kept, { state: "STALE", now: parts.pageCache.now() });
  };
  const listeners = { keeping, ...(making === null ? {} : { making }), ...(kept === null ? {} : { lastResort }) };
  try {
    return await havePageMade(visit, () => askToRead(visit, { ...script, page: ask }, parts), parts, listeners);
  } finally {
    keeping.end();
  }
}

/** Pause before the next attempt when a refresh has failed. */
const pauseMilliseconds = 10_000;

/** Refreshes a page in the background unless that is already running. */
async function refresh({ request, route, fromPhp, https }: Visit, ask: PageRequest, script: Script, parts: PageParts) {
  const { pageCache, upstream, writes } = parts;
  if (!pageCache.beginRefresh(ask)) return;
  const id = route.environment.id;
  const gone = new AbortController();
  const reading = writes.read(id, () => gone.abort());
  const keeping = pageCache.begin(ask);
  let hasFailed = true;
  try {
    if (reading.isFrozen) return;
    const answer = await upstream.handle(id, {
      method: "GET",
      url: ask.url,
      headers: ask.headers,
      body: null,
      script: script.script,
      pathInfo: script.pathInfo,
      remoteAddress: addressOf({ socket: request.socket, fromPhp }),
      https,
      fromPhp: false,
      signal: gone.signal,
      isReadOnly: false,
    });
    void answer.finished.then(reading.end);
    keeping.begun(answer);
    for await (const chunk of answer.body) keeping.add(chunk);
    keeping.whole();
    hasFailed = answer.status >= 500;
  } catch (error) {
    noteUnanswered(id, `GET ${withoutSecrets(ask.url)}, to refresh a cached page`, error, parts);
  } finally {
    reading.end();
    keeping.end();
    pageCache.endRefresh(ask, hasFailed ? pauseMilliseconds : 0);
  }
}
