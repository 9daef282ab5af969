/** Rules that send an environment's visitors elsewhere. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, pattern, uuid } from "../schema.ts";

const byEnvironment = Type.Object({ env_id: uuid("Id of the environment.") });
export const mostRedirectRules = 10_000;
/** Rules whose `from` is an expression. */
export const mostExpressions = 1_000;
/** Expressions of which nobody can say what fitting paths begin with. */
export const mostOpenExpressions = 100;

const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");
const text = (maxLength: number, description: string, example: string) =>
  Type.String({ maxLength, pattern: noNul, description, examples: [example] });
const optional = (maxLength: number, description: string, example: string) =>
  Type.Optional(nullable(text(maxLength, description, example)));

const type = Type.Enum(["permanent", "redirect"], { description: "`permanent`: 301. `redirect`: 302." });
const from = text(
  1_000,
  "A path, which means the same with and without a slash at its end; or an expression of RE2, which is looked for in the path: `^/blog/(.*)$`.",
  "/old-page",
);
const to = text(
  2_000,
  "A path, or an address with http:// or https://, with `$1` for what the first group of `from` found. The query of the visitor is kept.",
  "/new-page",
);
const domainText = "The domain that it is for; null: every domain of the environment.";
const country = "Two letters of ISO 3166: only visitors from there. Needs a database of places (`SITEWRIGHT_GEOIP`).";

const RuleWish = Type.Object(
  {
    from,
    to,
    type,
    domain: nullable(text(253, domainText, "shop.example.com")),
    traffic_from_country: optional(2, country, "DE"),
    traffic_from_country_name: optional(200, "For people; the country's name where it is left out.", "Germany"),
    traffic_from_city: optional(200, "In English: only visitors from there.", "Berlin"),
    displayed_location: optional(500, "For people; city and country where it is left out.", "Berlin, Germany"),
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
  limit: limit("How many rules to give at most.", { default: 10 }),
  offset,
  key: Type.Optional(Type.Enum(["domain", "from", "to", "type"], { default: "domain", description: "To sort by." })),
  order: Type.Optional(Type.Enum(["ascend", "descend"], { default: "ascend", description: "Which way." })),
  search_query: Type.Optional(
    Type.String({
      maxLength: 1_000,
      pattern: noNul,
      default: "",
      description: "Only rules with it in `from`, `to` or `domain`.",
    }),
  ),
  regex_search: Type.Optional(
    Type.Unsafe<"true" | "false" | boolean>({
      enum: ["true", "false", true, false],
      default: "false",
      description: "Whether `search_query` is an expression.",
    }),
  ),
};

const Page = Type.Object({
  id: uuid("Id of the environment."),
  container_info: Type.Object({
    redirect_rules: Type.Object({
      rules: Type.Array(RedirectRule),
      redirect_rules_count: Type.Integer({ description: "How many there are, before paging." }),
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
  description:
    "A page of them, sorted by `key`; rules that are the same by it stand in the order in which they were added.",
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
  summary: "Add, replace and remove redirect rules of an environment",
  description:
    "In force when this is answered. `NEW` adds `new_value`, or all of `rules_to_update` where it is left out; `UPDATE` puts `new_value` in the place of the rule that equals the first of `rules_to_update`; `DELETE` removes those that equal one of `rules_to_update`; `DELETE_ALL` removes all. Rules equal each other by `domain`, `from`, `to`, `type`, country and city. Of several rules that fit a visitor the one that says more goes first: a city before a country, a domain before every domain, a path before an expression, and then the older. A rule for the same domain, `from` and place as another is refused, and so is one by which visitors would be sent in a ring.",
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
  summary: "Tell what the redirect rules answer to an address",
  description: "By the rules that are kept; nobody is asked, and nothing is changed.",
  params: byEnvironment,
  body: Type.Object({
    url: text(4_096, "An address of the environment, or a path at its primary domain.", "https://example.com/old-page"),
    country: optional(2, "As if the visitor came from there.", "DE"),
    city: optional(200, "As if the visitor came from there; in English.", "Berlin"),
  }),
  responses: {
    200: result(
      [],
      "What a visitor gets; all three null where no rule answers.",
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
  summary: "Export the redirect rules of an environment as CSV",
  description: "All of them in the order in which they were added, with a line of names; what the import takes.",
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
  summary: "Import redirect rules of an environment from CSV",
  description:
    "The first line names the columns: `from` and `to`, and as you like `type` (`permanent` where it is left out), `domain` and those of places. All or none are taken; in force when this is answered.",
  params: byEnvironment,
  body: Type.Object({
    csv: text(1_000_000, "The text.", "from,to\n/old-page,/new-page\n"),
    replace: Type.Optional(Type.Boolean({ default: false, description: "Whether all others go." })),
  }),
  responses: {
    200: result(
      [],
      "They are in force.",
      Type.Object({ imported: Type.Integer(), redirect_rules_count: Type.Integer() }),
    ),
  },
  verb: "write",
  resource,
  changesLive: true,
});
