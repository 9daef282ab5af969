/** Sites: the list, their views, and how their deletion starts. `newSite.ts` creates them. */
import type { DeleteSiteInput } from "@sitewright/server/operations/sites/deleteSite.ts";
import { findSitePlace, listSites, type SiteRecord, siteForOperation } from "@sitewright/server/store/sites/sites.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context, Regions } from "../context.ts";
import { NotFound } from "../failures.ts";
import { makeKeptView } from "../keptViews.ts";
import { companyList, type ListQuery, windowOf } from "../lists.ts";
import { addressOf } from "./addresses.ts";
import { briefView, longView } from "./environments.ts";
import { regionOf } from "./regions.ts";

const status = "live";

interface SiteQuery extends ListQuery {
  readonly include_environments?: boolean | null;
  readonly search?: string;
  readonly label?: string;
}

/** Lists the company's sites in the key's scope, oldest first. */
export async function list(context: Context, query: SiteQuery) {
  const { pool, caller, settings, regions } = context;
  const filter = {
    companyId: caller.companyId,
    search: query.search ?? null,
    labelId: query.label ?? null,
    siteIds: sitesInScope(caller),
    withEnvironments: query.include_environments ?? true,
  };
  const window = await windowOf(query, "site", (id) => findSitePlace(pool, filter, id));
  const shown = { ...query, regions: regions.map(({ id }) => id) };
  return companyList(context, shown, listSites(pool, filter, window), (site) => ({
    id: site.id,
    name: site.name,
    display_name: site.display_name,
    region: regionOf(regions, site.region).id,
    status,
    siteLabels: [...site.labels],
    ...(site.environments && {
      environments: site.environments.map((environment) => longView(settings, site, environment)),
    }),
  }));
}

export async function get(context: Context, siteId: string) {
  const site = await context.readSite(siteId);
  if (!site) throw new NotFound();
  return view(site, context.regions);
}

const view = makeKeptView((site: SiteRecord, regions: Regions) => ({
  id: site.id,
  name: site.name,
  display_name: site.display_name,
  company_id: site.company_id,
  region: regionOf(regions, site.region).id,
  status,
  siteLabels: [...site.labels],
  environments: site.environments.map((environment) => briefView(site, environment)),
}));

/** Starts the operation that deletes the site with all its environments. Returns its id. */
export function remove(context: Context, siteId: string, withoutBackup: boolean): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const site = await siteForOperation(transaction, siteId);
    if (!site) throw new NotFound();
    const live = site.environments.find(({ name }) => name === "live");
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "deleteSite",
      companyId: site.company_id,
      siteId,
      environmentId: live?.id ?? null,
      locks: site.environments.map(({ id }) => id),
      input: {
        siteId,
        environments: site.environments.map(({ id, number, ...host }) => ({
          id,
          number,
          companyId: site.company_id,
          address: addressOf(context.settings, host),
        })),
        withoutBackup,
      } satisfies DeleteSiteInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { siteName: site.display_name },
    });
    return operationId;
  });
}
