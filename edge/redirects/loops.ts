/** Detects redirect loops by following redirects like a browser, starting from a rule's target. */
import type { Redirects } from "./redirects.ts";
import { nowhere, type RedirectRule, type RequestedUrl } from "./rule.ts";
import { expand } from "./to.ts";

/** Browsers give up after 20 redirects. */
const maxRedirects = 20;
/** Sample values for groups: a letter and a digit. */
const samples = ["x", "1"] as const;

/**
 * Follows the redirects from the target of `rule`. Returns the rule that closes a loop, or null if none was found.
 * `hosts` are the environment's names; redirects to other hosts are not followed. `starts` are the hosts from which a
 * rule for all domains is tried.
 */
export function findLoop(
  rule: RedirectRule,
  redirects: Redirects,
  hosts: readonly string[],
  starts: readonly string[] = hosts,
): RedirectRule | null {
  const groupValues = /\$\d/.test(rule.to) ? samples : samples.slice(0, 1);
  for (const host of rule.domain === null ? starts : [rule.domain]) {
    for (const value of groupValues) {
      const groups = Array.from({ length: 100 }, () => value);
      const closingRule = follow(expand(rule.to, groups, ""), host, rule, redirects, hosts);
      if (closingRule !== null) return closingRule;
    }
  }
  return null;
}

function follow(
  location: string,
  firstHost: string,
  rule: RedirectRule,
  redirects: Redirects,
  hosts: readonly string[],
): RedirectRule | null {
  const place = rule.country === null && rule.city === null ? nowhere : { country: rule.country, city: rule.city };
  const seen = new Set<string>();
  let requested = parseVisit(location, `http://${firstHost}/`, () => place);
  let last: RedirectRule | null = null;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    if (requested === null || !hosts.includes(requested.host)) return null;
    const key = keyOf(requested);
    if (seen.has(key)) return last;
    seen.add(key);
    const redirect = redirects.find(requested);
    if (redirect === null) return null;
    const next = parseVisit(redirect.location, `${requested.scheme}://${requested.host}/`, () => place);
    // A rule that forces HTTPS does nothing for HTTPS requests (`isSelfRedirect`).
    if (next !== null && keyOf(next) === key && !redirect.location.startsWith("/")) return null;
    last = redirect.rule;
    requested = next;
  }
  return last;
}

const keyOf = ({ scheme, host, path }: RequestedUrl) => `${scheme}://${host}${path}`;

/** Parses a URL like a browser and the edge. Null if it is invalid. */
export function parseVisit(location: string, base: string, place: RequestedUrl["place"]): RequestedUrl | null {
  const url = URL.parse(location, base);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  const scheme = url.protocol === "https:" ? "https" : "http";
  try {
    const path = decodeURIComponent(url.pathname).replace(/\/{2,}/g, "/");
    return { scheme, host: url.hostname, path, query: url.search, place };
  } catch {
    return null;
  }
}
