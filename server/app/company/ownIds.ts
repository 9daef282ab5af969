/** Ids in requests that must be of the caller's company. */
import { knownLabelIds } from "@sitewright/server/store/sites/labels.ts";
import { knownSiteIds } from "@sitewright/server/store/sites/sites.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

type Company = Pick<Context, "database" | "caller">;

/** Throws `Refused` if the company lacks one of these sites. */
export async function requireSites({ database, caller }: Company, ids: readonly string[]): Promise<void> {
  const known = await knownSiteIds(database, caller.companyId, ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw new Refused("unknown_site", `The company has no site with the id ${unknown[0]}.`, { unknown });
}

/** Throws `Refused` if the company lacks one of these labels. */
export async function requireLabels({ database, caller }: Company, ids: readonly string[]): Promise<void> {
  const known = await knownLabelIds(database, caller.companyId, ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw new Refused("unknown_label", `The company has no label with the id ${unknown[0]}.`, { unknown });
}
