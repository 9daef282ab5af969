/** Sends a cached page. */
import { chooseEncoding } from "../http/encodings.ts";
import { withoutContentHeaders } from "../http/headers.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { type CachedPage, pageEncodings } from "./cachedPage.ts";

/** The value of `X-Cache`. STALE: expired, and sent because it is being refreshed or PHP failed. */
type CacheState = "HIT" | "STALE" | "MISS" | "BYPASS";

export function sendCachedPage(
  { method, headers }: Pick<VisitorRequest, "method" | "headers">,
  response: VisitorResponse,
  page: CachedPage,
  { state, now }: { readonly state: CacheState; readonly now: number },
): void {
  response.source = "hit";
  const encoded = page.inEncoding(chooseEncoding(headers["accept-encoding"], pageEncodings));
  const seconds = Math.max(0, Math.floor((now - page.madeAt) / 1000));
  const cacheHeaders = ["X-Cache", state, "Age", String(seconds)];
  if (isCurrent(headers["if-none-match"], encoded.etag)) {
    response.writeHead(304, [...cacheHeaders, ...withoutContentHeaders(encoded.head)]).end();
    return;
  }
  response.writeHead(200, [...cacheHeaders, ...encoded.head]);
  response.end(method === "HEAD" ? undefined : encoded.body);
}

/** Whether the visitor has the page already, in whichever encoding. */
function isCurrent(etags: string | undefined, etag: string): boolean {
  if (etags === undefined) return false;
  const digest = (tag: string) =>
    tag
      .trim()
      .replace(/^W\//, "")
      .replace(/-\w+"$/, '"');
  return etags.trim() === "*" || etags.split(",").some((tag) => digest(tag) === digest(etag));
}
