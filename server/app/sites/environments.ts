/** Environments: their views, and how their deletion starts. `newEnvironment.ts` creates them. */
import type { DeleteEnvironmentInput } from "@sitewright/server/operations/sites/deleteEnvironment.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { DomainRecord, EnvironmentRecord } from "@sitewright/server/store/sites/environments.ts";
import type { SiteRecord } from "@sitewright/server/store/sites/sites.ts";
import type { Context, Settings } from "../context.ts";
import { NotFound } from "../failures.ts";
import { makeKeptView } from "../keptViews.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

type SiteFacts = Pick<SiteRecord, "id" | "name">;

function domainView(site: SiteFacts, domain: DomainRecord) {
  return { id: domain.id, name: domain.name, type: "live", site_id: site.id, is_active: domain.is_active };
}

/** An environment in the details of a site. */
export function briefView(site: SiteFacts, environment: EnvironmentRecord) {
  const domains = environment.domains.map((domain) => domainView(site, domain));
  const [primaryDomain] = domains;
  if (!primaryDomain) throw new Error(`Environment ${environment.id} has no domain`);
  return {
    id: environment.id,
    name: environment.name,
    display_name: environment.display_name,
    is_premium: environment.is_premium,
    is_blocked: environment.is_blocked,
    domains,
    primaryDomain,
  };
}

/** An environment in lists. There is no SSH server, CDN or separate edge cache yet: see docs/decisions. */
export function longView(settings: Settings, site: SiteFacts, environment: EnvironmentRecord) {
  const [primary] = environment.domains;
  return {
    ...briefView(site, environment),
    address: primary === undefined ? "" : addressOf(settings, { host: primary.name, is_https: primary.is_https }),
    id_edge_cache: null,
    cdn_cache_id: null,
    is_opt_out_from_automatic_php_update: environment.is_opt_out_from_automatic_php_update,
    web_root: `/www/${site.name}_${environment.number}/public`,
    image_optimization_type: null,
    is_additional_sftp_accounts_enabled: false,
    wordpress_version: environment.wordpress_version,
    ssh_connection: { ssh_port: "0", ssh_ip: { external_ip: settings.host } },
    container_info: { id: environment.container_id, php_engine_version: `php${environment.php_version}` },
  };
}

export async function list(context: Context, siteId: string) {
  const site = await context.readSite(siteId);
  if (!site) throw new NotFound();
  return listView(site, context.settings);
}

const listView = makeKeptView((site: SiteRecord, settings: Settings) =>
  site.environments.map((environment) => longView(settings, site, environment)),
);

/** Starts the operation that deletes the environment. Returns its id. */
export function remove(context: Context, environmentId: string, withoutBackup: boolean): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const { id, name } = environment;
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "deleteEnvironment",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: id,
      locks: [id],
      input: {
        environment: { ...environmentInput(environment), address: addressOf(context.settings, environment) },
        isLive: name === "live",
        withoutBackup,
      } satisfies DeleteEnvironmentInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return operationId;
  });
}
