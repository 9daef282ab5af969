/** Redirect rules of environments. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { Refusal } from "../world/failures.ts";
import { environmentOf, pageOf, placeOf } from "../world/find.ts";
import type { DemoEnvironment, RedirectRule, World } from "../world/world.ts";

type Given = NonNullable<Parameters<Calls<World>["updateRedirectRules"]>[1]["body"]["new_value"]>;

const ruleOf = ({ from, to, type, domain }: Given): RedirectRule => ({
  ...{ from, to, type, domain },
  traffic_from_country: null,
  traffic_from_country_name: null,
  traffic_from_city: null,
  displayed_location: null,
});

interface Query {
  readonly limit?: number;
  readonly offset?: number;
  readonly key?: "domain" | "from" | "to" | "type";
  readonly order?: "ascend" | "descend";
  readonly search_query?: string;
}

function listed({ id, redirects }: DemoEnvironment, query: Query) {
  const { key = "domain", order = "ascend", search_query: sought = "" } = query;
  const matches = redirects.filter(({ from, to, domain }) =>
    [from, to, domain ?? ""].some((text) => text.includes(sought)),
  );
  const sorted = matches.toSorted((one, other) => (one[key] ?? "").localeCompare(other[key] ?? ""));
  const rules = pageOf(order === "descend" ? sorted.toReversed() : sorted, query);
  return { id, container_info: { redirect_rules: { rules, redirect_rules_count: matches.length } } };
}

const isSame = (one: Given, other: Given): boolean =>
  one.from === other.from && one.to === other.to && one.type === other.type && one.domain === other.domain;

function refuse(message: string, field: "from" | "to"): never {
  const errors = [{ path: `/new_value/${field}`, message }];
  throw new Refusal("redirect_rule_refused", `\`${field}\` ${message}.`, { errors });
}

/** Checks a new rule next to the others. */
function check(rule: RedirectRule, others: readonly RedirectRule[]): void {
  if (rule.from.length === 0 || rule.from.length > 1_000) refuse("must have 1 to 1000 characters", "from");
  if (!/^[/^]/.test(rule.from))
    refuse("must begin with a slash, as /old, or be a regular expression that begins with ^", "from");
  if (!/^(\/|https?:\/\/)/.test(rule.to)) refuse("must begin with a slash, as /new, or with https://", "to");
  const clashes_with = others.find((other) => other.from === rule.from && other.domain === rule.domain);
  if (clashes_with !== undefined) {
    throw new Refusal("redirect_rule_duplicate", `There is already a redirect from ${rule.from}.`, {
      rule,
      clashes_with,
    });
  }
  const back = others.find((other) => other.from === rule.to && other.to === rule.from);
  if (rule.from === rule.to || back !== undefined) {
    const message = `The redirect from ${rule.from} would lead back to itself.`;
    throw new Refusal("redirect_rule_loop", message, { rule, clashes_with: back ?? null });
  }
}

type Change = Parameters<Calls<World>["updateRedirectRules"]>[1]["body"];

function changed(
  rules: readonly RedirectRule[],
  { action_type: action, rules_to_update: named = [], new_value }: Change,
) {
  const kept = rules.filter((rule) => !named.some((one) => isSame(rule, one)));
  if (action === "DELETE_ALL") return [];
  if (action === "DELETE") return kept;
  if (new_value === undefined || (action === "UPDATE" && kept.length === rules.length)) {
    throw new Refusal("redirect_rule_missing", "The request names no rule, or one that does not exist.");
  }
  const rule = ruleOf(new_value);
  const others = action === "UPDATE" ? kept : rules;
  check(rule, others);
  return [...others, rule];
}

function matchOf(rules: readonly RedirectRule[], path: string): RedirectRule | undefined {
  return rules.find(({ from }) => {
    if (!from.startsWith("^")) return from === path;
    try {
      return new RegExp(from).test(path);
    } catch {
      return false;
    }
  });
}

const pathOf = (url: string): string => (url.startsWith("/") ? url : URL.canParse(url) ? new URL(url).pathname : url);

const head = "from,to,type,domain";

function rulesIn(csv: string): RedirectRule[] {
  const [first = "", ...lines] = csv.trim().split(/\r?\n/);
  if (!first.startsWith("from,to")) {
    throw new Refusal("csv_unreadable", `The first line must be ${head}.`, { line: 1 });
  }
  return lines.map((line, index) => {
    const [from, to, type = "permanent", domain = ""] = line.split(",");
    if (from === undefined || to === undefined) {
      throw new Refusal("csv_unreadable", `Line ${index + 2} has no \`to\`.`, { line: index + 2 });
    }
    return ruleOf({ from, to, type: type === "redirect" ? "redirect" : "permanent", domain: domain || null });
  });
}

export const redirectCalls = {
  listRedirectRules: (world, { params, query }) => listed(environmentOf(world, params.env_id), query),
  updateRedirectRules: (world, { params, body }) => {
    const { site, environment } = placeOf(world, params.env_id);
    environment.redirects = changed(environment.redirects, body);
    record(world, { type: "updateRedirectRules", siteId: site.id, text: `Change redirects of ${site.displayName}` });
    return listed(environment, body);
  },
  testRedirectRules: (world, { params, body }) => {
    const rule = matchOf(environmentOf(world, params.env_id).redirects, pathOf(body.url));
    if (rule === undefined) return { rule: null, status: null, location: null };
    return { rule, status: rule.type === "permanent" ? 301 : 302, location: rule.to };
  },
  exportRedirectRules: (world, { params }) => {
    const rows = environmentOf(world, params.env_id).redirects.map(({ from, to, type, domain }) =>
      [from, to, type, domain ?? ""].join(","),
    );
    return [head, ...rows, ""].join("\n");
  },
  importRedirectRules: (world, { params, body: { csv, replace } }) => {
    const { site, environment } = placeOf(world, params.env_id);
    const rules = replace === true ? [] : [...environment.redirects];
    const read = rulesIn(csv);
    for (const rule of read) {
      check(rule, rules);
      rules.push(rule);
    }
    environment.redirects = rules;
    record(world, { type: "updateRedirectRules", siteId: site.id, text: `Import redirects of ${site.displayName}` });
    return { imported: read.length, redirect_rules_count: rules.length };
  },
} satisfies Partial<Calls<World>>;
