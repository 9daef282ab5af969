/** The names under which visitors find an environment. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, pattern, uuid } from "../schema.ts";

const env_id = uuid("Id of the environment.");
const byEnvironment = Type.Object({ env_id });
const name = Type.String({
  description: "In lower case, as A-labels, without a final dot.",
  examples: ["shop.example.com"],
});
const isActive = Type.Boolean({ description: "Whether the edge answers for it." });

const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");

/** A key and a chain of certificates have some kilobytes. */
const pem = (description: string) =>
  Type.String({ minLength: 1, maxLength: 65_536, pattern: noNul, description, examples: ["-----BEGIN …"] });

export const DomainAdd = Type.Object(
  {
    domain_name: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: noNul,
      description: "Also with capitals, a final dot, or letters of any language, which are kept as A-labels.",
      examples: ["example.com"],
    }),
    is_wildcardless: Type.Optional(
      Type.Boolean({ default: false, description: "True: names below it (`*.example.com`) do not belong to it." }),
    ),
    add_with_www_subdomain: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Adds `www.` before it as a domain of its own; not together with `is_wildcardless: true`.",
      }),
    ),
    setup_type: Type.Optional(
      Type.Enum(["quick", "avoid_downtime"], {
        default: "quick",
        description:
          "`quick`: served at once, so that visitors see the site as soon as the name points here. `avoid_downtime`: served when ownership is proven, so that the name can stay where it is until then.",
      }),
    ),
    custom_ssl_key: Type.Optional(
      pem("Private key, PEM. Only together with `custom_ssl_cert`. Never shown again, and kept encrypted."),
    ),
    custom_ssl_cert: Type.Optional(pem("Certificate with its chain, PEM, in whatever order.")),
  },
  { title: "DomainAdd" },
);

export const addDomain = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "Add a domain to an environment",
  description:
    "The name belongs to the environment from the moment of the 202 on, unless the operation fails; `data.result` is `{domains: [{id, name}]}`. What it needs in DNS is told by `GET /sites/environments/domains/{site_domain_id}/verification-records`. Refused are addresses, public suffixes, names of the installation, and names that are in use: whoever rules over one publishes the record that the refusal names and asks again.",
  params: byEnvironment,
  body: DomainAdd,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "addDomain",
});

export const DomainsDelete = Type.Object(
  {
    domain_ids: Type.Array(uuid("Id of a domain of the environment."), {
      minItems: 1,
      maxItems: 1_000,
      description: "Not the primary one, and not the one from the installation.",
    }),
  },
  { title: "DomainsDelete" },
);

export const deleteDomains = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "Remove domains from an environment",
  description: "All of them or none. The edge answers for them no more, and certificates that nothing else needs go.",
  params: byEnvironment,
  body: DomainsDelete,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "delete",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "deleteDomain",
});

const SiteDomain = Type.Object(
  {
    id: uuid("Id of the domain, the same everywhere."),
    name,
    uses_provider_dns: Type.Boolean({ description: "Whether the world asks this installation for its DNS records." }),
    is_active: isActive,
    is_primary: Type.Boolean({ description: "WordPress knows itself by this one." }),
    is_wildcardless: Type.Boolean({ description: "Names below it do not belong to it." }),
    setup_type: Type.Enum(["temporary", "quick", "avoid_downtime"], {
      description: "`temporary`: the name that the environment has from the installation.",
    }),
    is_verified: Type.Boolean({ description: "Ownership was proven, or needs no proof." }),
    points_here: Type.Boolean({ description: "It has been seen to point here." }),
  },
  { title: "SiteDomain" },
);

