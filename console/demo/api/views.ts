/** How the API shows sites and environments. */
import { addressOf, isoOrNull, liveOf, primaryOf } from "../world/find.ts";
import { isBusy } from "../world/operations.ts";
import type { DemoDomain, DemoEnvironment, DemoSite, ResultOf, World } from "../world/world.ts";

export const labelsOf = ({ labels }: World, { labels: ids }: DemoSite) =>
  labels.filter(({ id }) => ids.has(id)).map(({ id, name }) => ({ id, name }));

const domainView = ({ id, name, isVerified }: DemoDomain, site: DemoSite) => ({
  ...{ id, name },
  type: "live",
  site_id: site.id,
  is_active: isVerified,
});

/** An environment in its long form. */
export function environmentView(world: World, site: DemoSite, environment: DemoEnvironment) {
  const { id, name, displayName, isPremium, domains, wordpress, php, settings } = environment;
  return {
    ...{ id, name, display_name: displayName, is_premium: isPremium },
    is_blocked: isBusy(world, id),
    address: addressOf(environment),
    id_edge_cache: null,
    cdn_cache_id: null,
    is_opt_out_from_automatic_php_update: settings.staysOnPhp,
    domains: domains.map((domain) => domainView(domain, site)),
    primaryDomain: domainView(primaryOf(environment), site),
    web_root: `/www/${site.name}/${name}/public`,
    image_optimization_type: null,
    is_additional_sftp_accounts_enabled: false,
    wordpress_version: wordpress,
    ssh_connection: { ssh_port: "0", ssh_ip: { external_ip: "203.0.113.10" } },
    container_info: { id, php_engine_version: `php${php}` },
  } satisfies ResultOf<"listEnvironments">[number];
}

export function siteView(world: World, site: DemoSite) {
  const { id, name, displayName, environments } = site;
  return {
    ...{ id, name, display_name: displayName, company_id: world.company.id },
    region: "this-machine",
    status: "live",
    siteLabels: labelsOf(world, site),
    environments: environments.map((environment) => environmentView(world, site, environment)),
  } satisfies ResultOf<"getSite">;
}

/** A site and the state of its live environment. */
export function overviewOf(world: World, site: DemoSite) {
  const { id, name, displayName, createdAt, environments } = site;
  const live = liveOf(site);
  return {
    ...{ id, name, display_name: displayName },
    created_at: new Date(createdAt).toISOString(),
    siteLabels: labelsOf(world, site),
    environment_count: environments.length,
    live: live === undefined ? null : liveView(world, live),
  } satisfies ResultOf<"listSiteOverviews">["items"][number];
}

function liveView(world: World, live: DemoEnvironment) {
  const { id, wordpress, php, packages, backups, pictured } = live;
  const proven = backups.map(({ provenAt }) => provenAt ?? 0);
  return {
    id,
    address: addressOf(live),
    domain: primaryOf(live).name,
    state: isBusy(world, id) ? ("busy" as const) : ("ready" as const),
    wordpress_version: wordpress,
    php_version: php,
    updates: packages.filter(({ newest }) => newest !== undefined).length,
    vulnerabilities: packages.filter(({ isVulnerable }) => isVulnerable).length,
    proven_restore_at: isoOrNull(Math.max(0, ...proven) || null),
    picture_operation_id: pictured,
  };
}
