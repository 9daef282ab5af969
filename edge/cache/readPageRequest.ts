/**
 * Decides whether a visit asks for a public page, and which.
 *
 * Everything that makes the page differ is part of the key. Nothing else that the visitor sent reaches PHP when a page
 * is rendered for the cache: the request has no cookies and one of two fixed user agents, for large and small devices.
 * So a visitor can't inject content into a page that others see (cache poisoning).
 */

import { isMobile } from "../php/cacheKey.ts";
import { isRestRequest } from "../php/mayWrite.ts";
import { hasWordPress } from "../tables/hasWordPress.ts";
import { type PageRequest, versionOf } from "../visit/pageRequest.ts";
import type { Visit } from "../visit/visit.ts";
import { isAnonymous } from "./cookies.ts";
import { pageQuery } from "./query.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const desktopUserAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const mobileUserAgent =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/** Requests with one of these headers may get a private response. */
const privateHeaders = ["authorization", "x-requested-with", "x-wp-nonce", "x-http-method-override", "range"];

/** Shop pages that are always private. Translated shops mark theirs in PHP's response. */
const privateFolders = new Set(["cart", "checkout", "my-account", "wc-api"]);

const maxKeyLength = 1_000;

/** Null if the response may be private. Doesn't check whether the URL leads to WordPress. */
export function readPageRequest({
  request,
  route,
  path,
  host,
  fromPhp,
  https,
}: Omit<Visit, "pageRequest" | "address">): PageRequest | null {
  const { environment } = route;
  const version = versionOf(environment);
  if (version === null || fromPhp || !hasWordPress(environment)) return null;
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return null;
  if (privateHeaders.some((name) => headers[name] !== undefined) || !isAnonymous(headers.cookie)) return null;
  if (!wantsPage(headers.accept) || isRestRequest(path) || path.segments.some((one) => privateFolders.has(one)))
    return null;
  const query = pageQuery(path.query);
  if (query === null) return null;
  const [pathname = path.url] = path.url.split("?", 1);
  const [url, name, mobile] = [`${pathname}${query}`, host.toLowerCase(), isMobile(headers)];
  const key = [version, https, mobile, name, url].join(" ");
  if (key.length > maxKeyLength) return null;
  const userAgent = mobile ? mobileUserAgent : desktopUserAgent;
  return {
    environmentId: environment.id,
    key,
    address: { segments: path.segments, query },
    // Any port is served. On the usual ones, browsers leave it out.
    isVariant: query !== "" || name.includes(":"),
    url,
    headers: { host: name, accept, "user-agent": userAgent },
  };
}

/** Some plugins respond with JSON at the same URL if the client asks for it. */
function wantsPage(accepted: string | undefined): boolean {
  return (
    accepted === undefined ||
    accepted === "" ||
    /text\/html|\*\/\*|application\/(?:rss|atom|rdf)?\+?xml/i.test(accepted)
  );
}
