/** Sends a cached page. */
import { chooseEncoding } from "../http/encodings.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { type CachedPage, pageEncodings } from "./cachedPage.ts";

/** The value of `X-Cache`. STALE: expired, and sent because it is being refreshed or PHP failed. */
export type CacheState = "HIT" | "STALE" | "MISS" | "BYPASS";

export function sendCachedPage(
  { method, headers }: Pick<VisitorRequest, "method" | "headers">,
  response: VisitorResponse,
  page: CachedPage,
  { state, now }: { readonly state: CacheState; readonly now: number },
): void {
  const form = page.inEncoding(chooseEncoding(headers["accept-encoding"], pageEncodings));
  const seconds = Math.max(0, Math.floor((now - page.madeAt) / 1000));
  const own = ["X-Cache", state, "Age", String(seconds)];
  if (isCurrent(headers["if-none-match"], form.etag)) {
    response.writeHead(304, [...own, ...withoutContentHeaders(form.head)]).end();
    return;
  }
  response.writeHead(200, [...own, ...form.head]);
  response.end(method === "HEAD" ? undefined : form.body);
}

/** Whether the visitor has the page already, in whichever encoding. */
function isCurrent(known: string | undefined, etag: string): boolean {
  if (known === undefined) return false;
  const digest = (tag: string) =>
    tag
      .trim()
      .replace(/^W\//, "")
      .replace(/-\w+"$/, '"');
  return known.trim() === "*" || known.split(",").some((tag) => digest(tag) === digest(etag));
}

function withoutContentHeaders(head: readonly string[]): readonly string[] {
  return head.filter((_, at) => !/^content-/i.test(head[at - (at % 2)] ?? ""));
}
