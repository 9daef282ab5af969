/** What the edge is told, as rows: environments that are served, and the names that lead to them. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, Environments, ForceHttps } from "../database.ts";
import { isCovered, isWildcardCovered } from "../domains/domainCertificates.ts";
import { maySend } from "./mailDelivery.ts";
import { keepsPages } from "./pageCache.ts";

export interface ServedRow {
  readonly id: string;
  readonly number: number;
  readonly phpVersion: string;
  readonly isFrozen: boolean;
  readonly phpRun: number;
  /** Null: its pages are not kept. */
  readonly pageCacheEpoch: number | null;
  readonly limits: ServedLimits;
  readonly deniedIps: readonly string[];
  /** Name of the list of its redirect rules; null: none. */
  readonly redirectList: string | null;
  readonly maySendMail: boolean;
  /** Null: visitors who come by http are answered. */
  readonly forceHttps: ForceHttps | null;
  readonly domains: readonly ServedDomain[];
}

export interface ServedDomain {
  readonly name: string;
  readonly isWildcard: boolean;
  readonly isPrimary: boolean;
  /** Whether a certificate is valid for the name, and for those below it. */
  readonly isCovered: boolean;
  readonly isWildcardCovered: boolean;
}

/** What it may take. */
export interface ServedLimits {
  readonly threads: number;
  readonly memoryMb: number;
  readonly requestSeconds: number | null;
  /** By how much it could grow when it was last measured; null: no limit, or not measured yet. */
  readonly disk: { readonly leftBytes: number; readonly measuredAt: number } | null;
}

/**
 * Every environment in the state `serving` with its active domains, by number. `usualQuotaBytes` is of those that have no
 * quota of their own; null: none.
 */
export async function listServed(database: Database, usualQuotaBytes: number | null): Promise<ServedRow[]> {
  const rows = await database
    .selectFrom("environments as e")
    .leftJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_active", "=", true))
    .select(["e.id", "e.number", "e.php_version as phpVersion", "e.is_frozen as isFrozen", "e.php_run as phpRun"])
    .select(["e.php_threads as threads", "e.php_memory_mb as memoryMb", "e.request_seconds as requestSeconds"])
    .select(["e.disk_quota_bytes as quotaBytes", "e.disk_bytes as diskBytes", "e.disk_measured_at as measuredAt"])
    .select(maySend("e").as("maySendMail"))
    .select(["e.denied_ips as deniedIps", "e.force_https as forceHttps"])
    .select(["e.redirect_list as redirectList", "e.page_cache_epoch as epoch", keepsPages.as("keepsPages")])
    .select(["d.name", "d.is_wildcard as isWildcard", "d.is_primary as isPrimary"])
    .select([isCovered.as("isCovered"), isWildcardCovered.as("isWildcardCovered")])
    .where("e.state", "=", "serving")
    .orderBy("e.number")
    .orderBy("d.name")
    .execute();
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const { id, number, phpVersion, isFrozen, phpRun, threads, memoryMb, requestSeconds, deniedIps } = first;
    const { maySendMail, forceHttps, redirectList } = first;
    const pageCacheEpoch = first.keepsPages ? first.epoch : null;
    const disk = leftOf(first, usualQuotaBytes);
    const limits = { threads, memoryMb, requestSeconds, disk };
    const domains = own.flatMap(({ name, isWildcard, isPrimary, isCovered, isWildcardCovered }) =>
      name === null || isWildcard === null || isPrimary === null
        ? []
        : [{ name, isWildcard, isPrimary, isCovered, isWildcardCovered }],
    );
    const told = { maySendMail, forceHttps, redirectList, pageCacheEpoch };
    return [{ id, number, phpVersion, isFrozen, phpRun, limits, deniedIps, ...told, domains }];
  });
}

interface Measured {
  readonly quotaBytes: number | null;
  readonly diskBytes: number | null;
  readonly measuredAt: Date | null;
}

function leftOf({ quotaBytes, diskBytes, measuredAt }: Measured, usualQuotaBytes: number | null): ServedLimits["disk"] {
  const quota = quotaBytes ?? usualQuotaBytes;
  if (quota === null || diskBytes === null || measuredAt === null) return null;
  return { leftBytes: quota - diskBytes, measuredAt: measuredAt.getTime() };
}

/** Names of environments that are being restored. */
export async function listAway(database: Database): Promise<readonly Pick<ServedDomain, "name" | "isWildcard">[]> {
  return database
    .selectFrom("environments as e")
    .innerJoin("domains as d", "d.environment_id", "e.id")
    .select(["d.name", "d.is_wildcard as isWildcard"])
    .where("e.state", "=", "restoring")
    .where("d.is_active", "=", true)
    .orderBy("d.name")
    .execute();
}

/** Moves environments to a state. Tolerates ids that are gone. One that awaits its rebuild is not served by that. */
export async function setEnvironmentState(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[],
  state: Environments["state"],
): Promise<void> {
  if (environmentIds.length === 0) return;
  const next = sql<Environments["state"]>`
    case when ${state}::text = 'serving' and awaits_rebuild then 'restoring' else ${state}::text end`;
  await database.updateTable("environments").set({ state: next }).where("id", "in", environmentIds).execute();
}
