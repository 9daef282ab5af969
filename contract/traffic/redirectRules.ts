/** Redirect rules of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, noNul, nullable, offset, uuid } from "../schema.ts";

const byEnvironment = Type.Object({ env_id: uuid("Id of the environment.") });
export const maxRedirectRules = 10_000;
/** Maximum number of rules whose `from` is a regular expression. */
export const maxExpressions = 1_000;
/** Maximum number of regular expressions without a fixed prefix: they have to be tried for every path. */
export const maxOpenExpressions = 100;

const text = (maxLength: number, description: string, example: string) =>
  Type.String({ maxLength, pattern: noNul, description, examples: [example] });
const optional = (maxLength: number, description: string, example: string) =>
  Type.Optional(nullable(text(maxLength, description, example)));

const type = Type.Enum(["permanent", "redirect"], {
  description: "Status of the redirect. `permanent`: 301. `redirect`: 302.",
});
const from = text(
  1_000,
  "Path to redirect, with or without a trailing slash, or a regular expression (RE2) that is searched for in the decoded path, such as `^/blog/(.*)$`. The query is not part of it.",
  "/old-page",
);
const to = text(
  2_000,
  "Target of the redirect: a path, or a URL with http:// or https://. `$1` stands for the first group of `from`. The visitor's query string is kept.",
  "/new-page",
);
const domainText = "The domain that the rule applies to. Null: all domains of the environment.";
const country =
  "Only visitors from this country: a two-letter ISO 3166 code. Needs a location database (SITEWRIGHT_GEOIP).";
const city = "Only visitors from this city: its English name. Needs a location database (SITEWRIGHT_GEOIP).";
const countryName = "Display name of the country. Default: its usual name.";
const location = "Display name of the location. Default: city and country.";

const RuleInput = Type.Object(
  {
    from,
    to,
    type,
    domain: nullable(text(253, domainText, "shop.example.com")),
    traffic_from_country: optional(2, country, "DE"),
    traffic_from_country_name: optional(200, countryName, "Germany"),
    traffic_from_city: optional(200, city, "Berlin"),
    displayed_location: optional(500, location, "Berlin, Germany"),
  },
  {
    title: "RedirectRuleInput",
    examples: [{ from: "/old-page", to: "/new-page", type: "permanent", domain: null }],
  },
);

export const RedirectRule = Type.Object(
  {
    from: Type.String({ description: "Path to redirect, or a regular expression for paths.", examples: ["/old-page"] }),
    to: Type.String({ description: "Where to redirect: a path or a URL.", examples: ["/new-page"] }),
    type,
    domain: nullable(Type.String({ description: domainText })),
    traffic_from_country: nullable(
      Type.String({ description: "Only visitors from this country. Null: all countries.", examples: [null, "DE"] }),
    ),
    traffic_from_country_name: nullable(
      Type.String({ description: "Display name of the country, or null.", examples: [null, "Germany"] }),
    ),
    traffic_from_city: nullable(
      Type.String({ description: "Only visitors from this city. Null: all cities.", examples: [null, "Berlin"] }),
    ),
    displayed_location: nullable(
      Type.String({ description: "Display name of the location, or null.", examples: [null, "Berlin, Germany"] }),
    ),
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
      description: "Only rules that contain this text, or match this expression, in `from`, `to` or `domain`.",
    }),
  ),
  regex_search: Type.Optional(
    Type.Unsafe<"true" | "false" | boolean>({
      enum: ["true", "false", true, false],
      default: "false",
      description: "Whether `search_query` is a regular expression (RE2).",
    }),
  ),
};

const Page = Type.Object({
  id: uuid("Id of the environment."),
  container_info: Type.Object({
    redirect_rules: Type.Object({
      rules: Type.Array(RedirectRule),
      redirect_rules_count: Type.Integer({ description: "Number of matches before paging.", examples: [1] }),
    }),
  }),
});

const tag = "Redirect rules";
const resource = { kind: "environment", from: "params.env_id" } as const;

export const listRedirectRules = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/redirect-rules",
  tag,
  summary: "List an environment's redirect rules",
  description: "Sorted by `key`; rules with equal keys are in the order in which they were added.",
  params: byEnvironment,
  query: Type.Object(paging),
  responses: { 200: result(["environment"], "A page of rules.", Page) },
  refusals: ["no_expression"],
  verb: "read",
  resource,
});

