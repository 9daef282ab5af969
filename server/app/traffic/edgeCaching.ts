/** The page cache of the edge: turns it on and off, and clears it. */
import type { EdgeCacheClearing } from "@sitewright/contract/traffic/edgeCaching.ts";
import type { ClearCacheInput } from "@sitewright/server/operations/sites/clearCache.ts";
import type { UpdateEdgeCacheStatusInput } from "@sitewright/server/operations/sites/updateEdgeCacheStatus.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { domainsOfEnvironment } from "@sitewright/server/store/domains/domains.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import { findEdgeCaching, storedEdgeCaching } from "@sitewright/server/store/traffic/pageCache.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireEnvironment, startOn } from "../sites/environmentOperations.ts";

/** None: the cache does not interfere with other operations. */
const locks: readonly string[] = [];

export async function status(context: Context, environmentId: string) {
  const found = await findEdgeCaching(context.database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, edge_caching: { is_enabled: found.isEnabled } };
}

/** Starts clearing the whole cache of the environment. Returns the operation's id. */
export function clearAll(context: Context, environmentId: string): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const input: ClearCacheInput = { environmentId: environment.id, url: null, isSubtree: false };
    return startOn(context, transaction, environment, { kind: "clearCache", input, locks });
  });
}

/** Starts clearing a URL, a subtree or everything. Returns the operation's id. */
export function clear(context: Context, request: Static<typeof EdgeCacheClearing>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, request.environment_id);
    const url = request.url === undefined ? null : await ownUrl(transaction, environment, request.url);
    const input: ClearCacheInput = {
      environmentId: environment.id,
      url,
      isSubtree: request.clear_subdirectories ?? false,
    };
    const names = { url: url ?? "/*" };
    return startOn(context, transaction, environment, { kind: "clearEdgeCache", input, locks, names });
  });
}

/** Starts turning the cache on or off. Returns the operation's id. */
export function setStatus(context: Context, environmentId: string, isEnabled: boolean): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const before = await storedEdgeCaching(transaction, environment.id);
    const input: UpdateEdgeCacheStatusInput = { environmentId: environment.id, isEnabled, before };
    const names = { status: isEnabled ? "on" : "off" };
    return startOn(context, transaction, environment, { kind: "updateEdgeCacheStatus", input, locks, names });
  });
}

/** Returns path and query. Throws `Refused` if the URL does not belong to the environment. */
async function ownUrl(transaction: DatabaseTransaction, { id }: EnvironmentFacts, url: string): Promise<string> {
  const parsed = url.startsWith("/") ? URL.parse(url, "http://path.invalid") : URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    throw new Refused(
      "not_an_address_of_the_site",
      `"${url}" is not a URL. Send one with http:// or https://, or a path that begins with a slash.`,
    );
  }
  const name = parsed.hostname.replace(/\.$/, "");
  const domains = await domainsOfEnvironment(transaction, id);
  const isOwn = domains.some((one) => one.name === name || (one.isWildcard && name.endsWith(`.${one.name}`)));
  if (name !== "path.invalid" && !isOwn) {
    throw new Refused("not_an_address_of_the_site", `"${name}" is not a domain of the environment.`);
  }
  return `${parsed.pathname}${parsed.search}`;
}
