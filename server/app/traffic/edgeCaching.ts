/** Pages that are kept at the edge: whether there are any, and how they are let go. */
import type { EdgeCacheClearing } from "@sitewright/contract/traffic/edgeCaching.ts";
import type { ClearCacheInput } from "@sitewright/server/operations/sites/clearCache.ts";
import type { UpdateEdgeCacheStatusInput } from "@sitewright/server/operations/sites/updateEdgeCacheStatus.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { domainsOfEnvironment } from "@sitewright/server/store/domains/domains.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import { edgeCachingAsSet, findEdgeCaching } from "@sitewright/server/store/traffic/pageCache.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireEnvironment, startOn } from "../sites/environmentOperations.ts";

/** Nothing: pages are kept and let go whatever else is done with the environment. */
const locks: readonly string[] = [];

export async function status(context: Context, environmentId: string) {
  const found = await findEdgeCaching(context.database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, edge_caching: { is_enabled: found.isEnabled } };
}

/** Returns the operation's id. */
export function clearAll(context: Context, environmentId: string): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const input: ClearCacheInput = { environmentId: environment.id, url: null, isSubtree: false };
    return startOn(context, transaction, environment, { kind: "clearCache", input, locks });
  });
}

/** Returns the operation's id. */
export function clear(context: Context, wish: Static<typeof EdgeCacheClearing>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, wish.environment_id);
    const url = wish.url === undefined ? null : await ownUrl(transaction, environment, wish.url);
    const input: ClearCacheInput = {
      environmentId: environment.id,
      url,
      isSubtree: wish.clear_subdirectories ?? false,
    };
    const names = { url: url ?? "/*" };
    return startOn(context, transaction, environment, { kind: "clearEdgeCache", input, locks, names });
  });
}

/** Returns the operation's id. */
export function setStatus(context: Context, environmentId: string, isEnabled: boolean): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const before = await edgeCachingAsSet(transaction, environment.id);
    const input: UpdateEdgeCacheStatusInput = { environmentId: environment.id, isEnabled, before };
    const names = { status: isEnabled ? "on" : "off" };
    return startOn(context, transaction, environment, { kind: "updateEdgeCacheStatus", input, locks, names });
  });
}

/** Path and query. Throws `Refused` if the address is none of the environment's. */
async function ownUrl(transaction: DatabaseTransaction, { id }: EnvironmentFacts, url: string): Promise<string> {
  const parsed = url.startsWith("/") ? URL.parse(url, "http://path.invalid") : URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    throw new Refused(
      "not_an_address_of_the_site",
      `"${url}" is no address: send one with http:// or https://, or a path that begins with a slash.`,
    );
  }
  const name = parsed.hostname.replace(/\.$/, "");
  const domains = await domainsOfEnvironment(transaction, id);
  const isOwn = domains.some((one) => one.name === name || (one.isWildcard && name.endsWith(`.${one.name}`)));
  if (name !== "path.invalid" && !isOwn) {
    throw new Refused("not_an_address_of_the_site", `"${name}" is no domain of the environment.`);
  }
  return `${parsed.pathname}${parsed.search}`;
}
