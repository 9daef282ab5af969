/**
 * What a visitor asks for where many get the same: a page of WordPress, asked for by somebody who is nobody to it.
 *
 * What makes another page is part of the key. Of everything else that visitors send (and could make a page say), PHP is
 * told nothing when a page is made that will be kept: it is asked in the name of all of them, without cookies, with one
 * browser's name for all large devices and one for all small ones. So nobody can put something into a page for others.
 */

import { isSmallDevice } from "../php/cacheKey.ts";
import { isForRest } from "../php/mayWrite.ts";
import type { Visit } from "../visit.ts";
import { isAnonymous } from "./cookies.ts";
import { type PageAsk, versionOf } from "./pageAsk.ts";
import { pageQuery } from "./query.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const largeDevice =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const smallDevice =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/** Requests with one of these headers ask for something personal. */
const personal = ["authorization", "x-requested-with", "x-wp-nonce", "x-http-method-override", "range"];

/** In whatever language a shop is, it says itself that these are not to be kept; these say so before PHP is asked. */
const personalFolders = new Set(["cart", "checkout", "my-account", "wc-api"]);

const longestKey = 1_000;

/** Null if the answer may be for this visitor alone. Whether the address leads to WordPress is not looked at. */
export function pageAskOf({ request, route, path, host, fromPhp, https }: Omit<Visit, "page">): PageAsk | null {
  const { environment } = route;
  const version = versionOf(environment);
  if (version === null || fromPhp || !("wp-includes" in environment.overlays)) return null;
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return null;
  if (personal.some((name) => headers[name] !== undefined) || !isAnonymous(headers.cookie)) return null;
  if (!wantsPage(headers.accept) || isForRest(path) || path.segments.some((one) => personalFolders.has(one)))
    return null;
  const query = pageQuery(path.query);
  if (query === null) return null;
  const [written = path.url] = path.url.split("?", 1);
  const [url, name, isSmall] = [`${written}${query}`, host.toLowerCase(), isSmallDevice(headers)];
  const key = [version, https, isSmall, name, url].join(" ");
  if (key.length > longestKey) return null;
  const userAgent = isSmall ? smallDevice : largeDevice;
  return {
    environmentId: environment.id,
    key,
    place: { segments: path.segments, query },
    url,
    headers: { host: name, accept, "user-agent": userAgent },
  };
}

/** Plugins answer programs that ask for JSON at the same addresses. */
function wantsPage(accepted: string | undefined): boolean {
  return (
    accepted === undefined ||
    accepted === "" ||
    /text\/html|\*\/\*|application\/(?:rss|atom|rdf)?\+?xml/i.test(accepted)
  );
}
