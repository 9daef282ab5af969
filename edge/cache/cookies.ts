/**
 * Decides whether a visitor is anonymous: only anonymous visitors get cached pages.
 *
 * This is an allow list. No one can list all cookies by which plugins recognise a person (a login, a cart, a currency,
 * a paid course), and a missing one would show one visitor's page to another.
 */
import { harmlessCookies } from "./harmlessCookies.ts";

/** A name with a wildcard. */
interface Pattern {
  readonly start: string;
  readonly end: string;
}

const names = new Set(harmlessCookies.filter((name) => !name.includes("*")));
const patterns = groupByStart(harmlessCookies.filter((name) => name.includes("*")));
/** A name is looked up by its beginnings of these lengths. There are few, so that costs less than trying each pattern. */
const startLengths = [...new Set([...patterns.keys()].map((start) => start.length))];

/** `cookie` is the Cookie header. */
export function isAnonymous(cookie: string | undefined): boolean {
  if (cookie === undefined) return true;
  return cookie.split(";").every((pair) => {
    const name = pair.split("=", 1)[0]?.trim() ?? "";
    return name === "" || isHarmless(name);
  });
}

function isHarmless(name: string): boolean {
  return names.has(name) || startLengths.some((length) => (patterns.get(name.slice(0, length)) ?? []).some(fits(name)));
}

function fits(name: string): (pattern: Pattern) => boolean {
  return ({ start, end }) => name.length >= start.length + end.length && name.endsWith(end);
}

function groupByStart(wildcards: readonly string[]): ReadonlyMap<string, readonly Pattern[]> {
  return Map.groupBy(
    wildcards.map((wildcard) => {
      const [start = "", end = ""] = wildcard.split("*");
      return { start, end };
    }),
    ({ start }) => start,
  );
}
