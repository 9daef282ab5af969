/** WordPress sites. */
import { Type } from "typebox";
import { Deletion, WithoutBackup } from "../backups/deletion.ts";
import { endpoint, pagedResult, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { after, limit, line, nullable, offset, uuid } from "../schema.ts";
import { Environment, EnvironmentBrief } from "./environments.ts";
import { siteLabels } from "./labels.ts";
import { regionField, siteRegion } from "./regions.ts";
import { wordpressFields } from "./wordpress.ts";

export const SiteCreate = Type.Object(
  {
    company: uuid("Id of the company that the site will belong to."),
    display_name: line(100, "Display name of the site. Unique within the company; case is ignored.", "Demo"),
    region: regionField,
    install_mode: Type.Optional(
      Type.Enum(["new", "plain", "clone"], {
        default: "plain",
        deprecated: true,
        description: "Ignored; WordPress is always installed. `clone` is refused: use `POST /sites/clone`.",
      }),
    ),
    ...wordpressFields,
  },
  { title: "SiteCreate" },
);

const identity = {
  id: uuid("Id of the site."),
  name: Type.String({
    description: "Unique short name; it is also the first label of the site's address.",
    examples: ["demo"],
  }),
  display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
};
const status = Type.String({ description: "Always `live`.", examples: ["live"] });

const ListedSite = Type.Object(
  { ...identity, region: siteRegion, status, siteLabels, environments: Type.Optional(Type.Array(Environment)) },
  { title: "ListedSite" },
);

const Site = Type.Object(
  {
    ...identity,
    company_id: uuid("Id of the company that it belongs to."),
    region: siteRegion,
    status,
    siteLabels,
    environments: Type.Array(EnvironmentBrief),
  },
  { title: "Site" },
);

const byId = Type.Object({ site_id: uuid("Id of the site.") });

export const listSites = endpoint({
  method: "GET",
  path: "/sites",
  tag: "Sites",
  summary: "List a company's sites",
  description:
    "Oldest first. A site is listed once its creation has succeeded. A long list is sent while it is read: a site that changes meanwhile is listed with its old or its new values.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company. Default: the key's company.")),
    include_environments: Type.Optional(
      nullable(Type.Boolean({ default: true, description: "Include `environments`." })),
    ),
    limit: limit("Maximum number of sites. Default: all."),
    offset,
    after: after("site"),
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Only sites whose name or display name contains this text; case is ignored.",
      }),
    ),
    label: Type.Optional(uuid("Only sites that have the label with this id.")),
  }),
  responses: {
    200: pagedResult(["company", "sites"], "The sites.", ListedSite),
  },
  refusals: ["unknown_cursor"],
  verb: "read",
  resource: { kind: "company", from: "query.company", underSiteScope: "filtered" },
});

export const createSite = endpoint({
  method: "POST",
  path: "/sites",
  tag: "Sites",
  summary: "Create a site",
  description:
    "Creates a site with WordPress in one environment, `live`. The site's id is `data.idSite` of the operation; the site can be read once the operation has succeeded. Its names are reserved at once. If the creation fails, nothing remains and the names are free again.",
  body: SiteCreate,
  responses: { 202: { description: "The site is being created.", body: Accepted } },
  refusals: [
    "site_name_taken",
    "company_limit_reached",
    "install_mode_clone",
    "unknown_region",
    "unknown_language",
    "no_package_source",
    "multisite_contradiction",
    "multisite_unsupported",
  ],
  verb: "write",
  resource: { kind: "company", from: "body.company", underSiteScope: "closed" },
  bucket: "creations",
  operation: "addSite",
});

export const getSite = endpoint({
  method: "GET",
  path: "/sites/{site_id}",
  tag: "Sites",
  summary: "Get a site",
  description: "Returns the site with its environments and their domains.",
  params: byId,
  responses: { 200: result(["site"], "The site.", Site) },
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});

export const deleteSite = endpoint({
  method: "DELETE",
  path: "/sites/{site_id}",
  tag: "Sites",
  summary: "Delete a site",
  description:
    "Deletes the site with all its environments, files and databases. Everything is backed up first, during which writes are refused; if the backup fails, nothing is deleted. The site can be restored until `restorable_until` (`GET /company/{id}/deleted-sites`); then all its backups are deleted. Its names are free at once. With `without_backup` the site is deleted for good.",
  params: byId,
  query: WithoutBackup,
  body: Deletion,
  responses: { 202: { description: "The site is being deleted.", body: Accepted } },
  verb: "delete",
  role: "admin",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "deleteSite",
});
