/** Validates redirect rules, each by itself and all together. */
import { maxExpressions, maxOpenExpressions, maxRedirectRules } from "@sitewright/contract/traffic/redirectRules.ts";
import { checkFrom, readFrom } from "@sitewright/edge/redirects/from.ts";
import { findLoop } from "@sitewright/edge/redirects/loops.ts";
import { createRedirects } from "@sitewright/edge/redirects/redirects.ts";
import { BadRule, type RedirectRule } from "@sitewright/edge/redirects/rule.ts";
import { checkTo } from "@sitewright/edge/redirects/to.ts";
import type { StoredRule } from "@sitewright/server/store/database.ts";
import { forEdge } from "@sitewright/server/store/traffic/redirectRules.ts";
import { Refused } from "../failures.ts";

export interface RuleInput {
  readonly from: string;
  readonly to: string;
  readonly type: "permanent" | "redirect";
  readonly domain: string | null;
  readonly traffic_from_country?: string | null;
  readonly traffic_from_country_name?: string | null;
  readonly traffic_from_city?: string | null;
  readonly displayed_location?: string | null;
}

/** A domain name of the environment; a wildcard includes its subdomains. */
interface OwnName {
  readonly name: string;
  readonly isWildcard: boolean;
}

const maxErrors = 100;
const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Converts a rule to the form in which rules are stored and compared. */
export function normalise(rule: RuleInput): StoredRule {
  const country = rule.traffic_from_country?.toUpperCase() || null;
  const city = rule.traffic_from_city?.trim() || null;
  const countryName = rule.traffic_from_country_name || nameOf(country);
  const location = [city, countryName].filter((part) => part !== null).join(", ");
  return {
    from: rule.from,
    to: rule.to,
    type: rule.type,
    domain: rule.domain?.toLowerCase() || null,
    traffic_from_country: country,
    traffic_from_country_name: countryName,
    traffic_from_city: city,
    displayed_location: rule.displayed_location || location || null,
  };
}

function nameOf(country: string | null): string | null {
  return country !== null && /^[A-Z]{2}$/.test(country) ? (countryNames.of(country) ?? null) : null;
}

/** Throws `Refused` with all invalid fields. `pathOf` is the path in the request of the rule with that index. */
export function checkEach(
  rules: readonly StoredRule[],
  names: readonly OwnName[],
  knowsPlaces: boolean,
  pathOf: (index: number) => string,
): void {
  if (!knowsPlaces && rules.some((rule) => rule.traffic_from_country !== null || rule.traffic_from_city !== null)) {
    throw new Refused(
      "places_unknown",
      "Rules by country or city need a GeoIP database, and this installation has none.",
    );
  }
  const errors = rules.flatMap((rule, index) =>
    errorsOf(rule, names).map(({ field, message }) => ({ path: `${pathOf(index)}/${field}`, message, rule })),
  );
  const [first] = errors;
  if (first === undefined) return;
  throw new Refused("redirect_rule_refused", `A redirect rule is invalid: ${first.path} ${first.message}.`, {
    errors: errors.slice(0, maxErrors).map(({ path, message }) => ({ path, message })),
  });
}

interface FieldError {
  readonly field: string;
  readonly message: string;
}

function errorsOf(rule: StoredRule, names: readonly OwnName[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  try {
    checkTo(rule.to, checkFrom(rule.from));
  } catch (error) {
    if (!(error instanceof BadRule)) throw error;
    errors.push({ field: error.field, message: error.message });
  }
  if (rule.domain !== null && !isOwn(rule.domain, names)) {
    errors.push({ field: "domain", message: "must be a domain of the environment, or null" });
  }
  if (rule.traffic_from_country !== null && nameOf(rule.traffic_from_country) === null) {
    errors.push({ field: "traffic_from_country", message: "must be a two-letter country code such as DE" });
  }
  return errors;
}

export function isOwn(host: string, names: readonly OwnName[]): boolean {
  return names.some(({ name, isWildcard }) => host === name || (isWildcard && host.endsWith(`.${name}`)));
}

/** Throws `Refused` if there are too many rules, duplicates, or a redirect loop through one of `added`. */
export function checkTogether(
  all: readonly StoredRule[],
  added: readonly StoredRule[],
  names: readonly OwnName[],
): void {
  checkCounts(all);
  checkDuplicates(all);
  const redirects = createRedirects(all.map(forEdge));
  const byEdgeRule = (found: RedirectRule) => all.find((rule) => ruleText(rule) === JSON.stringify(found)) ?? null;
  const own = names.map(({ name }) => name);
  // All names without rules of their own behave alike, so one of them is enough.
  const withRules = new Set(all.map(({ domain }) => domain));
  const starts = own.filter((name, index) => index === 0 || withRules.has(name));
  for (const rule of added) {
    const closing = findLoop(forEdge(rule), redirects, own, starts);
    if (closing === null) continue;
    const message = `The rule from ${rule.from} to ${rule.to} would create a redirect loop with the one from ${closing.from} to ${closing.to}.`;
    throw new Refused("redirect_rule_loop", message, { rule, clashes_with: byEdgeRule(closing) });
  }
}

function checkCounts(all: readonly StoredRule[]): void {
  const prefixes = all.flatMap(({ from }) => {
    const read = readFrom(from);
    return read.kind === "expression" ? [read.prefix] : [];
  });
  const counts = [
    [all.length, maxRedirectRules, "redirect rules"],
    [prefixes.length, maxExpressions, "rules with a regular expression"],
    [
      prefixes.filter((prefix) => prefix === "").length,
      maxOpenExpressions,
      "rules with a regular expression that does not begin with ^ and some letters",
    ],
  ] as const;
  for (const [count, most, noun] of counts) {
    if (count <= most) continue;
    throw new Refused("too_many_redirect_rules", `An environment can have at most ${most} ${noun}.`, { most });
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
      const message = `There is already a redirect rule from ${rule.from} to ${other.to}.`;
      throw new Refused("redirect_rule_duplicate", message, { rule, clashes_with: other });
    }
    seen.set(key, rule);
  }
}

/** Serializes a rule. Equal rules have the same text. */
export function ruleText(rule: StoredRule): string {
  return JSON.stringify(forEdge(rule));
}
