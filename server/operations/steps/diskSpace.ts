/** Checks disk space and quotas before anything is copied. */
import type { EnvironmentRef, Runtime } from "@sitewright/runtimes/runtime.ts";
import { diskOfCompany } from "../../store/company/companyLimits.ts";
import type { Database } from "../../store/database.ts";
import { quotaOf, reserveDisk } from "../../store/sites/diskUse.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "./services.ts";

/** How many copies of an environment's files and database are written. May be a fraction, and 0 for none. */
export interface Copy {
  readonly environment: EnvironmentRef;
  readonly files: number;
  readonly database: number;
}

interface SpaceNeeded {
  readonly copies: readonly Copy[];
  /** Needed in addition to the copies. */
  readonly moreBytes?: number;
}

/** Reserved for other writes of the installation. */
const reserveBytes = 50e6;

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Throws `StepFailure` with the numbers if `what`, such as "The push", needs more disk space than sites may use. */
export async function requireDiskSpace(
  runtime: Pick<Runtime, "diskUse" | "freeDisk">,
  { copies, moreBytes = 0 }: SpaceNeeded,
  what: string,
): Promise<void> {
  const uses = await Promise.all(
    copies.map(async ({ environment, ...times }) => ({ use: await runtime.diskUse(environment), times })),
  );
  const needed = uses.reduce(
    (sum, { use, times }) => sum + (use ? use.files * times.files + use.database * times.database : 0),
    reserveBytes + moreBytes,
  );
  const free = await runtime.freeDisk();
  if (free >= needed) return;
  throw new StepFailure(
    `${what} needs about ${megabytes(needed)} on the server's disk, but only ${megabytes(Math.max(0, free))} are free for sites. Nothing was changed.`,
  );
}

export interface SizeAfter {
  readonly target: EnvironmentRef;
  /** The environments that its files and its database will come from. */
  readonly files: EnvironmentRef;
  readonly database: EnvironmentRef;
}

type Quotas = Pick<Services, "database" | "diskQuotaBytes"> & { readonly runtime: Pick<Runtime, "diskUse"> };

/** Reserves the space. Throws `StepFailure` with the numbers if `what` would make the target exceed its disk quota. */
export async function requireQuota(services: Quotas, { target, ...parts }: SizeAfter, what: string): Promise<void> {
  const { database, runtime, diskQuotaBytes } = services;
  if ((await quotaOf(database, target.id, diskQuotaBytes)) === null) return;
  const [files, rows] = await Promise.all([runtime.diskUse(parts.files), runtime.diskUse(parts.database)]);
  await reserveWithinQuota(services, target, (files?.files ?? 0) + (rows?.database ?? 0), what);
}

/**
 * Reserves space for the environment if its files and database will have `releaseBytes`; its temporary files stay. Throws
 * `StepFailure` with the numbers if that exceeds its quota.
 */
export async function reserveWithinQuota(
  { database, runtime, diskQuotaBytes }: Quotas,
  environment: EnvironmentRef,
  releaseBytes: number,
  what: string,
): Promise<void> {
  const bytes = releaseBytes + ((await runtime.diskUse(environment))?.temporary ?? 0);
  const quota = await reserveDisk(database, { environmentId: environment.id, bytes }, diskQuotaBytes);
  if (quota === null) return;
  throw new StepFailure(
    `${what} would grow the environment to ${megabytes(bytes)}, but its disk quota is ${megabytes(Math.max(0, quota))}. Nothing was changed.`,
  );
}

/** Throws `StepFailure` with the numbers if the environment's company has used its disk space, so that `what` is refused. */
export async function requireCompanySpace(database: Database, environmentId: string, what: string): Promise<void> {
  const disk = await diskOfCompany(database, environmentId);
  if (disk === null || disk.usedBytes < disk.limitBytes) return;
  throw new StepFailure(
    `${what} needs disk space, but the company uses ${megabytes(disk.usedBytes)} of ${megabytes(disk.limitBytes)}, backups included. Remove backups or environments, which frees their space within days, or ask the operator to raise the limit.`,
  );
}