export const listSiteDomains = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "List the domains of an environment",
  description: "The primary one first, then as they were added.",
  params: byEnvironment,
  responses: {
    200: result(["environment", "site_domains"], "The domains.", Type.Array(SiteDomain)),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

const WantedRecord = Type.Object(
  {
    name: Type.String({ description: "Absolute: with a final dot.", examples: ["example.com."] }),
    value: Type.String({ description: "Names are absolute.", examples: ["203.0.113.7"] }),
    type: Type.Enum(["TXT", "CNAME", "A", "AAAA"]),
    is_required: Type.Boolean({ description: "False: the domain is right without it." }),
    last_seen: nullable(
      Type.Array(Type.String(), { description: "What DNS had there; null where nobody has looked yet." }),
    ),
    is_right: nullable(Type.Boolean({ description: "Whether the value was among them." })),
  },
  { title: "WantedRecord" },
);

export const getVerificationRecords = endpoint({
  method: "GET",
  path: "/sites/environments/domains/{site_domain_id}/verification-records",
  tag: "Domains",
  summary: "Tell what a domain needs in DNS",
  description:
    "`verification_records`: the TXT record that proves ownership, and the CNAME by which a certificate for the names below it can be had. `pointing_records`: A and AAAA for what is registered itself, a CNAME for a name below it. Each with what was last seen. Domains are looked at soon after they are added, then less and less often; asking here brings the next look forward. A temporary domain needs nothing.",
  params: Type.Object({ site_domain_id: uuid("Id of the domain.") }),
  responses: {
    200: result(
      ["site_domain"],
      "The records.",
      Type.Object({
        verification_records: Type.Array(WantedRecord),
        pointing_records: Type.Array(WantedRecord),
        is_verified: Type.Boolean({ description: "Ownership was proven, or needs no proof." }),
        points_here: Type.Boolean({ description: "It pointed here at the last look." }),
        last_checked_at: nullable(
          Type.Number({ description: "Milliseconds since 1970; null where nobody has looked yet." }),
        ),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "domain", from: "params.site_domain_id" },
});

export const PrimaryDomainChange = Type.Object(
  {
    domain_id: uuid("Id of a domain of the environment that the edge answers for."),
    run_search_and_replace: Type.Optional(
      Type.Boolean({ default: false, description: "Also in posts, options and all other texts of the database." }),
    ),
  },
  { title: "PrimaryDomainChange" },
);

export const changePrimaryDomain = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/change-primary-domain",
  tag: "Domains",
  summary: "Change the primary domain of an environment",
  description:
    "WordPress gets the new address: `home`, `siteurl`, and in a network those of its sites; https where the edge has a certificate for it now. The environment is backed up, the change is made beside the live site, tried out, and put in place by one rename. The domain that is the primary one already may be sent again, for example to go over to https when its certificate has come.",
  params: byEnvironment,
  body: PrimaryDomainChange,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changePrimaryDomain",
});

export const listDomains = endpoint({
  method: "GET",
  path: "/domains",
  tag: "Domains",
  summary: "List the domains of a company",
  description: "Of all its environments, as they were added.",
  query: Type.Object({ company: Type.Optional(uuid("Id of the company; by default the key's own.")) }),
  responses: {
    200: result(
      ["company", "domains"],
      "The domains.",
      Type.Array(
        Type.Object(
          {
            id: uuid("Id of the domain, the same everywhere."),
            name,
            site_id: nullable(uuid("The site that it leads to.")),
            is_active: isActive,
          },
          { title: "CompanyDomain" },
        ),
      ),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "query.company", underSiteScope: "filtered" },
});

const forceHttpsType = Type.Enum(["ENABLED_FOR_ALL", "ENABLED_REDIRECT_TO_PRIMARY", "DISABLED"], {
  description:
    "`ENABLED_FOR_ALL`: who comes by http is sent to the same name by https. `ENABLED_REDIRECT_TO_PRIMARY`: to the primary domain. `DISABLED`: answered.",
});

const forceHttpsStatus = Type.Object({ id: env_id, force_https_status: Type.Object({ type: forceHttpsType }) });

export const getForceHttps = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/force-https-status",
  tag: "Domains",
  summary: "Tell whether visitors are sent to https",
  description: "`DISABLED` until somebody decides otherwise.",
  params: byEnvironment,
  responses: {
    200: result(["environment"], "What becomes of requests by http.", forceHttpsStatus),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const setForceHttps = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/force-https-status",
  tag: "Domains",
  summary: "Decide whether visitors are sent to https",
  description:
    "In force when it is answered. Only names that a valid certificate covers are ever redirected, and nothing is forced while the primary domain has none.",
  params: byEnvironment,
  body: Type.Object({ type: forceHttpsType }, { title: "ForceHttps" }),
  responses: { 200: result(["environment"], "It is in force.", forceHttpsStatus) },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
