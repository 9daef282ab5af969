/** Checks redirect rules, each by itself and all together. */
import { mostExpressions, mostOpenExpressions, mostRedirectRules } from "@sitewright/contract/traffic/redirectRules.ts";
import { checkFrom, readFrom } from "@sitewright/edge/redirects/from.ts";
import { findLoop } from "@sitewright/edge/redirects/loops.ts";
import { createRedirects } from "@sitewright/edge/redirects/redirects.ts";
import { BadRule, type RedirectRule } from "@sitewright/edge/redirects/rule.ts";
import { checkTo } from "@sitewright/edge/redirects/to.ts";
import type { StoredRule } from "@sitewright/server/store/database.ts";
import { forEdge } from "@sitewright/server/store/traffic/redirectRules.ts";
import { Refused } from "../failures.ts";

export interface RuleWish {
  readonly from: string;
  readonly to: string;
  readonly type: "permanent" | "redirect";
  readonly domain: string | null;
  readonly traffic_from_country?: string | null;
  readonly traffic_from_country_name?: string | null;
  readonly traffic_from_city?: string | null;
  readonly displayed_location?: string | null;
}

/** A name of the environment; one with a wildcard stands for those below it, too. */
export interface OwnName {
  readonly name: string;
  readonly isWildcard: boolean;
}

const mostFaults = 100;
const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** In the one form in which rules are kept and compared. */
export function normalise(wish: RuleWish): StoredRule {
  const country = wish.traffic_from_country?.toUpperCase() || null;
  const city = wish.traffic_from_city?.trim() || null;
  const countryName = wish.traffic_from_country_name || nameOf(country);
  const location = [city, countryName].filter((part) => part !== null).join(", ");
  return {
    from: wish.from,
    to: wish.to,
    type: wish.type,
    domain: wish.domain?.toLowerCase() || null,
    traffic_from_country: country,
    traffic_from_country_name: countryName,
    traffic_from_city: city,
    displayed_location: wish.displayed_location || location || null,
  };
}

function nameOf(country: string | null): string | null {
  return country !== null && /^[A-Z]{2}$/.test(country) ? (countryNames.of(country) ?? null) : null;
}

/** Throws `Refused`, naming every field that is wrong. `pathOf` is where the rule of that index stands in the request. */
export function checkEach(
  rules: readonly StoredRule[],
  names: readonly OwnName[],
  knowsPlaces: boolean,
  pathOf: (index: number) => string,
): void {
  if (!knowsPlaces && rules.some((rule) => rule.traffic_from_country !== null || rule.traffic_from_city !== null)) {
    throw new Refused("places_unknown", "Rules for visitors from somewhere need a database of places here.");
  }
  const faults = rules.flatMap((rule, index) =>
    faultsOf(rule, names).map(({ field, message }) => ({ path: `${pathOf(index)}/${field}`, message, rule })),
  );
  const [first] = faults;
  if (first === undefined) return;
  throw new Refused("redirect_rule_refused", `A redirect rule is not accepted: ${first.path} ${first.message}.`, {
    errors: faults.slice(0, mostFaults).map(({ path, message }) => ({ path, message })),
  });
}

interface Fault {
  readonly field: string;
  readonly message: string;
}

function faultsOf(rule: StoredRule, names: readonly OwnName[]): readonly Fault[] {
  const faults: Fault[] = [];
  try {
    checkTo(rule.to, checkFrom(rule.from));
  } catch (error) {
    if (!(error instanceof BadRule)) throw error;
    faults.push({ field: error.field, message: error.message });
  }
  if (rule.domain !== null && !isOwn(rule.domain, names)) {
    faults.push({ field: "domain", message: "must be a domain of the environment, or null" });
  }
  if (rule.traffic_from_country !== null && nameOf(rule.traffic_from_country) === null) {
    faults.push({ field: "traffic_from_country", message: "must be a country's two letters, such as DE" });
  }
  return faults;
}

export function isOwn(host: string, names: readonly OwnName[]): boolean {
  return names.some(({ name, isWildcard }) => host === name || (isWildcard && host.endsWith(`.${name}`)));
}

/** Throws `Refused` if there would be too many, two for the same, or a ring in which one of `added` stands. */
export function checkTogether(
  all: readonly StoredRule[],
  added: readonly StoredRule[],
  names: readonly OwnName[],
): void {
  checkCounts(all);
  checkDuplicates(all);
  const redirects = createRedirects(all.map(forEdge));
  const byEdgeRule = (found: RedirectRule) => all.find((rule) => sameText(rule) === JSON.stringify(found)) ?? null;
  const own = names.map(({ name }) => name);
  // At names that no rule singles out all rules do the same.
  const singled = new Set(all.map(({ domain }) => domain));
  const starts = own.filter((name, index) => index === 0 || singled.has(name));
  for (const rule of added) {
    const closing = findLoop(forEdge(rule), redirects, own, starts);
    if (closing === null) continue;
    const message = `Visitors would be sent in a ring by the rule from ${rule.from} to ${rule.to}, which ${closing.from} to ${closing.to} closes.`;
    throw new Refused("redirect_rule_loop", message, { rule, clashes_with: byEdgeRule(closing) });
  }
}

function checkCounts(all: readonly StoredRule[]): void {
  const prefixes = all.flatMap(({ from }) => {
    const read = readFrom(from);
    return read.kind === "expression" ? [read.prefix] : [];
  });
  const counts = [
    [all.length, mostRedirectRules, "redirect rules"],
    [prefixes.length, mostExpressions, "rules with an expression"],
    [
      prefixes.filter((prefix) => prefix === "").length,
      mostOpenExpressions,
      "rules with an expression that does not begin with ^ and some letters",
    ],
  ] as const;
  for (const [count, most, what] of counts) {
    if (count > most)
      throw new Refused("too_many_redirect_rules", `An environment has at most ${most} ${what}.`, { most });
  }
}

function checkDuplicates(all: readonly StoredRule[]): void {
  const seen = new Map<string, StoredRule>();
  for (const rule of all) {
    const read = readFrom(rule.from);
    const city = rule.traffic_from_city?.toLowerCase() ?? null;
    const from = read.kind === "path" ? read.path : ["expression", rule.from];
    const key = JSON.stringify([rule.domain, from, rule.traffic_from_country, city]);
    const other = seen.get(key);
    if (other !== undefined) {
      const message = `There is a redirect rule from ${rule.from} already: it leads to ${other.to}.`;
      throw new Refused("redirect_rule_duplicate", message, { rule, clashes_with: other });
    }
    seen.set(key, rule);
  }
}

/** The same text for rules that equal each other. */
export function sameText(rule: StoredRule): string {
  return JSON.stringify(forEdge(rule));
}
