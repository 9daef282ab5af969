/** Domains of environments, their certificates, and HTTPS. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { ownDomain } from "../world/demoSites.ts";
import { send } from "../world/events.ts";
import { Refusal } from "../world/failures.ts";
import { addressOf, allPlaces, domainOf, environmentOf, placeOf } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import { start } from "../world/operations.ts";
import type { DemoDomain, DemoEnvironment, World } from "../world/world.ts";
import { newZone } from "../world/zones.ts";
import { targetOf } from "./tools.ts";

const day = 86_400_000;
/** How long the demo takes to see a new domain's records. */
const verifyMilliseconds = 8_000;

function requireFreeName(world: World, name: string): void {
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/.test(name) || name.length > 253) {
    const message = "Write a domain name such as shop.example.com, without http:// and without a path.";
    throw new Refusal("not_a_domain_name", message, { field: "domain_name" });
  }
  if (name.endsWith(`.${ownDomain}`)) {
    throw new Refusal("domain_reserved", `Names below ${ownDomain} are given by Sitewright.`, { field: "domain_name" });
  }
  if (allPlaces(world).some(({ environment }) => environment.domains.some((domain) => domain.name === name))) {
    const details = { domain_name: name, verification_record: proofOf(name) };
    throw new Refusal("domain_taken", `${name} is in use already.`, details);
  }
}

const proofOf = (name: string) => ({
  name: `_sitewright-verify.${name}.`,
  type: "TXT" as const,
  value: "sitewright-verify=9f86d081884c7d659a2feaa0c55ad015",
});

function add(world: World, environmentId: string, body: Parameters<Calls<World>["addDomain"]>[1]["body"]): string {
  const { environment, name, target } = targetOf(world, environmentId);
  const first = body.domain_name.toLowerCase().replace(/\.$/, "");
  const names = body.add_with_www_subdomain === true ? [first, `www.${first}`] : [first];
  if (body.add_with_www_subdomain === true && body.is_wildcardless === true) {
    const fields = ["add_with_www_subdomain", "is_wildcardless"];
    throw new Refusal("www_without_wildcard", "The www name can't be added to a domain without its subdomains.", {
      fields,
    });
  }
  for (const one of names) requireFreeName(world, one);
  const domains = names.map(
    (one): DemoDomain => ({
      ...{ id: newId(), name: one, setup: body.setup_type ?? "quick" },
      isWildcardless: body.is_wildcardless === true,
      isVerified: false,
      pointsHere: false,
      certificate: body.custom_ssl_cert === undefined ? null : "custom",
    }),
  );
  const apply = () => {
    for (const domain of domains) {
      environment.domains.push(domain);
      world.zones.push(newZone(domain.name, world.clock.now()));
      send(world, "domain.added", { domain_id: domain.id, environment_id: environmentId, name: domain.name });
      world.clock.later(verifyMilliseconds, () => verify(world, environmentId, domain));
    }
    return { domains: domains.map((domain) => ({ id: domain.id, name: domain.name, record_to_publish: null })) };
  };
  return start(world, { ...target, kind: "addDomain", text: `Add ${names.join(" and ")} to ${name}`, apply });
}

/** In the demo, the owner of every domain publishes its records at once. */
function verify(world: World, environmentId: string, domain: DemoDomain): void {
  domain.isVerified = true;
  domain.pointsHere = true;
  domain.certificate ??= "acme";
  send(world, "domain.verified", { domain_id: domain.id, environment_id: environmentId, name: domain.name });
}

function remove(world: World, environmentId: string, ids: readonly string[]): string {
  const { environment, name, target } = targetOf(world, environmentId);
  const others = ids.filter((id) => !environment.domains.some((domain) => domain.id === id));
  if (others.length > 0) {
    throw new Refusal("not_of_this_environment", "Some of the domains belong to another environment.", { ids: others });
  }
  const chosen = environment.domains.filter(({ id }) => ids.includes(id));
  for (const { id, setup } of chosen) {
    if (id === environment.primaryDomainId) {
      const message = "The primary domain can't be removed. Make another domain the primary one first.";
      throw new Refusal("domain_is_primary", message, { domain_id: id });
    }
    if (setup === "temporary") {
      const message = "The address that Sitewright gave the environment can't be removed.";
      throw new Refusal("domain_is_temporary", message, { domain_id: id });
    }
  }
  const apply = () => {
    for (const domain of chosen) environment.domains.splice(environment.domains.indexOf(domain), 1);
    send(world, "domain.deleted", { environment_id: environmentId });
    return null;
  };
  const text = `Remove ${chosen.map((domain) => domain.name).join(", ")} from ${name}`;
  return start(world, { ...target, kind: "deleteDomain", text, apply });
}

