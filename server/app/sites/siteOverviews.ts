/** The company's sites with what is known about each. */
import {
  type LiveState,
  listSiteOverviews,
  type OverviewOrder,
  type SiteOverviewRecord,
} from "@sitewright/server/store/sites/siteOverviews.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context, Settings } from "../context.ts";
import { addressOf } from "./addresses.ts";

interface OverviewQuery {
  readonly search?: string;
  readonly label?: string;
  readonly state?: LiveState;
  readonly wordpress_version?: string;
  readonly php_version?: string;
  readonly has_updates?: boolean;
  readonly is_vulnerable?: boolean;
  readonly is_proven?: boolean;
  readonly order?: OverviewOrder;
  readonly descending?: boolean;
  readonly limit?: number;
  readonly offset?: number;
}

const defaultLimit = 100;
const maxLimit = 500;

/** Lists the sites in the caller's scope. */
export async function list({ pool, caller, settings }: Context, query: OverviewQuery) {
  const { total, wordpress_versions, php_versions, items } = await listSiteOverviews(pool, {
    companyId: caller.companyId,
    siteIds: sitesInScope(caller),
    search: query.search ?? null,
    labelId: query.label ?? null,
    state: query.state ?? null,
    wordpressVersion: query.wordpress_version ?? null,
    phpVersion: query.php_version ?? null,
    hasUpdates: query.has_updates ?? null,
    isVulnerable: query.is_vulnerable ?? null,
    isProven: query.is_proven ?? null,
    order: query.order ?? "name",
    isDescending: query.descending ?? false,
    limit: Math.min(query.limit ?? defaultLimit, maxLimit),
    offset: query.offset ?? 0,
  });
  return {
    total,
    wordpress_versions: [...wordpress_versions],
    php_versions: [...php_versions],
    items: items.map((site) => view(settings, site)),
  };
}

function view(settings: Settings, { labels, created_at, live, ...site }: SiteOverviewRecord) {
  return {
    ...site,
    created_at: new Date(created_at).toISOString(),
    siteLabels: [...labels],
    live: live && liveView(settings, live),
  };
}

function liveView(settings: Settings, live: NonNullable<SiteOverviewRecord["live"]>) {
  const { host, is_https, proven_restore_at: provenAt, ...rest } = live;
  return {
    ...rest,
    address: addressOf(settings, { host, is_https }),
    domain: host,
    proven_restore_at: provenAt === null ? null : new Date(provenAt).toISOString(),
  };
}
