/** Creating sites without WordPress, and cloning sites. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { regionField } from "./regions.ts";

const company = uuid("Id of the company that the site will belong to.");
const displayName = line(100, "Display name of the site. Unique within the company; case is ignored.", "Demo");

export const PlainSiteCreate = Type.Object(
  { company, display_name: displayName, region: regionField },
  { title: "PlainSiteCreate" },
);

export const createPlainSite = endpoint({
  method: "POST",
  path: "/sites/plain",
  tag: "Sites",
  summary: "Create a site without WordPress",
  description: "Creates a site whose live environment has PHP and an empty database, without WordPress.",
  body: PlainSiteCreate,
  responses: { 202: { description: "The site is being created.", body: Accepted } },
  refusals: ["unknown_region", "site_name_taken", "company_limit_reached"],
  verb: "write",
  resource: { kind: "company", from: "body.company", underSiteScope: "closed" },
  bucket: "creations",
  operation: "addPlainSite",
});

export const SiteClone = Type.Object(
  {
    company,
    display_name: displayName,
    source_env_id: uuid("Id of the environment to copy, from the same company."),
  },
  { title: "SiteClone" },
);

export const cloneSite = endpoint({
  method: "POST",
  path: "/sites/clone",
  tag: "Sites",
  summary: "Clone a site",
  description:
    "Creates a site whose live environment is a copy of an environment of the company, with its files, database and PHP version, at a new address. The source stays available.",
  body: SiteClone,
  responses: { 202: { description: "The site is being cloned.", body: Accepted } },
  refusals: ["site_name_taken", "company_limit_reached"],
  verb: "write",
  resource: { kind: "company", from: "body.company", underSiteScope: "closed" },
  bucket: "creations",
  operation: "cloneSite",
});