const siteDomain = (domain: DemoDomain, { primaryDomainId }: DemoEnvironment) => ({
  ...{ id: domain.id, name: domain.name },
  uses_provider_dns: domain.setup !== "temporary",
  is_active: domain.isVerified,
  is_primary: domain.id === primaryDomainId,
  is_wildcardless: domain.isWildcardless,
  setup_type: domain.setup,
  is_verified: domain.isVerified,
  points_here: domain.pointsHere,
  needs_proof: false,
});

function certificateView(world: World, { name, certificate }: DemoDomain) {
  const now = world.clock.now();
  const waiting = {
    is_under_way: true,
    next_try_at: now + 60_000,
    failures: 0,
    last_problem: null,
    limited_until: null,
  };
  if (certificate === null) return { certificate: null, order: waiting };
  return {
    certificate: {
      source: certificate,
      names: [name],
      issuer: certificate === "acme" ? "Demo certificate authority" : "Your certificate authority",
      fingerprint: "3F:0A:9C:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00",
      not_before: now - 20 * day,
      not_after: now + 70 * day,
      is_served: true,
    },
    order: null,
  };
}

export const domainCalls = {
  listDomains: (world, { query: { limit, offset = 0 } }) => {
    const all = allPlaces(world).flatMap(({ site, environment }) =>
      environment.domains.map(({ id, name, isVerified }) => ({ id, name, site_id: site.id, is_active: isVerified })),
    );
    const items = all.slice(offset, limit === undefined ? undefined : offset + limit);
    return { version: "", read: async () => ({ items, next: null }) };
  },
  listSiteDomains: (world, { params }) => {
    const environment = environmentOf(world, params.env_id);
    return environment.domains.map((domain) => siteDomain(domain, environment));
  },
  addDomain: (world, { params, body }) => add(world, params.env_id, body),
  deleteDomains: (world, { params, body }) => remove(world, params.env_id, body.domain_ids),
  changePrimaryDomain: (world, { params, body: { domain_id } }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const domain = environment.domains.find(({ id }) => id === domain_id);
    if (domain === undefined) {
      throw new Refusal("not_of_this_environment", "The domain belongs to another environment.", { ids: [domain_id] });
    }
    if (!domain.isVerified) {
      const message = `${domain.name} is not served yet, so it can't be the primary domain.`;
      throw new Refusal("domain_not_served", message, { domain_id });
    }
    const apply = () => {
      environment.primaryDomainId = domain_id;
      return { address: addressOf(environment) };
    };
    const text = `Make ${domain.name} the primary domain of ${name}`;
    return start(world, { ...target, kind: "changePrimaryDomain", text, apply });
  },
  getVerificationRecords: (world, { params }) => {
    const { domain } = domainOf(world, params.site_domain_id);
    const { name, isVerified, pointsHere } = domain;
    const seen = (value: string, isSeen: boolean) => ({ last_seen: isSeen ? [value] : [], is_right: isSeen });
    const proof = proofOf(name);
    const address = "203.0.113.10";
    return {
      verification_records: [{ ...proof, is_required: false, ...seen(proof.value, isVerified) }],
      pointing_records: [
        { name: `${name}.`, value: address, type: "A", is_required: true, ...seen(address, pointsHere) },
      ],
      is_verified: isVerified,
      points_here: pointsHere,
      needs_proof: false,
      last_checked_at: world.clock.now() - 20_000,
    };
  },
  getCertificate: (world, { params }) => certificateView(world, domainOf(world, params.site_domain_id).domain),
  replaceCertificate: (world, { params, body }) => {
    const { site, domain } = domainOf(world, params.site_domain_id);
    if (!body.custom_ssl_cert.includes("BEGIN CERTIFICATE")) {
      const message = "This is no certificate in PEM format. It begins with -----BEGIN CERTIFICATE-----.";
      throw new Refusal("custom_certificate_refused", message, { field: "custom_ssl_cert" });
    }
    domain.certificate = "custom";
    record(world, { type: "replaceCertificate", siteId: site.id, text: `Replace the certificate of ${domain.name}` });
    return certificateView(world, domain);
  },
  removeCertificate: (world, { params }) => {
    const { site, domain } = domainOf(world, params.site_domain_id);
    domain.certificate = "acme";
    record(world, { type: "removeCertificate", siteId: site.id, text: `Remove the certificate of ${domain.name}` });
    return certificateView(world, domain);
  },
  getForceHttps: (world, { params }) => {
    const { id, settings } = environmentOf(world, params.env_id);
    return { id, force_https_status: { type: settings.forceHttps } };
  },
  setForceHttps: (world, { params, body: { type } }) => {
    const { site, environment } = placeOf(world, params.env_id);
    environment.settings.forceHttps = type;
    record(world, { type: "setForceHttps", siteId: site.id, text: `Change forced HTTPS of ${site.displayName}` });
    return { id: environment.id, force_https_status: { type } };
  },
} satisfies Partial<Calls<World>>;
