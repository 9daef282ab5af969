/** Domains of environments. */
import { Type } from "typebox";
import { endpoint, pagedResult, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { after, limit, noNul, nullable, offset, pem, uuid } from "../schema.ts";

const env_id = uuid("Id of the environment.");
const byEnvironment = Type.Object({ env_id });
const name = Type.String({
  description: "The domain name: in lower case, with A-labels (punycode), without a final dot.",
  examples: ["shop.example.com"],
});
const needsProof = Type.Boolean({
  description:
    "Whether it is served only once its TXT record proves ownership, because another company may own the name. Its DNS zone and certificate wait, too.",
  examples: [false],
});
const isActive = Type.Boolean({ description: "Whether the edge serves it.", examples: [true] });

export const DomainAdd = Type.Object(
  {
    domain_name: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: noNul,
      description:
        "The domain name. Upper case, a final dot and international characters are accepted; the name is stored in lower case with A-labels (punycode).",
      examples: ["example.com"],
    }),
    is_wildcardless: Type.Optional(
      Type.Boolean({ default: false, description: "Do not serve subdomains (`*.example.com`)." }),
    ),
    add_with_www_subdomain: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Also add the `www.` name as a separate domain. Not allowed with `is_wildcardless: true`.",
      }),
    ),
    setup_type: Type.Optional(
      Type.Enum(["quick", "avoid_downtime"], {
        default: "quick",
        description:
          "`quick`: serve the domain at once, unless ownership must be proven first; visitors see the site as soon as the name points here. `avoid_downtime`: serve it once ownership is proven; until then, leave the name pointing to its current server.",
      }),
    ),
    custom_ssl_key: Type.Optional(
      pem("Private key in PEM format. Only together with `custom_ssl_cert`. Stored encrypted and never shown again."),
    ),
    custom_ssl_cert: Type.Optional(
      pem("Certificate and its chain in PEM format, in any order. Only together with `custom_ssl_key`."),
    ),
  },
  { title: "DomainAdd", examples: [{ domain_name: "shop.example.com" }] },
);

export const addDomain = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "Add a domain to an environment",
  description:
    "Reserves the name for the environment as soon as this call returns, unless the operation fails; `data.result` is `{domains: [{id, name}]}`. `GET /sites/environments/domains/{site_domain_id}/verification-records` lists the DNS records that the domain needs. IP addresses, public suffixes, names of the installation and names in use are refused, and names that another company had in the last 30 days or can still restore. To claim such a name, publish the DNS record in the error and repeat the call. If the installation has several companies, a name that already points here, or whose registered domain another company uses or has used, is added but not served until its `record_to_publish` proves ownership; it is checked regularly.",
  params: byEnvironment,
  body: DomainAdd,
  responses: { 202: { description: "The domain is being added.", body: Accepted } },
  refusals: [
    "not_a_domain_name",
    "domain_reserved",
    "domain_taken",
    "www_without_wildcard",
    "custom_certificate_refused",
    "company_limit_reached",
  ],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "addDomain",
});

const DomainsDelete = Type.Object(
  {
    domain_ids: Type.Array(uuid("Id of a domain of the environment."), {
      minItems: 1,
      maxItems: 1_000,
      description: "Ids of the domains to remove, except the primary domain and the address from the installation.",
    }),
  },
  { title: "DomainsDelete" },
);

export const deleteDomains = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "Remove domains from an environment",
  description:
    "Removes all of the domains, or none. The edge stops serving them, and certificates that no other domain uses are deleted.",
  params: byEnvironment,
  body: DomainsDelete,
  responses: { 202: { description: "The domains are being removed.", body: Accepted } },
  refusals: ["not_of_this_environment", "domain_is_primary", "domain_is_temporary"],
  verb: "delete",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "deleteDomain",
});

const SiteDomain = Type.Object(
  {
    id: uuid("Id of the domain."),
    name,
    uses_provider_dns: Type.Boolean({ description: "Whether this installation is authoritative for its DNS." }),
    is_active: isActive,
    is_primary: Type.Boolean({ description: "Whether it is the address that WordPress uses.", examples: [true] }),
    is_wildcardless: Type.Boolean({ description: "Whether subdomains are excluded." }),
    setup_type: Type.Enum(["temporary", "quick", "avoid_downtime"], {
      description: "How it was added. `temporary`: the address that the installation gave the environment.",
      examples: ["quick"],
    }),
    is_verified: Type.Boolean({ description: "Whether ownership is proven, or needs no proof.", examples: [true] }),
    points_here: Type.Boolean({ description: "Whether its DNS points to this installation.", examples: [true] }),
    needs_proof: needsProof,
  },
  { title: "SiteDomain" },
);

