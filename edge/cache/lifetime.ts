/** Whether an answer of PHP may be shown to others, and for how long (RFC 9111, section 3). */

/** Milliseconds from when the page was made. */
export interface Lifetime {
  /** For so long it is as good as new. */
  readonly fresh: number;
  /** How long after that it is still served, while it is refreshed. */
  readonly stale: number;
  /** For so long it is better than an error. */
  readonly lastResort: number;
  readonly variesByLanguage: boolean;
}

const minute = 60_000;
const hour = 60 * minute;

const page = { fresh: hour, stale: 10 * hour, lastResort: 24 * hour };
/** Programs ask for these again and again, and other changes show in them than in pages. */
const feed = { fresh: 10 * minute, stale: hour, lastResort: 24 * hour };

/** With one of these an answer is for the one who asked, or is not what it seems. */
const forOneOnly = new Set([
  "set-cookie",
  "content-encoding",
  "content-range",
  "pragma",
  "www-authenticate",
  "refresh",
]);
const notForAll = /(?:^|[\s,])(?:no-store|no-cache|private|must-revalidate|proxy-revalidate)\b/i;
/** What is asked with is the same for all (`pageAsk.ts`), or asked without. */
const settled = new Set(["accept-encoding", "accept", "cookie", "user-agent", "sec-ch-ua-mobile", ""]);

const asPage = /^text\/html\b/i;
const asFeed = /^(?:(?:application|text)\/(?:(?:rss|atom|rdf)\+)?xml|text\/xsl|text\/plain)\b/i;

type Headers = readonly (readonly [name: string, value: string])[];

/** Null if it may not be kept. */
export function lifetimeOf(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  now: number,
): Lifetime | null {
  if (status !== 200 || headers.some(([name]) => forOneOnly.has(name.toLowerCase()))) return null;
  const control = headerOf(headers, "cache-control");
  const type = headerOf(headers, "content-type");
  const varied = headerOf(headers, "vary")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const others = varied.filter((name) => !settled.has(name));
  if (notForAll.test(control) || others.some((name) => name !== "accept-language")) return null;
  const usual = asPage.test(type) ? page : asFeed.test(type) ? feed : null;
  const said = saidLifetime(headers, control, now);
  if (usual === null || said === 0) return null;
  return { ...bounded(usual, said), variesByLanguage: others.length > 0 };
}

/** An explicit lifetime is respected: the page is not served longer, unless PHP fails. */
function bounded(usual: Omit<Lifetime, "variesByLanguage">, said: number | null): Omit<Lifetime, "variesByLanguage"> {
  if (said === null) return usual;
  const fresh = Math.min(said, usual.lastResort);
  return { fresh, stale: fresh, lastResort: Math.max(fresh, usual.stale) };
}

/** In milliseconds; null: nothing is said. */
function saidLifetime(headers: Headers, control: string, now: number): number | null {
  for (const name of ["s-maxage", "max-age"]) {
    const seconds = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*"?(\\d+)`, "i").exec(control)?.[1];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  const expires = headerOf(headers, "expires");
  if (expires === "") return null;
  const at = Date.parse(expires);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** All of its values, as one. */
function headerOf(headers: Headers, wanted: string): string {
  return headers
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value)
    .join(", ");
}
