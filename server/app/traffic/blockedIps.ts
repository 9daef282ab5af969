/** Blocked IP addresses of an environment. */
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findBlockedIps, setBlockedIps } from "../../store/traffic/blockedIps.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { InvalidNetwork, readNetwork } from "./networks.ts";
import { changeRoutes } from "./routeChanges.ts";

const maxErrors = 100;

export async function list(context: Context, environmentId: string) {
  const found = await findBlockedIps(context.database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, ip_list: [...found.list] };
}

/** Replaces the whole list. The edge enforces it before the request is answered. */
export async function replace(context: Context, environmentId: string, entries: readonly string[]): Promise<void> {
  const networks = readNetworks(entries);
  await changeRoutes(context, async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    await setBlockedIps(transaction, environment.id, networks);
    await recordDone(context, transaction, {
      type: "replaceDeniedIps",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
  });
}

/** Removes duplicates. Throws `Refused` with all invalid entries. */
function readNetworks(entries: readonly string[]): readonly string[] {
  const networks = new Set<string>();
  const errors: { readonly entry: string; readonly index: number; readonly message: string }[] = [];
  for (const [index, entry] of entries.entries()) {
    try {
      networks.add(readNetwork(entry));
    } catch (error) {
      if (!(error instanceof InvalidNetwork)) throw error;
      errors.push({ entry, index, message: `must ${error.message}` });
    }
  }
  const [first] = errors;
  if (first === undefined) return [...networks];
  throw new Refused("not_an_address", `${JSON.stringify(first.entry)} in ip_list ${first.message}.`, {
    errors: errors.slice(0, maxErrors).map(({ index, message }) => ({ path: `/ip_list/${index}`, message })),
  });
}
