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
    display_name: line(100, "Name of the site for people. Unique in the company, in whatever case.", "Demo"),
    region: regionField,
    install_mode: Type.Optional(
      Type.Enum(["new", "plain", "clone"], {
        default: "plain",
        deprecated: true,
        description:
          "Decides nothing: this endpoint always installs WordPress. `clone` is refused; use `POST /sites/clone`.",
      }),
    ),
    ...wordpressFields,
  },
  { title: "SiteCreate" },
);

const identity = {
  id: uuid("Id of the site."),
  name: Type.String({
    description: "Unique short name; also the first label of its first address.",
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
  summary: "List the sites of a company",
  description: "A site is listed from the moment its creation has succeeded, oldest first.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company; by default the key's own.")),
    include_environments: Type.Optional(
      nullable(Type.Boolean({ default: true, description: "False leaves `environments` out." })),
    ),
    limit: limit("How many sites at most; without it, all."),
    offset,
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Only sites whose name or display name contains it, in whatever case.",
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
    "Creates a site with one environment, `live`, and a WordPress in it. Names are taken at once; the site can be read when the operation has succeeded, and its id is the operation's `data.idSite`. If the creation fails, nothing of it remains and the names are free again.",
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
    "Deletes the site with all its environments, files and databases. Everything is backed up before, while visitors go on reading and nothing can be written, and the site can be brought back until `restorable_until` (`GET /company/{id}/deleted-sites`); then all of its backups go too, whatever their kind; its names are free again at once. If the backup can't be made, the deletion fails and the site is there as before. With `without_backup` the site is deleted for good.",
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
