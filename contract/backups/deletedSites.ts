/** Sites that were deleted and can be brought back. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { DeletedEnvironment, whenDeleted } from "./deletedEnvironments.ts";

const DeletedSite = Type.Object(
  {
    id: uuid("Id of the site, before and afterwards."),
    name: Type.String({ examples: ["demo"] }),
    display_name: Type.String({ examples: ["Demo"] }),
    region: Type.String({ examples: ["europe-west3"] }),
    ...whenDeleted,
    environments: Type.Array(DeletedEnvironment, { description: "Those that went with it; the live one first." }),
  },
  { title: "DeletedSite" },
);

const id = uuid("Id of the company.");

export const listDeletedSites = endpoint({
  method: "GET",
  path: "/company/{id}/deleted-sites",
  tag: "Sites",
  summary: "List the deleted sites of a company",
  description: "Those that can be brought back, the newest deletion first.",
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
  summary: "Bring a deleted site back",
  description:
    "The site is there again with the environments that went with it, all under the same ids, with the files, the databases, the users and the versions of PHP that they had when it was deleted. Where the last backup is damaged, the newest one that is whole is taken, and the activity log warns of it; `data.result.environments` says which. Backups that are still kept are listed again. Where its name or an address has been taken meanwhile, this is refused, and may be asked for under another display name: its addresses are then changed everywhere in it. If anything fails, it can be brought back as before.",
  params: Type.Object({ id, site_id: uuid("Id of the deleted site.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "Another display name. The site's name and addresses follow from it.", "Demo 2"),
      ),
    },
    { title: "DeletedSiteRestore" },
  ),
  responses: { 202: { description: "The site is being brought back.", body: Accepted } },
  verb: "write",
  resource: { kind: "deletedSite", from: "params.site_id" },
  changesLive: true,
  bucket: "creations",
  operation: "restoreDeletedSite",
});
