/** Limits of environments: the values in force, their bounds, and how changes start. */
import { type LimitsChange, minDiskBytes, type PhpAllocation } from "@sitewright/contract/sites/limits.ts";
import type { ChangeLimitsInput } from "@sitewright/server/operations/sites/changeLimits.ts";
import { type CompanyLimits, companyLimits } from "@sitewright/server/store/company/companyLimits.ts";
import { findLimits, type LimitsRecord } from "@sitewright/server/store/sites/limits.ts";
import { siteForOperation } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import type { Context, InstallationLimits } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireEnvironment, startOn } from "./environmentOperations.ts";

/** WordPress does not run with less. */
const minMemoryMb = 64;

interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** An environment may have at most what both the installation and its company have. */
function boundsOf(
  { maxWorkers, maxPhpMemoryMb, maxRequestSeconds, diskQuotaBytes }: InstallationLimits,
  { php_threads, php_memory_mb, disk_bytes }: CompanyLimits,
) {
  return {
    thread_count: { minimum: 1, maximum: Math.min(maxWorkers, php_threads ?? maxWorkers) },
    thread_memory: { minimum: minMemoryMb, maximum: Math.min(maxPhpMemoryMb, php_memory_mb ?? maxPhpMemoryMb) },
    request_seconds: { minimum: 1, maximum: maxRequestSeconds },
    // A company whose disk space is not limited can't raise the installation's quota.
    disk_bytes: { minimum: minDiskBytes, maximum: disk_bytes ?? diskQuotaBytes },
  };
}

type OwnLimits = Omit<LimitsRecord, "id" | "disk_measured_at" | "disk_bytes">;

/** The limits in force. */
export function limitsView(installation: InstallationLimits, company: CompanyLimits, own: OwnLimits) {
  const { thread_count, thread_memory, request_seconds } = boundsOf(installation, company);
  return {
    thread_count: Math.min(own.php_threads, thread_count.maximum),
    thread_memory: Math.min(own.php_memory_mb, thread_memory.maximum),
    request_seconds: Math.min(own.request_seconds ?? installation.requestDeadlineSeconds, request_seconds.maximum),
    disk_bytes: quotaOf(installation, company, own),
  };
}

function quotaOf(
  installation: InstallationLimits,
  company: CompanyLimits,
  { disk_quota_bytes }: Pick<OwnLimits, "disk_quota_bytes">,
): number | null {
  const { maximum } = boundsOf(installation, company).disk_bytes;
  const quota = disk_quota_bytes ?? installation.diskQuotaBytes ?? maximum;
  return quota === null ? null : Math.min(quota, maximum ?? quota);
}

type DiskUse = Omit<LimitsRecord, "id" | "php_threads" | "php_memory_mb">;

export function diskView(installation: InstallationLimits, company: CompanyLimits, use: DiskUse) {
  const { disk_bytes, disk_measured_at } = use;
  const quota = quotaOf(installation, company, use);
  return {
    disk_bytes,
    disk_measured_at: disk_measured_at?.getTime() ?? null,
    is_over_disk_quota: quota !== null && disk_bytes !== null && disk_bytes > quota,
  };
}

export async function get(context: Context, environmentId: string) {
  const { pool, limits: installation } = context;
  const [found, company] = await Promise.all([findLimits(pool, environmentId), limitsOfCompany(context)]);
  if (!found) throw new NotFound();
  return {
    id: found.id,
    limits: limitsView(installation, company, found),
    bounds: boundsOf(installation, company),
    use: diskView(installation, company, found),
  };
}

function limitsOfCompany({ database, caller }: Context): Promise<CompanyLimits> {
  return companyLimits(database, caller.companyId);
}

function requireWithin(name: string, value: number, unit: string, { minimum, maximum }: Bounds): void {
  if (value >= minimum && value <= maximum) return;
  throw new Refused(
    "limit_out_of_bounds",
    `${name} must be from ${minimum} to ${maximum}${unit} here, not ${value}. Only the operator of the installation can raise the maximum.`,
    { field: name, minimum, maximum },
  );
}

