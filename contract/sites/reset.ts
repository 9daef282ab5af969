/** Beginning again with a site that is there. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { uuid } from "../schema.ts";
import { wordpressFields } from "./wordpress.ts";

export const SiteReset = Type.Object({ admin_password: wordpressFields.admin_password }, { title: "SiteReset" });

export const resetSite = endpoint({
  method: "POST",
  path: "/sites/{site_id}/reset-site",
  tag: "Sites",
  summary: "Reset a site",
  description:
    "Replaces everything in the site's live environment by a new WordPress: files, database and plugins. Title, language, kind of network, and login name and e-mail address of the oldest administrator are kept; the password is the one in the request. The new WordPress is built next to the site and tested, then the site is backed up and the switch is made at once. Other environments are not changed. If anything fails, the site stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: SiteReset,
  responses: { 202: { description: "The site is being reset.", body: Accepted } },
  verb: "delete",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "resetSite",
});
