/** The data of the edge's routing table: served environments and their domains. */
import { sql } from "kysely";
import { limitsInForce } from "../company/companyLimits.ts";
import type { Database, DatabaseTransaction, Environments, ForceHttps } from "../database.ts";
import { isCovered, isWildcardCovered } from "../domains/domainCertificates.ts";
import { servesSubdomains } from "../domains/domains.ts";
import { maySend } from "./mailDelivery.ts";
import { isPageCacheOn } from "./pageCache.ts";

export interface ServedRow {
  readonly id: string;
  readonly companyId: string;
  readonly number: number;
  readonly runtime: string;
  readonly phpVersion: string;
  readonly isFrozen: boolean;
  readonly phpRestarts: number;
  /** Null if the page cache is off. */
  readonly pageCacheEpoch: number | null;
  readonly limits: ServedLimits;
  readonly deniedIps: readonly string[];
  readonly isXmlRpcOn: boolean;
  /** The name of the list of redirect rules, or null if there are none. */
  readonly redirectList: string | null;
  readonly maySendMail: boolean;
  /** Null if HTTP is not redirected to HTTPS. */
  readonly forceHttps: ForceHttps | null;
  readonly domains: readonly ServedDomain[];
}

export interface ServedDomain {
  readonly name: string;
  readonly isWildcard: boolean;
  readonly isPrimary: boolean;
  /** Whether the name has a valid certificate, and `isWildcardCovered`, whether names one label below do. */
  readonly isCovered: boolean;
  readonly isWildcardCovered: boolean;
}

/** Limits of an environment for the edge. */
export interface ServedLimits {
  readonly threads: number;
  /** Of all the company's environments together; null for no limit. */
  readonly companyThreads: number | null;
  readonly memoryMb: number;
  readonly requestSeconds: number | null;
  /** Remaining disk space at the last measurement; null without a quota or a measurement. */
  readonly disk: { readonly leftBytes: number; readonly measuredAt: number } | null;
}

/**
 * Lists all environments in the state `serving` with their active domains, by number. `defaultQuotaBytes` applies to
 * environments without their own quota; null for no quota.
 */
export async function listServed(database: Database, defaultQuotaBytes: number | null): Promise<ServedRow[]> {
  const { threads, memoryMb, quotaBytes } = limitsInForce(defaultQuotaBytes);
  const rows = await database
    .selectFrom("environments as e")
    .leftJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_active", "=", true))
    .leftJoin("limits_of_companies as c", "c.company_id", "e.company_id")
    .select(["e.id", "e.company_id as companyId", "e.number", "e.runtime", "e.php_version as phpVersion"])
    .select(["e.is_frozen as isFrozen", "e.php_run as phpRestarts", "e.request_seconds as requestSeconds"])
    .select([threads.as("threads"), memoryMb.as("memoryMb"), quotaBytes.as("quotaBytes")])
    .select(["c.php_threads as companyThreads", "e.disk_bytes as diskBytes", "e.disk_measured_at as measuredAt"])
    .select(maySend("e").as("maySendMail"))
    .select(["e.denied_ips as deniedIps", "e.is_xml_rpc_on as isXmlRpcOn", "e.force_https as forceHttps"])
    .select(["e.redirect_list as redirectList", "e.page_cache_epoch as epoch", isPageCacheOn.as("isPageCacheOn")])
    .select(["d.name", servesSubdomains.as("isWildcard"), "d.is_primary as isPrimary"])
    .select([isCovered.as("isCovered"), isWildcardCovered.as("isWildcardCovered")])
    .where("e.state", "=", "serving")
    .orderBy("e.number")
    .orderBy("d.name")
    .execute();
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { id, companyId, number, runtime, phpVersion, isFrozen, phpRestarts, deniedIps } = first;
    const { threads, companyThreads, memoryMb, requestSeconds, isXmlRpcOn, maySendMail, forceHttps, redirectList } =
      first;
    const pageCacheEpoch = first.isPageCacheOn ? first.epoch : null;
    const limits = { threads, companyThreads, memoryMb, requestSeconds, disk: remainingDisk(first) };
    const domains = group.flatMap(({ name, isWildcard, isPrimary, isCovered, isWildcardCovered }) =>
      name === null || isWildcard === null || isPrimary === null
        ? []
        : [{ name, isWildcard, isPrimary, isCovered, isWildcardCovered }],
    );
    const settings = { isXmlRpcOn, maySendMail, forceHttps, redirectList, pageCacheEpoch };
    const identity = { id, companyId, number, runtime };
    return [{ ...identity, phpVersion, isFrozen, phpRestarts, limits, deniedIps, ...settings, domains }];
  });
}

interface Measured {
  readonly quotaBytes: number | null;
  readonly diskBytes: number | null;
  readonly measuredAt: Date | null;
}

function remainingDisk({ quotaBytes, diskBytes, measuredAt }: Measured): ServedLimits["disk"] {
  if (quotaBytes === null) return null;
  // A new environment is measured within seconds, and is small until then.
  if (diskBytes === null || measuredAt === null) return { leftBytes: quotaBytes, measuredAt: 0 };
  return { leftBytes: quotaBytes - diskBytes, measuredAt: measuredAt.getTime() };
}

export interface RestoringDomain extends Pick<ServedDomain, "name" | "isWildcard"> {
  readonly environmentId: string;
}

/** Lists the active domains of environments that are being restored. */
export async function listRestoringDomains(database: Database): Promise<readonly RestoringDomain[]> {
  return database
    .selectFrom("environments as e")
    .innerJoin("domains as d", "d.environment_id", "e.id")
    .select(["d.name", servesSubdomains.as("isWildcard"), "e.id as environmentId"])
    .where("e.state", "=", "restoring")
    .where("d.is_active", "=", true)
    .orderBy("d.name")
    .execute();
}

/**
 * Sets the state of environments; instead of `serving`, those that wait to be rebuilt get `restoring`. Ignores unknown
 * ids.
 */
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
