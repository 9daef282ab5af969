/** Resource usage of a company's environments, and which of them slow down others. */
import type { noises } from "@sitewright/contract/traffic/usage.ts";
import { type CompanyLimits, companyLimits } from "@sitewright/server/store/company/companyLimits.ts";
import { listUsage, type UsageOrder, type UsageRecord } from "@sitewright/server/store/traffic/usage.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context, InstallationLimits } from "../context.ts";
import { Refused } from "../failures.ts";
import { diskView, limitsView } from "../sites/limits.ts";

interface UsageQuery {
  readonly from?: number;
  readonly to?: number;
  readonly sort?: UsageOrder;
  readonly limit?: number;
  readonly offset?: number;
}

type Noise = (typeof noises)[number];

const hour = 3_600_000;
const defaultPeriod = 24 * hour;
const maxLimit = 1_000;
const noisyCores = 0.5;
const noisyKills = 10;

/** The period, extended to full hours. Throws `Refused` if it ends before it begins. */
function periodOf({ from, to }: Pick<UsageQuery, "from" | "to">, now: number) {
  const end = to ?? now;
  const begin = from ?? Math.max(0, end - defaultPeriod);
  if (begin >= end) {
    throw new Refused("period_backwards", "The period ends before it begins. `from` must be before `to`.", {
      from: begin,
      to: end,
    });
  }
  return { from: Math.floor(begin / hour) * hour, to: Math.ceil(end / hour) * hour };
}

/** The reasons why an environment now slows down others. */
function noiseOf(
  { recent_cores, killed_lately }: Pick<UsageRecord, "recent_cores" | "killed_lately">,
  isOverQuota: boolean,
): Noise[] {
  const reasons: [Noise, boolean][] = [
    ["cpu", recent_cores > noisyCores],
    ["killed", killed_lately >= noisyKills],
    ["disk", isOverQuota],
  ];
  return reasons.flatMap(([noise, applies]) => (applies ? [noise] : []));
}

function view(installation: InstallationLimits, company: CompanyLimits, row: UsageRecord) {
  const disk = diskView(installation, company, row);
  const noise = noiseOf(row, disk.is_over_disk_quota);
  return {
    environment_id: row.environment_id,
    display_name: row.display_name,
    site_id: row.site_id,
    site_display_name: row.site_display_name,
    cpu_seconds: row.cpu_milliseconds / 1000,
    php_requests: row.php_requests,
    php_seconds: row.php_milliseconds / 1000,
    killed_for_time: row.killed_for_time,
    killed_for_memory: row.killed_for_memory,
    refused_busy: row.refused_busy,
    bytes_sent: row.bytes_sent,
    ...disk,
    limits: limitsView(installation, company, row),
    is_noisy: noise.length > 0,
    noise,
  };
}

/** Lists the usage of the company's environments in the key's scope. */
export async function list({ caller, database, pool, limits: installation }: Context, query: UsageQuery) {
  const period = periodOf(query, Date.now());
  const { items, total } = await listUsage(pool, {
    companyId: caller.companyId,
    siteIds: sitesInScope(caller),
    from: new Date(period.from),
    to: new Date(period.to),
    order: query.sort ?? "cpu",
    limit: Math.min(query.limit ?? 100, maxLimit),
    offset: query.offset ?? 0,
  });
  const company = await companyLimits(database, caller.companyId);
  return { ...period, items: items.map((row) => view(installation, company, row)), total };
}
