/** WordPress sites. */
import { Type } from "typebox";
import { endpoint } from "./endpoint.ts";
import { Environment, EnvironmentBrief } from "./environments.ts";
import { Accepted } from "./operations.ts";
import { limit, line, nullable, offset, pattern, uuid } from "./schema.ts";

/** What WordPress lets a user name be made of, in its strict form. */
const userNamePattern = pattern(
  "^[A-Za-z0-9_.@-]+(?: [A-Za-z0-9_.@-]+)*$",
  "must be made of letters, digits, _, ., -, @ and single spaces inside",
);

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
/** What WordPress takes for an e-mail address: ASCII, and a domain of at least two labels. */
const emailPattern = pattern(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`, "must be an e-mail address");

const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }));
const notYet = "Plugins can't be installed while a site is created yet: send false or leave it out.";

export const SiteCreate = Type.Object(
  {
    company: uuid("Id of the company that the site will belong to."),
    display_name: line(100, "Name of the site for people. Unique in the company, in whatever case.", "Demo"),
    region: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "One of `GET /company/{id}/available-regions`.",
      examples: ["europe-west3"],
    }),
    install_mode: Type.Optional(
      Type.Enum(["new", "plain", "clone"], {
        default: "plain",
        deprecated: true,
        description:
          "Decides nothing: this endpoint always installs WordPress. `clone` is refused; use `POST /sites/clone`.",
      }),
    ),
    admin_email: Type.String({
      minLength: 6,
      maxLength: 100,
      format: "email",
      pattern: emailPattern,
      description: "E-mail address of the WordPress administrator.",
      examples: ["ada@example.com"],
    }),
    admin_password: line(
      255,
      "Password of the WordPress administrator. It is never stored, logged or returned.",
      "correct horse battery staple",
    ),
    admin_user: Type.String({
      minLength: 1,
      maxLength: 60,
      pattern: userNamePattern,
      description:
        "Login name of the WordPress administrator: letters, digits, `_`, `.`, `-`, `@` and single spaces inside.",
      examples: ["ada"],
    }),
    site_title: line(200, "Title of the site, shown to its visitors exactly as given.", "Ada's notes"),
    wp_language: Type.String({
      minLength: 2,
      maxLength: 30,
      description: "Locale of WordPress; which ones can be installed depends on the installation.",
      examples: ["en_US"],
    }),
    is_multisite: optionalFlag("Installs WordPress as a network of sites in subdirectories."),
    is_subdomain_multisite: optionalFlag("Makes the network one of subdomains."),
    woocommerce: optionalFlag(notYet),
    wordpressseo: optionalFlag(notYet),
    wordpress_plugin_edd: optionalFlag(notYet),
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
    200: {
      description: "The sites.",
      body: Type.Object({ company: Type.Object({ sites: Type.Array(ListedSite) }) }),
    },
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
  responses: { 200: { description: "The site.", body: Type.Object({ site: Site }) } },
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});

export const deleteSite = endpoint({
  method: "DELETE",
  path: "/sites/{site_id}",
  tag: "Sites",
  summary: "Delete a site",
  description: "Deletes the site with all its environments, files and databases, for good.",
  params: byId,
  responses: { 202: { description: "The site is being deleted.", body: Accepted } },
  verb: "delete",
  role: "admin",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "deleteSite",
});
