/** Deleted sites that can be restored. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { siteRegion } from "../sites/regions.ts";
import { DeletedEnvironment, deletionFields } from "./deletedEnvironments.ts";

const DeletedSite = Type.Object(
  {
    id: uuid("Id of the site. It keeps this id when it is restored."),
    name: Type.String({ description: "Short name of the site.", examples: ["demo"] }),
    display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
    region: siteRegion,
    ...deletionFields,
    environments: Type.Array(DeletedEnvironment, {
      description: "The environments that were deleted with it, the live one first.",
    }),
  },
  { title: "DeletedSite" },
);

const id = uuid("Id of the company.");

export const listDeletedSites = endpoint({
  method: "GET",
  path: "/company/{id}/deleted-sites",
  tag: "Sites",
  summary: "List a company's deleted sites",
  description: "Lists the sites that can be restored, most recently deleted first.",
  params: Type.Object({ id }),
  responses: {
    200: result(["company", "deleted_sites"], "The deleted sites.", Type.Array(DeletedSite)),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});

export const restoreDeletedSite = endpoint({
  method: "POST",
  path: "/company/{id}/deleted-sites/{site_id}/restore",
  tag: "Sites",
  summary: "Restore a deleted site",
  description:
    "Restores the site and its environments under their old ids, with their files, databases, users and PHP versions. If a last backup is damaged, the newest intact one is used, and the activity log has a warning; `data.result.environments` says which backups were used. Remaining backups are listed again. If the site's name or one of its addresses is in use by now, send another display name: the new addresses then replace the old ones throughout the site. A failed restore can be repeated.",
  params: Type.Object({ id, site_id: uuid("Id of the deleted site.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "A new display name; name and addresses are derived from it. Default: the old names.", "Demo 2"),
      ),
    },
    { title: "DeletedSiteRestore" },
  ),
  responses: { 202: { description: "The site is being restored.", body: Accepted } },
  refusals: ["company_limit_reached", "being_brought_back", "site_name_taken"],
  verb: "write",
  resource: { kind: "deletedSite", from: "params.site_id" },
  changesLive: true,
  bucket: "creations",
  operation: "restoreDeletedSite",
});
