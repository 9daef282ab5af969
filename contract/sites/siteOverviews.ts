/** The sites of a company with what is known about each: versions, updates, risk and backups. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, dateTime, limit, nullable, offset, uuid } from "../schema.ts";
import { siteLabels } from "./labels.ts";

const LiveOverview = Type.Object(
  {
    id: uuid("Id of the environment."),
    address: Type.String({ description: "Where visitors reach it.", examples: ["http://demo.localhost:8081"] }),
    domain: Type.String({ description: "Its primary domain.", examples: ["demo.localhost"] }),
    state: Type.Enum(["ready", "busy", "awaits_rebuild"], {
      description:
        "`busy`: an operation is working on it. `awaits_rebuild`: the installation was restored, and its files are not back yet.",
    }),
    wordpress_version: nullable(Type.String({ description: "Null: there is no WordPress.", examples: ["6.9"] })),
    php_version: Type.String({ description: "PHP version.", examples: ["8.3"] }),
    updates: count("Number of plugins and themes for which there is an update.", 3),
    vulnerabilities: count("Number of plugins and themes with a known vulnerability.", 1),
    proven_restore_at: nullable(dateTime("When one of its backups was last restored for a test; null: never.")),
    picture_operation_id: nullable(
      Type.String({
        description:
          "The last update that took screenshots, for `GET /operations/{operation_id}/pictures`; null: there is none.",
        examples: ["plugins:update-54fb80af-576c-4fdc-ba4f-b596c83f15a1"],
      }),
    ),
  },
  { title: "LiveOverview" },
);

const SiteOverview = Type.Object(
  {
    id: uuid("Id of the site."),
    name: Type.String({ description: "Unique short name.", examples: ["demo"] }),
    display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
    created_at: dateTime("When the site was created."),
    siteLabels,
    environment_count: count("Number of its environments.", 2),
    live: nullable(LiveOverview),
  },
  { title: "SiteOverview" },
);

const versions = (name: string, examples: readonly string[]) =>
  Type.Array(Type.String(), {
    description: `The versions of ${name} in live environments.`,
    examples: [[...examples]],
  });

/** The values by which the list can be sorted. */
export const overviewOrders = ["name", "created", "wordpress", "php", "updates", "vulnerabilities", "proven"] as const;

export const listSiteOverviews = endpoint({
  method: "GET",
  path: "/company/{id}/site-overviews",
  tag: "Sites",
  summary: "List a company's sites with versions, updates, risk and backups",
  description:
    "Of each site's live environment. All filters must match. Sites that are equal in `order` are listed by name.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Only sites whose name or display name contains this text; case is ignored.",
      }),
    ),
    label: Type.Optional(uuid("Only sites that have the label with this id.")),
    state: Type.Optional(Type.Enum(["ready", "busy", "awaits_rebuild"], { description: "Only sites in this state." })),
    wordpress_version: Type.Optional(
      Type.String({ maxLength: 50, description: "Only sites with this version of WordPress." }),
    ),
    php_version: Type.Optional(Type.String({ maxLength: 50, description: "Only sites with this version of PHP." })),
    has_updates: Type.Optional(Type.Boolean({ description: "Only sites with updates, or only those without." })),
    is_vulnerable: Type.Optional(
      Type.Boolean({ description: "Only sites with known vulnerabilities, or only those without." }),
    ),
    is_proven: Type.Optional(
      Type.Boolean({
        description: "Only sites of which a backup was restored for a test in the last 30 days, or only the others.",
      }),
    ),
    order: Type.Optional(Type.Enum(overviewOrders, { default: "name", description: "Sorts by this value." })),
    descending: Type.Optional(Type.Boolean({ default: false, description: "Highest first." })),
    limit: limit("Maximum number of sites; values above 500 count as 500.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "site_overviews"],
      "The sites.",
      Type.Object({
        total: count("Number of matches before paging.", 1),
        wordpress_versions: versions("WordPress", ["6.9"]),
        php_versions: versions("PHP", ["8.3", "8.4"]),
        items: Type.Array(SiteOverview),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
