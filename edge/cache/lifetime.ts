/** Decides whether a response from PHP may be cached, and for how long (RFC 9111, section 3). */

/** In milliseconds, counted from the time the page was rendered. */
export interface Lifetime {
  /** Until then the page is served without a refresh. */
  readonly fresh: number;
  /** Until then the page is served while it is refreshed. */
  readonly stale: number;
  /** Until then the page is served if PHP fails. */
  readonly lastResort: number;
  readonly variesByLanguage: boolean;
}

const minute = 60_000;
const hour = 60 * minute;

const page = { fresh: hour, stale: 10 * hour, lastResort: 24 * hour };
/** Shorter: programs poll feeds, and feeds also change when no page does. */
const feed = { fresh: 10 * minute, stale: hour, lastResort: 24 * hour };

/** A response with one of these headers is not a plain public page. */
const privateHeaders = new Set([
  "set-cookie",
  "content-encoding",
  "content-range",
  "pragma",
  "www-authenticate",
  "refresh",
]);
const privateCacheControl = /(?:^|[\s,])(?:no-store|no-cache|private|must-revalidate|proxy-revalidate)\b/i;
/**
 * Headers in `Vary` that don't matter: cached pages are rendered with fixed values or without them (`readPageRequest`).
 */
const irrelevantVary = new Set(["accept-encoding", "accept", "cookie", "user-agent", "sec-ch-ua-mobile", ""]);

const pageType = /^text\/html\b/i;
const feedType = /^(?:(?:application|text)\/(?:(?:rss|atom|rdf)\+)?xml|text\/xsl|text\/plain)\b/i;

type Headers = readonly (readonly [name: string, value: string])[];

/** Null if the response must not be cached. */
export function lifetimeOf(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  now: number,
): Lifetime | null {
  if (status !== 200 || headers.some(([name]) => privateHeaders.has(name.toLowerCase()))) return null;
  const control = headerOf(headers, "cache-control");
  const type = headerOf(headers, "content-type");
  const vary = headerOf(headers, "vary")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const others = vary.filter((name) => !irrelevantVary.has(name));
  if (privateCacheControl.test(control) || others.some((name) => name !== "accept-language")) return null;
  const standard = pageType.test(type) ? page : feedType.test(type) ? feed : null;
  const explicit = explicitLifetime(headers, control, now);
  if (standard === null || explicit === 0) return null;
  return { ...bounded(standard, explicit), variesByLanguage: others.length > 0 };
}

/** Respects an explicit lifetime: afterwards the page is served only if PHP fails. */
function bounded(
  standard: Omit<Lifetime, "variesByLanguage">,
  explicit: number | null,
): Omit<Lifetime, "variesByLanguage"> {
  if (explicit === null) return standard;
  const fresh = Math.min(explicit, standard.lastResort);
  return { fresh, stale: fresh, lastResort: Math.max(fresh, standard.stale) };
}

/** The lifetime that the headers state, in milliseconds, or null. */
function explicitLifetime(headers: Headers, control: string, now: number): number | null {
  for (const name of ["s-maxage", "max-age"]) {
    const seconds = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*"?(\\d+)`, "i").exec(control)?.[1];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  const expires = headerOf(headers, "expires");
  if (expires === "") return null;
  const at = Date.parse(expires);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** All values of a header, joined. */
function headerOf(headers: Headers, wanted: string): string {
  return headers
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value)
    .join(", ");
}
