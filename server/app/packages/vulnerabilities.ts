/** Known vulnerabilities of the plugins and themes in a company's environments. */
import { advisoryFeed, listVulnerabilities } from "@sitewright/server/store/packages/advisories.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";
import { checksOf } from "./checks.ts";

const defaultLimit = 100;
const maxLimit = 500;

/** Lists the vulnerabilities in environments in the key's scope. `feed` is null if the installation has no feed. */
export async function list(
  context: Context,
  { limit = defaultLimit, offset = 0 }: { readonly limit?: number; readonly offset?: number },
) {
  const { caller, database, hasAdvisories, pool } = context;
  const { total, items } = await listVulnerabilities(pool, {
    companyId: caller.companyId,
    siteIds: sitesInScope(caller),
    limit: Math.min(limit, maxLimit),
    offset,
  });
  const { read_at, records, skipped, problem } = await advisoryFeed(database);
  return {
    total,
    checks: await checksOf(context),
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
