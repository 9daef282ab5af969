/** WordPress sites. */
import { Type } from "typebox";
import { Deletion, WithoutBackup } from "../backups/deletion.ts";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { limit, line, nullable, offset, uuid } from "../schema.ts";
import { Environment, EnvironmentBrief } from "./environments.ts";
import { regionField } from "./regions.ts";
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
    description: "Unique short name; also the first label of its address.",
    examples: ["demo"],
  }),
  display_name: Type.String({ examples: ["Demo"] }),
};
const status = Type.String({ examples: ["live"] });

const siteLabels = Type.Array(Type.Object({ id: Type.String(), name: Type.String() }));

const ListedSite = Type.Object(
  { ...identity, status, siteLabels, environments: Type.Optional(Type.Array(Environment)) },
  { title: "ListedSite" },
);

const Site = Type.Object(
  {
    ...identity,
    company_id: uuid("The company that it belongs to."),
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
  description: "Oldest first. A site is listed once its creation has succeeded.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company. Default: the key's company.")),
    include_environments: Type.Optional(
      nullable(Type.Boolean({ default: true, description: "False omits `environments`." })),
    ),
    limit: limit("Maximum number of sites. Default: all."),
    offset,
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Only sites whose name or display name contains this text; case is ignored.",
      }),
    ),
  }),
  responses: {
    200: result(["company", "sites"], "The sites.", Type.Array(ListedSite)),
  },
  verb: "read",
  resource: { kind: "company", from: "query.company", underSiteScope: "filtered" },
});

export const createSite = endpoint({
  method: "POST",
  path: "/sites",
  tag: "Sites",
  summary: "Create a site",
  description:
    "Creates a site with one environment, `live`, with WordPress. Its names are reserved at once; the site can be read when the operation has succeeded. The operation's `data.idSite` is its id. If the creation fails, nothing remains and the names are free again.",
  body: SiteCreate,
  responses: { 202: { description: "The site is being created.", body: Accepted } },
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
  description: "The site with its environments and their domains.",
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
    "Deletes the site with all its environments, files and databases. Everything is backed up first; writes are refused meanwhile. The site can be restored until `restorable_until` (`GET /company/{id}/deleted-sites`); then all its backups are deleted. Its names are free at once. If the backup fails, nothing is deleted. With `without_backup` the site is deleted for good.",
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
