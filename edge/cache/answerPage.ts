/**
 * Answers page requests from the cache, and lets PHP render pages that are missing or too old.
 *
 * A stale page is served at once and refreshed in the background by one request. A page so old that its forms would no
 * longer work is rendered while the visitor waits; the old one is then served only if PHP fails.
 */

import { withoutSecrets } from "../logs/masks.ts";
import { answerShared, askForRead, discard, type PhpOutcome, type PhpParts, renderPage } from "../php/answerWithPhp.ts";
import type { CacheKey } from "../php/cacheKey.ts";
import type { SharedRender } from "../php/coalescing.ts";
import { logPhpFailure } from "../php/failureLog.ts";
import type { Script } from "../php/script.ts";
import { type PageRequest, withLanguage } from "../visit/pageRequest.ts";
import type { Visit } from "../visit/visit.ts";
import type { CachedPage } from "./cachedPage.ts";
import type { PageCache } from "./pageCache.ts";
import { readPageRequest } from "./readPageRequest.ts";
import { sendCachedPage } from "./sendCachedPage.ts";

interface PageParts extends PhpParts {
  readonly pageCache: PageCache;
}

/** After this time the disk is checked again for a new file at the page's URL. */
const recheckMilliseconds = 1_000;

/** The page that a visit asks for, or null if the response may be private. */
export function pageRequestOf(
  visit: Omit<Visit, "pageRequest">,
  cache: Pick<PageCache, "variesByLanguage">,
): PageRequest | null {
  const pageRequest = readPageRequest(visit);
  if (pageRequest === null || !cache.variesByLanguage(pageRequest)) return pageRequest;
  return withLanguage(pageRequest, visit.request.headers["accept-language"]);
}

/** Sends a fresh page from memory without checking the disk. False if there is none. */
export function sendFreshPage(
  { pageRequest, request, response }: Visit,
  { pageCache }: Pick<PageParts, "pageCache">,
): boolean {
  if (pageRequest === null) return false;
  const page = pageCache.find(pageRequest);
  const now = pageCache.now();
  if (page === null || ageOf(page, now) >= page.lifetime.fresh) return false;
  if (Math.abs(now - page.resolvedAt) >= recheckMilliseconds) return false;
  sendCachedPage(request, response, page, { state: "HIT", now });
  return true;
}

/** Answers a request whose URL leads to WordPress. */
export async function answerPageRequest(
  visit: Visit,
  pageRequest: PageRequest,
  script: Script,
  parts: PageParts,
): Promise<PhpOutcome> {
  const { pageCache } = parts;
  const page = pageCache.find(pageRequest) ?? (await pageCache.load(pageRequest));
  const now = pageCache.now();
  if (page !== null && ageOf(page, now) < page.lifetime.stale) {
    page.resolvedAt = now;
    const isFresh = ageOf(page, now) < page.lifetime.fresh;
    sendCachedPage(visit.request, visit.response, page, { state: isFresh ? "HIT" : "STALE", now });
    if (!isFresh) void refresh(visit, pageRequest, script, parts);
    return "answered";
  }
  return answerShared(visit, cacheKeyFor(pageRequest), parts, (shared) =>
    page !== null || pageCache.isCacheable(pageRequest)
      ? renderPageForCache(visit, pageRequest, script, parts, { shared, stale: page })
      : renderForVisitor(visit, pageRequest, script, parts, shared),
  );
}

function ageOf({ madeAt }: CachedPage, now: number): number {
  // `abs`: after the clock was set back, a page must not stay fresh for longer.
  return Math.abs(now - madeAt);
}

function cacheKeyFor({ environmentId, key }: PageRequest): CacheKey {
  return { environmentId, text: key };
}

/**
 * Renders a page from the visitor's own request. Others wait only until it is known whether the page can be cached: the next
 * one then renders it for all, or each gets their own.
 */
async function renderForVisitor(
  visit: Visit,
  pageRequest: PageRequest,
  script: Script,
  parts: PageParts,
  shared: SharedRender | null,
): Promise<PhpOutcome> {
  const { pageCache } = parts;
  const recorder = pageCache.observe(pageRequest);
  const verdict = shared && {
    ...shared,
    start: () => (pageCache.isCacheable(pageRequest) ? shared.end() : shared.abort()),
    add: () => false,
    complete: () => undefined,
  };
  const listeners = { recorder, ...(verdict === null ? {} : { shared: verdict }) };
  return renderPage(visit, () => askForRead(visit, script, parts), parts, listeners);
}

async function renderPageForCache(
  visit: Visit,
  pageRequest: PageRequest,
  script: Script,
  parts: PageParts,
  { shared, stale }: { readonly shared: SharedRender | null; readonly stale: CachedPage | null },
): Promise<PhpOutcome> {
  const { request, response } = visit;
  const { pageCache } = parts;
  const recorder = pageCache.record(pageRequest);
  const fallback = () => {
    if (stale !== null) sendCachedPage(request, response, stale, { state: "STALE", now: pageCache.now() });
  };
  const ifStale = stale === null ? {} : { fallback };
  const listeners = { recorder, ...(shared === null ? {} : { shared }), ...ifStale };
  try {
    const asked = askForRead(visit, { ...script, page: pageRequest }, parts);
    const refused = await asked.then(
      (answer) => (answer.status < 500 && !pageCache.mayCache(pageRequest, answer) ? answer : null),
      () => null,
    );
    if (refused === null) return await renderPage(visit, () => asked, parts, listeners);
    recorder.start(refused);
    recorder.end();
    shared?.abort();
    discard(refused.body);
    await refused.finished;
    if (visit.response.destroyed) return "answered";
    // This response depends on the visitor's request, so it is neither recorded nor shared.
    return await renderPage(visit, () => askForRead(visit, script, parts), parts, ifStale);
  } finally {
    recorder.end();
  }
}

/** Pause before the next attempt when a refresh has failed. */
const retryMilliseconds = 10_000;

/** Refreshes a page in the background unless that is already running. */
async function refresh({ route, address, https }: Visit, pageRequest: PageRequest, script: Script, parts: PageParts) {
  const { pageCache, upstream, writes } = parts;
  if (!pageCache.beginRefresh(pageRequest)) return;
  const id = route.environment.id;
  const aborted = new AbortController();
  const read = writes.read(id, () => aborted.abort());
  const recorder = pageCache.record(pageRequest);
  let hasFailed = true;
  try {
    if (read.isFrozen) return;
    const answer = await upstream.handle(id, {
      method: "GET",
      url: pageRequest.url,
      headers: pageRequest.headers,
      body: null,
      script: script.script,
      pathInfo: script.pathInfo,
      remoteAddress: address,
      https,
      fromPhp: false,
      signal: aborted.signal,
      isReadOnly: false,
    });
    void answer.finished.then(read.end);
    recorder.start(answer);
    for await (const chunk of answer.body) recorder.add(chunk);
    recorder.complete();
    hasFailed = answer.status >= 500;
  } catch (error) {
    logPhpFailure(id, `GET ${withoutSecrets(pageRequest.url)}, to refresh a cached page`, error, parts);
  } finally {
    read.end();
    recorder.end();
    pageCache.endRefresh(pageRequest, hasFailed ? retryMilliseconds : 0);
  }
}
