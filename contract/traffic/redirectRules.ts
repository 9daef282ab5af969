/** Redirect rules of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, pattern, uuid } from "../schema.ts";

const byEnvironment = Type.Object({ env_id: uuid("Id of the environment.") });
export const mostRedirectRules = 10_000;
/** Rules whose `from` is a regular expression. */
export const mostExpressions = 1_000;
/** Regular expressions whose matches have no common prefix. */
export const mostOpenExpressions = 100;

const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");
const text = (maxLength: number, description: string, example: string) =>
  Type.String({ maxLength, pattern: noNul, description, examples: [example] });
const optional = (maxLength: number, description: string, example: string) =>
  Type.Optional(nullable(text(maxLength, description, example)));

const type = Type.Enum(["permanent", "redirect"], { description: "`permanent`: 301. `redirect`: 302." });
const from = text(
  1_000,
  "A path, with or without a trailing slash; or a regular expression (RE2) that is searched for in the path: `^/blog/(.*)$`.",
  "/old-page",
);
const to = text(
  2_000,
  "A path or a URL with http:// or https://; `$1` is the first group of `from`. The visitor's query string is kept.",
  "/new-page",
);
const domainText = "The domain that the rule applies to, or null for every domain of the environment.";
const country =
  "Only visitors from this country (two-letter ISO 3166 code). Needs a location database (`SITEWRIGHT_GEOIP`).";

const RuleWish = Type.Object(
  {
    from,
    to,
    type,
    domain: nullable(text(253, domainText, "shop.example.com")),
    traffic_from_country: optional(2, country, "DE"),
    traffic_from_country_name: optional(200, "Display name; default: the country's name.", "Germany"),
    traffic_from_city: optional(200, "Only visitors from this city (English name).", "Berlin"),
    displayed_location: optional(500, "Display name; default: city and country.", "Berlin, Germany"),
  },
  { title: "RedirectRuleWish" },
);

const RedirectRule = Type.Object(
  {
    from: Type.String({ examples: ["/old-page"] }),
    to: Type.String({ examples: ["/new-page"] }),
    type,
    domain: nullable(Type.String({ description: domainText })),
    traffic_from_country: nullable(Type.String({ examples: ["DE"] })),
    traffic_from_country_name: nullable(Type.String({ examples: ["Germany"] })),
    traffic_from_city: nullable(Type.String({ examples: ["Berlin"] })),
    displayed_location: nullable(Type.String({ examples: ["Berlin, Germany"] })),
  },
  { title: "RedirectRule" },
);

const paging = {
  limit: limit("Maximum number of rules.", { default: 10 }),
  offset,
  key: Type.Optional(Type.Enum(["domain", "from", "to", "type"], { default: "domain", description: "Sort key." })),
  order: Type.Optional(Type.Enum(["ascend", "descend"], { default: "ascend", description: "Sort order." })),
  search_query: Type.Optional(
    Type.String({
      maxLength: 1_000,
      pattern: noNul,
      default: "",
      description: "Only rules that contain this text in `from`, `to` or `domain`.",
    }),
  ),
  regex_search: Type.Optional(
    Type.Unsafe<"true" | "false" | boolean>({
      enum: ["true", "false", true, false],
      default: "false",
      description: "Whether `search_query` is a regular expression.",
    }),
  ),
};

const Page = Type.Object({
  id: uuid("Id of the environment."),
  container_info: Type.Object({
    redirect_rules: Type.Object({
      rules: Type.Array(RedirectRule),
      redirect_rules_count: Type.Integer({ description: "Number of rules before paging." }),
    }),
  }),
});

const tag = "Redirect rules";
const resource = { kind: "environment", from: "params.env_id" } as const;

export const listRedirectRules = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/redirect-rules",
  tag,
  summary: "List the redirect rules of an environment",
  description: "Sorted by `key`; rules with equal keys are in the order in which they were added.",
  params: byEnvironment,
  query: Type.Object(paging),
  responses: { 200: result(["environment"], "A page of rules.", Page) },
  verb: "read",
  resource,
});

export const updateRedirectRules = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/redirect-rules",
  tag,
  summary: "Add, replace or remove redirect rules",
  description:
    "In force when this call returns. `NEW` adds `new_value`, or all of `rules_to_update` if it is omitted. `UPDATE` replaces the rule that equals the first of `rules_to_update` with `new_value`. `DELETE` removes the rules that equal one of `rules_to_update`. `DELETE_ALL` removes all rules. Rules are equal if `domain`, `from`, `to`, `type`, country and city are equal. If several rules match, the most specific one applies: a city before a country, a domain before all domains, a path before a regular expression, then the oldest. Duplicates (same domain, `from` and location) and redirect loops are refused.",
  params: byEnvironment,
  body: Type.Object(
    {
      action_type: Type.Enum(["NEW", "UPDATE", "DELETE", "DELETE_ALL"]),
      rules_to_update: Type.Optional(Type.Array(RuleWish, { maxItems: mostRedirectRules })),
      new_value: Type.Optional(RuleWish),
      ...paging,
    },
    { title: "RedirectRulesUpdate" },
  ),
  responses: {
    200: result(["environment"], "The change is in force; a page of rules.", Page),
  },
  verb: "write",
  resource,
  changesLive: true,
});

export const testRedirectRules = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/redirect-rules/test",
  tag,
  summary: "Test which redirect rule matches a URL",
  description: "Evaluates the current rules; nothing is requested or changed.",
  params: byEnvironment,
  body: Type.Object({
    url: text(4_096, "A URL of the environment, or a path on its primary domain.", "https://example.com/old-page"),
    country: optional(2, "Country of the simulated visitor.", "DE"),
    city: optional(200, "City of the simulated visitor (English name).", "Berlin"),
  }),
  responses: {
    200: result(
      [],
      "The matching rule and its answer; all three are null if no rule matches.",
      Type.Object({
        rule: nullable(RedirectRule),
        status: nullable(Type.Integer({ examples: [301] })),
        location: nullable(Type.String({ examples: ["/new-page"] })),
      }),
    ),
  },
  verb: "write",
  resource,
});

export const exportRedirectRules = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/redirect-rules/csv",
  tag,
  summary: "Export redirect rules as CSV",
  description: "All rules in the order in which they were added, with a header line, in the format of the import.",
  params: byEnvironment,
  responses: {
    200: result(["csv"], "The text.", Type.String({ examples: ["from,to,type,domain\n"] })),
  },
  verb: "read",
  resource,
});

export const importRedirectRules = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/redirect-rules/csv",
  tag,
  summary: "Import redirect rules from CSV",
  description:
    "The first line names the columns: `from` and `to`, and optionally `type` (default `permanent`), `domain` and the location columns. All rules are imported or none. In force when this call returns.",
  params: byEnvironment,
  body: Type.Object({
    csv: text(1_000_000, "The text.", "from,to\n/old-page,/new-page\n"),
    replace: Type.Optional(Type.Boolean({ default: false, description: "Whether to remove all other rules." })),
  }),
  responses: {
    200: result(
      [],
      "The rules are in force.",
      Type.Object({ imported: Type.Integer(), redirect_rules_count: Type.Integer() }),
    ),
  },
  verb: "write",
  resource,
  changesLive: true,
});
