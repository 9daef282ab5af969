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
    "Gives the site's live environment a fresh WordPress in the place of everything that is in it: its files, its database and its plugins. The title, the login name and e-mail address of the administrator who has been there longest, the language and the kind of network stay; the password is the one given here. The fresh WordPress is built beside the site and tried out; then the site is backed up, and visitors are moved at once. Other environments are not touched. If anything fails, the site stays as it was.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: SiteReset,
  responses: { 202: { description: "The site is being reset.", body: Accepted } },
  verb: "delete",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "resetSite",
});
