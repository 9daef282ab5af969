/** Who may not visit an environment. */

import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findDeniedIps, setDeniedIps } from "@sitewright/server/store/traffic/deniedIps.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { NoNetwork, readNetwork } from "./networks.ts";
import { changeRoutes } from "./routeChanges.ts";

const mostFaults = 100;

export async function list(context: Context, environmentId: string) {
  const found = await findDeniedIps(context.database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, ip_list: [...found.list] };
}

/** Replaces the whole list. The edge has it when the request is answered. */
export async function replace(context: Context, environmentId: string, entries: readonly string[]): Promise<void> {
  const networks = readNetworks(entries);
  await changeRoutes(context, async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    await setDeniedIps(transaction, environment.id, networks);
    await recordDone(context, transaction, {
      type: "replaceDeniedIps",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
  });
}

/** Each once. Throws `Refused`, naming every entry that is none. */
function readNetworks(entries: readonly string[]): readonly string[] {
  const networks = new Set<string>();
  const faults: { readonly entry: string; readonly index: number; readonly message: string }[] = [];
  for (const [index, entry] of entries.entries()) {
    try {
      networks.add(readNetwork(entry));
    } catch (error) {
      if (!(error instanceof NoNetwork)) throw error;
      faults.push({ entry, index, message: `must ${error.message}` });
    }
  }
  const [first] = faults;
  if (first === undefined) return [...networks];
  throw new Refused("not_an_address", `${JSON.stringify(first.entry)} in ip_list ${first.message}.`, {
    errors: faults.slice(0, mostFaults).map(({ index, message }) => ({ path: `/ip_list/${index}`, message })),
  });
}
