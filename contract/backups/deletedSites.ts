/** Sites that were deleted and can be brought back. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { DeletedEnvironment, whenDeleted } from "./deletedEnvironments.ts";

const DeletedSite = Type.Object(
  {
    id: uuid("Id of the site. It keeps this id when it is restored."),
    name: Type.String({ examples: ["demo"] }),
    display_name: Type.String({ examples: ["Demo"] }),
    region: Type.String({ examples: ["europe-west3"] }),
    ...whenDeleted,
    environments: Type.Array(DeletedEnvironment, {
      description: "Environments that were deleted with it, the live one first.",
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
  description: "Those that can be restored, the latest deletion first.",
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
    "Restores the site with its environments under their old ids, with the files, databases, users and PHP versions that they had. If the last backup is damaged, the newest intact one is used, and the activity log warns about it; `data.result.environments` says which backup was used. Backups that are still kept are listed again. If its name or an address is in use by now, send another display name: its addresses are then changed throughout the site. If the restore fails, it can be repeated.",
  params: Type.Object({ id, site_id: uuid("Id of the deleted site.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "A new display name, from which name and addresses are derived.", "Demo 2"),
      ),
    },
    { title: "DeletedSiteRestore" },
  ),
  responses: { 202: { description: "The site is being restored.", body: Accepted } },
  verb: "write",
  resource: { kind: "deletedSite", from: "params.site_id" },
  changesLive: true,
  bucket: "creations",
  operation: "restoreDeletedSite",
});
