/**
 * Finds the redirect rule for a request. If several match, the most specific one applies: a city before a country
 * before any location, then one domain before all domains, then a path before an expression, then the older rule.
 *
 * Paths are found in a map. Expressions are indexed by their literal prefix, so that only likely ones are tried; those
 * without a prefix are matched together.
 */
import { createExpressionSet, type ExpressionFrom, readFrom, withoutTrailingSlash } from "./from.ts";
import type { Redirect, RedirectRule, RequestedUrl, VisitorLocation } from "./rule.ts";
import { expand } from "./to.ts";

export interface Redirects {
  /** The redirect of the first matching rule, or null. It may lead back to the requested URL (`isSelfRedirect`). */
  find(requested: RequestedUrl): Redirect | null;
}

interface Ranked {
  readonly rule: RedirectRule;
  readonly rank: number;
  readonly expression: ExpressionFrom | null;
}

/** Indexes rules, which must have been checked (`checkFrom`, `checkTo`), oldest first. */
export function createRedirects(rules: readonly RedirectRule[]): Redirects {
  const paths = new Map<string, Ranked[]>();
  const prefixes = new Map<number, Map<string, Ranked[]>>();
  for (const ranked of rank(rules)) {
    const from = readFrom(ranked.rule.from);
    if (from.kind === "path") append(paths, from.path, ranked);
    else {
      const ofLength = prefixes.get(from.prefix.length) ?? new Map<string, Ranked[]>();
      prefixes.set(from.prefix.length, ofLength);
      append(ofLength, from.prefix, { ...ranked, expression: from });
    }
  }

  const withoutPrefix = prefixes.get(0)?.get("") ?? [];
  prefixes.delete(0);
  const matchWithoutPrefix = createExpressionSet(withoutPrefix.map(({ rule }) => rule.from));

  function candidates(path: string): readonly Ranked[] {
    const lists = [paths.get(withoutTrailingSlash(path)) ?? []];
    for (const [length, ofLength] of prefixes) lists.push(ofLength.get(path.slice(0, length)) ?? []);
    lists.push(matchWithoutPrefix(path).flatMap((index) => withoutPrefix[index] ?? []));
    const all = lists.filter((list) => list.length > 0);
    return all.length === 1 ? (all[0] ?? []) : all.flat().sort((a, b) => a.rank - b.rank);
  }

  return {
    find(requested) {
      for (const { rule, expression } of candidates(requested.path)) {
        if (rule.domain !== null && rule.domain !== requested.host) continue;
        const groups = expression === null ? [requested.path] : expression.match(requested.path);
        if (groups === null || !matchesLocation(rule, requested.place)) continue;
        const status = rule.type === "permanent" ? 301 : 302;
        return { rule, status, location: expand(rule.to, groups, requested.query) };
      }
      return null;
    },
  };
}

function rank(rules: readonly RedirectRule[]): readonly Ranked[] {
  const weight = ({ country, city, domain, from }: RedirectRule) =>
    (city === null ? 8 : 0) +
    (country === null ? 4 : 0) +
    (domain === null ? 2 : 0) +
    (readFrom(from).kind === "path" ? 0 : 1);
  return rules
    .map((rule) => ({ rule, weight: weight(rule) }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ rule }, index) => ({ rule, rank: index, expression: null }));
}

function append(map: Map<string, Ranked[]>, key: string, ranked: Ranked): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [ranked]);
  else list.push(ranked);
}

function matchesLocation({ country, city }: RedirectRule, visitorLocation: () => VisitorLocation): boolean {
  if (country === null && city === null) return true;
  const visitor = visitorLocation();
  if (country !== null && visitor.country !== country) return false;
  return city === null || visitor.city?.toLowerCase() === city.toLowerCase();
}

/** Whether a redirect leads back to the requested URL. */
export function isSelfRedirect({ location }: Redirect, { scheme, host, path, query }: RequestedUrl): boolean {
  if (location.startsWith("/")) return location === encodeURI(path) + query;
  return location.replace(/:(80|443)(?=\/)/, "") === `${scheme}://${host}${encodeURI(path)}${query}`;
}
