/** Known vulnerabilities of what a company's environments have. */
import { advisoryFeed, listVulnerabilities } from "@sitewright/server/store/packages/advisories.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";

const usualItems = 100;
const mostItems = 500;

/** Of those of the company's environments that the key may see. `feed` null: the installation reads none. */
export async function list(
  { caller, database, hasAdvisories, pool }: Context,
  { limit = usualItems, offset = 0 }: { readonly limit?: number; readonly offset?: number },
) {
  const { total, items } = await listVulnerabilities(pool, {
    companyId: caller.companyId,
    siteIds: sitesInScope(caller),
    limit: Math.min(limit, mostItems),
    offset,
  });
  const { read_at, records, skipped, problem } = await advisoryFeed(database);
  return {
    total,
    items: items.map(({ advisory_id: id, kind: type, patched: patched_version, environments, ...one }) => ({
      id,
      type,
      patched_version,
      environments: [...environments],
      ...one,
    })),
    feed: hasAdvisories ? { read_at: read_at?.toISOString() ?? null, records, skipped, problem } : null,
  };
}