async function requireAllocation(context: Context, allocation: Static<typeof PhpAllocation>): Promise<void> {
  const bounds = boundsOf(context.limits, await limitsOfCompany(context));
  requireWithin("thread_count", allocation.thread_count, "", bounds.thread_count);
  requireWithin("thread_memory", allocation.thread_memory, " MB", bounds.thread_memory);
}

function changesOf({ thread_count, thread_memory }: Static<typeof PhpAllocation>): ChangeLimitsInput["changes"] {
  return { php_threads: thread_count, php_memory_mb: thread_memory };
}

/** Parameters of the activity entry. */
function allocationParameters({ thread_count, thread_memory }: Static<typeof PhpAllocation>) {
  return { threadCount: String(thread_count), threadMemory: String(thread_memory) };
}

/** Starts the change of one environment's allocation. Returns the operation's id. */
export async function changeAllocation(
  context: Context,
  environmentId: string,
  allocation: Static<typeof PhpAllocation>,
): Promise<string> {
  await requireAllocation(context, allocation);
  return changeOne(context, environmentId, {
    kind: "changeEnvironmentPhpAllocation",
    changes: changesOf(allocation),
    parameters: allocationParameters(allocation),
  });
}

/** Starts the change of the request deadline and the disk quota. Returns the operation's id. */
export async function change(
  context: Context,
  environmentId: string,
  request: Static<typeof LimitsChange>,
): Promise<string> {
  const { request_seconds, disk_bytes } = request;
  if (request_seconds === undefined && disk_bytes === undefined) {
    throw new Refused("nothing_to_change", "Nothing would change. Send request_seconds, disk_bytes, or both.", {});
  }
  const bounds = boundsOf(context.limits, await limitsOfCompany(context));
  if (typeof request_seconds === "number") {
    requireWithin("request_seconds", request_seconds, " seconds", bounds.request_seconds);
  }
  const { minimum, maximum } = bounds.disk_bytes;
  if (typeof disk_bytes === "number" && maximum !== null) {
    requireWithin("disk_bytes", disk_bytes, " bytes", { minimum, maximum });
  }
  const changes = {
    ...(request_seconds === undefined ? {} : { request_seconds }),
    ...(disk_bytes === undefined ? {} : { disk_quota_bytes: disk_bytes }),
  };
  return changeOne(context, environmentId, { kind: "changeEnvironmentLimits", changes, parameters: {} });
}

interface Change {
  readonly kind: "changeEnvironmentPhpAllocation" | "changeEnvironmentLimits";
  readonly changes: ChangeLimitsInput["changes"];
  /** Of the activity entry. */
  readonly parameters: Readonly<Record<string, string>>;
}

function changeOne(context: Context, environmentId: string, { kind, changes, parameters }: Change): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const locks = [environment.id];
    const input: ChangeLimitsInput = { environmentIds: locks, changes };
    return startOn(context, transaction, environment, { kind, input, locks, names: parameters });
  });
}

/** Starts the change of the allocation of every environment of the site. Returns the operation's id. */
export async function changeSiteAllocation(
  context: Context,
  siteId: string,
  allocation: Static<typeof PhpAllocation>,
): Promise<string> {
  await requireAllocation(context, allocation);
  return context.inTransaction(async (transaction) => {
    const site = await siteForOperation(transaction, siteId);
    if (!site) throw new NotFound();
    const environmentIds = site.environments.map(({ id }) => id);
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "changeSitePhpAllocation",
      companyId: site.company_id,
      siteId: site.id,
      environmentId: site.environments.find(({ name }) => name === "live")?.id ?? null,
      locks: environmentIds,
      input: { environmentIds, changes: changesOf(allocation) } satisfies ChangeLimitsInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { siteName: site.display_name, ...allocationParameters(allocation) },
    });
    return operationId;
  });
}