export const listSiteDomains = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/domains",
  tag: "Domains",
  summary: "List an environment's domains",
  description: "Lists the primary domain first, then the others in the order in which they were added.",
  params: byEnvironment,
  responses: {
    200: result(["environment", "site_domains"], "The domains.", Type.Array(SiteDomain)),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

const WantedRecord = Type.Object(
  {
    name: Type.String({ description: "Name of the record, with a final dot.", examples: ["example.com."] }),
    value: Type.String({ description: "Value of the record; names have a final dot.", examples: ["203.0.113.7"] }),
    type: Type.Enum(["TXT", "CNAME", "A", "AAAA"], { description: "Type of the record.", examples: ["A"] }),
    is_required: Type.Boolean({ description: "False if the domain works without it.", examples: [true] }),
    last_seen: nullable(
      Type.Array(Type.String(), {
        description: "The values last found in DNS, or null if not checked yet.",
        examples: [["203.0.113.7"]],
      }),
    ),
    is_right: nullable(
      Type.Boolean({
        description: "Whether the value was found in DNS, or null if not checked yet.",
        examples: [true],
      }),
    ),
  },
  { title: "WantedRecord" },
);

const ownershipExample = {
  name: "_sitewright-verify.example.com.",
  value: "sitewright-verify=9f86d081884c7d659a2feaa0c55ad015",
  type: "TXT",
  is_required: true,
  last_seen: null,
  is_right: null,
};

export const getVerificationRecords = endpoint({
  method: "GET",
  path: "/sites/environments/domains/{site_domain_id}/verification-records",
  tag: "Domains",
  summary: "Get the DNS records that a domain needs",
  description:
    "`verification_records` are the TXT record that proves ownership, and the CNAME record that allows a certificate for subdomains. `pointing_records` are A and AAAA records for a registered domain, or a CNAME record for a subdomain. Each has the values last found in DNS. Domains are checked soon after they are added, then less and less often; this call triggers the next check early. A temporary domain needs no records.",
  params: Type.Object({ site_domain_id: uuid("Id of the domain.") }),
  responses: {
    200: result(
      ["site_domain"],
      "The records.",
      Type.Object({
        verification_records: Type.Array(WantedRecord, { examples: [[ownershipExample]] }),
        pointing_records: Type.Array(WantedRecord),
        is_verified: Type.Boolean({ description: "Whether ownership is proven, or needs no proof.", examples: [true] }),
        points_here: Type.Boolean({ description: "Whether it pointed here at the last check.", examples: [true] }),
        needs_proof: needsProof,
        last_checked_at: nullable(
          Type.Number({
            description: "When it was last checked. Milliseconds since 1970, or null if not checked yet.",
            examples: [1795190400000],
          }),
        ),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "domain", from: "params.site_domain_id" },
});

const PrimaryDomainChange = Type.Object(
  {
    domain_id: uuid("Id of a domain of the environment. The domain must be active."),
    run_search_and_replace: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Also replace the old address in posts, options and all other texts of the database.",
      }),
    ),
    confirm: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Confirms the change. Required if the domain does not point to this installation, because no one could open the site then.",
      }),
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
    "Moves WordPress to the domain: sets `home`, `siteurl` and, in a network, the addresses of its sites, with https if the edge has a certificate for the domain. The environment is backed up; the change is made on a copy, tested, and switched live at once. A domain that does not point here needs `confirm`. To switch to https once the certificate has arrived, send the current primary domain again. To go back, send the id of the environment's temporary domain.",
  params: byEnvironment,
  body: PrimaryDomainChange,
  responses: { 202: { description: "The primary domain is being changed.", body: Accepted } },
  refusals: ["not_of_this_environment", "domain_not_served", "network_needs_wildcard", "confirm_needed"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changePrimaryDomain",
});

export const listDomains = endpoint({
  method: "GET",
  path: "/domains",
  tag: "Domains",
  summary: "List a company's domains",
  description:
    "Lists the domains of all environments, in the order in which they were added. A long list is sent while it is read: a domain that changes meanwhile is listed with its old or its new values.",
  query: Type.Object({
    company: Type.Optional(uuid("Id of the company. Default: the key's company.")),
    limit: limit("Maximum number of domains. Default: all."),
    offset,
    after: after("domain"),
  }),
  responses: {
    200: pagedResult(
      ["company", "domains"],
      "The domains.",
      Type.Object(
        {
          id: uuid("Id of the domain."),
          name,
          site_id: nullable(uuid("Id of the site that it belongs to.")),
          is_active: isActive,
        },
        { title: "CompanyDomain" },
      ),
    ),
  },
  refusals: ["unknown_cursor"],
  verb: "read",
  resource: { kind: "company", from: "query.company", underSiteScope: "filtered" },
});

const forceHttpsType = Type.Enum(["ENABLED_FOR_ALL", "ENABLED_REDIRECT_TO_PRIMARY", "DISABLED"], {
  description:
    "`ENABLED_FOR_ALL`: HTTP requests are redirected to https on the same name. `ENABLED_REDIRECT_TO_PRIMARY`: they are redirected to https on the primary domain. `DISABLED`: they are served over HTTP.",
});

const forceHttpsStatus = Type.Object({ id: env_id, force_https_status: Type.Object({ type: forceHttpsType }) });

export const getForceHttps = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/force-https-status",
  tag: "Domains",
  summary: "Get the HTTPS redirect setting",
  description: "Returns what happens to HTTP requests. Default: `DISABLED`.",
  params: byEnvironment,
  responses: {
    200: result(["environment"], "How HTTP requests are handled.", forceHttpsStatus),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const setForceHttps = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/force-https-status",
  tag: "Domains",
  summary: "Change the HTTPS redirect setting",
  description:
    "In force when this call returns. Only names that a valid certificate covers are redirected. The primary domain must have a valid certificate.",
  params: byEnvironment,
  body: Type.Object({ type: forceHttpsType }, { title: "ForceHttps" }),
  responses: { 200: result(["environment"], "The setting is in force.", forceHttpsStatus) },
  refusals: ["no_certificate"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