export const updateRedirectRules = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/redirect-rules",
  tag,
  summary: "Add, replace or remove redirect rules",
  description:
    "In force when this call returns. If several rules match a URL, the most specific one applies: a city before a country, a domain before all domains, a path before a regular expression; then the oldest one. Duplicates (same `domain`, `from` and location) and redirect loops are refused. In `rules_to_update`, a rule means the existing rule with the same `domain`, `from`, `to`, `type`, country and city.",
  params: byEnvironment,
  body: Type.Object(
    {
      action_type: Type.Enum(["NEW", "UPDATE", "DELETE", "DELETE_ALL"], {
        description:
          "`NEW`: add `new_value` or, if it is omitted, all of `rules_to_update`. `UPDATE`: replace the first of `rules_to_update` with `new_value`. `DELETE`: remove `rules_to_update`. `DELETE_ALL`: remove all rules.",
      }),
      rules_to_update: Type.Optional(
        Type.Array(RuleInput, { maxItems: maxRedirectRules, description: "Rules to remove, replace or add." }),
      ),
      new_value: Type.Optional(RuleInput),
      ...paging,
    },
    {
      title: "RedirectRulesUpdate",
      examples: [
        { action_type: "NEW", new_value: { from: "/old-page", to: "/new-page", type: "permanent", domain: null } },
      ],
    },
  ),
  responses: {
    200: result(["environment"], "The change is in force; a page of rules.", Page),
  },
  refusals: [
    "redirect_rule_missing",
    "redirect_rule_refused",
    "redirect_rule_duplicate",
    "redirect_rule_loop",
    "too_many_redirect_rules",
    "places_unknown",
    "no_expression",
  ],
  verb: "write",
  resource,
  changesLive: true,
});

export const testRedirectRules = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/redirect-rules/test",
  tag,
  summary: "Test which redirect rule matches a URL",
  description: "Evaluates the current rules. Nothing is requested from the site or changed.",
  params: byEnvironment,
  body: Type.Object({
    url: text(4_096, "A URL of the environment, or a path on its primary domain.", "https://example.com/old-page"),
    country: optional(2, "Country of the simulated visitor.", "DE"),
    city: optional(200, "City of the simulated visitor (English name).", "Berlin"),
  }),
  responses: {
    200: result(
      [],
      "The matching rule and the redirect; all three fields are null if no rule matches.",
      Type.Object({
        rule: nullable(RedirectRule),
        status: nullable(Type.Integer({ description: "HTTP status of the redirect.", examples: [301] })),
        location: nullable(Type.String({ description: "`Location` header of the redirect.", examples: ["/new-page"] })),
      }),
    ),
  },
  refusals: ["redirect_rule_refused"],
  verb: "write",
  resource,
});

export const exportRedirectRules = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/redirect-rules/csv",
  tag,
  summary: "Export redirect rules as CSV",
  description: "Returns all rules, in the order in which they were added, in the format of the import.",
  params: byEnvironment,
  responses: {
    200: result(
      ["csv"],
      "The rules as CSV.",
      Type.String({
        description: "CSV with a header line.",
        examples: ["from,to,type,domain\n/old-page,/new-page,permanent,\n"],
      }),
    ),
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
    "In force when this call returns. Either all rules are imported, or none. The first line has the names of the columns: `from`, `to` and optionally `type` (default: `permanent`), `domain`, `traffic_from_country`, `traffic_from_country_name`, `traffic_from_city` and `displayed_location`.",
  params: byEnvironment,
  body: Type.Object({
    csv: text(1_000_000, "The rules as CSV with a header line.", "from,to\n/old-page,/new-page\n"),
    replace: Type.Optional(Type.Boolean({ default: false, description: "Remove all existing rules first." })),
  }),
  responses: {
    200: result(
      [],
      "The rules are in force.",
      Type.Object({
        imported: Type.Integer({ description: "Number of imported rules.", examples: [1] }),
        redirect_rules_count: Type.Integer({
          description: "Number of rules that the environment has now.",
          examples: [1],
        }),
      }),
    ),
  },
  refusals: [
    "csv_unreadable",
    "redirect_rule_refused",
    "redirect_rule_duplicate",
    "redirect_rule_loop",
    "too_many_redirect_rules",
    "places_unknown",
  ],
  verb: "write",
  resource,
  changesLive: true,
});
