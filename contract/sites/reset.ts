/** Resetting a site to a new WordPress. */
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
    "Replaces files, database and plugins of the site's live environment with a new WordPress. These are kept: title, language, kind of network, and the login name and e-mail address of the oldest administrator; the password is set to the one in the request. The new WordPress is built next to the site and tested, the site is backed up, and the new WordPress is switched live at once. Other environments are not changed. If anything fails, the site stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: SiteReset,
  responses: { 202: { description: "The site is being reset.", body: Accepted } },
  verb: "delete",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "resetSite",
});
