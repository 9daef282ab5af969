/** Searches, sorts and pages redirect rules. */
import { createSearch } from "@sitewright/edge/redirects/search.ts";
import type { StoredRule } from "@sitewright/server/store/database.ts";
import type { RuleList } from "@sitewright/server/store/traffic/redirectRules.ts";
import { Refused } from "../failures.ts";

export interface PageQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly key?: "domain" | "from" | "to" | "type";
  readonly order?: "ascend" | "descend";
  readonly search_query?: string;
  readonly regex_search?: "true" | "false" | boolean;
}

/** Throws `Refused` if the regular expression to search for is invalid. */
export function pageOf({ id, rules }: RuleList, query: PageQuery) {
  const { limit = 10, offset = 0, key = "domain", order = "ascend" } = query;
  const found = search(rules, query.search_query ?? "", String(query.regex_search ?? false) === "true");
  const direction = order === "ascend" ? 1 : -1;
  const sorted = found.toSorted((a, b) => direction * compare(a[key] ?? "", b[key] ?? ""));
  return {
    id,
    container_info: {
      redirect_rules: { rules: sorted.slice(offset, offset + limit), redirect_rules_count: found.length },
    },
  };
}

function search(rules: readonly StoredRule[], query: string, isExpression: boolean): readonly StoredRule[] {
  if (query === "") return rules;
  const matches = createSearch(query, isExpression);
  if (matches === null) throw new Refused("no_expression", "search_query is not a valid regular expression (RE2).");
  return rules.filter(({ from, to, domain }) => matches(from) || matches(to) || (domain !== null && matches(domain)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
