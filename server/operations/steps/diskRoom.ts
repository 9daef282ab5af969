/** Whether there is disk space for copies, checked before they are started. */
import type { EnvironmentRef, Runtime } from "@sitewright/runtimes/runtime.ts";
import { quotaOf } from "../../store/sites/diskUse.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "./services.ts";

/** Of an environment, what is written again, and how often: a part is 0 to be left out, and may be a fraction. */
export interface Copy {
  readonly environment: EnvironmentRef;
  readonly files: number;
  readonly database: number;
}

export interface Room {
  readonly copies: readonly Copy[];
  /** Besides. */
  readonly moreBytes?: number;
  /** On that disk, where nothing is copied that is on it. */
  readonly freeBytes?: number;
}

/** Kept for what the installation itself writes meanwhile. */
const reserveBytes = 50e6;

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Throws `StepFailure` with the numbers where `what` needs more room than there is. */
export async function requireRoom(
  runtime: Pick<Runtime, "diskUse">,
  { copies, moreBytes = 0, freeBytes = Number.POSITIVE_INFINITY }: Room,
  what: string,
): Promise<void> {
  const uses = await Promise.all(
    copies.map(async ({ environment, ...times }) => ({ use: await runtime.diskUse(environment), times })),
  );
  const needed = uses.reduce(
    (sum, { use, times }) => sum + (use ? use.files * times.files + use.database * times.database : 0),
    reserveBytes + moreBytes,
  );
  const free = Math.min(freeBytes, ...uses.map(({ use }) => use?.free ?? Number.POSITIVE_INFINITY));
  if (free >= needed) return;
  throw new StepFailure(
    `${what} needs about ${megabytes(needed)} on the server's disk, and ${megabytes(free)} are free. Nothing was changed.`,
  );
}

export interface NextSize {
  readonly target: EnvironmentRef;
  /** What it would consist of: of which environment each part comes. */
  readonly files: EnvironmentRef;
  readonly database: EnvironmentRef;
}

/** Throws `StepFailure` with the numbers where `what` would make the target larger than its quota lets it be. */
export async function requireQuota(
  { database, runtime, diskQuotaBytes }: Pick<Services, "database" | "runtime" | "diskQuotaBytes">,
  { target, ...parts }: NextSize,
  what: string,
): Promise<void> {
  const quota = await quotaOf(database, target.id, diskQuotaBytes);
  if (quota === null) return;
  const [files, rows] = await Promise.all([runtime.diskUse(parts.files), runtime.diskUse(parts.database)]);
  requireWithinQuota((files?.files ?? 0) + (rows?.database ?? 0), quota, what);
}

/** The same where the size is known. */
export function requireWithinQuota(bytes: number, quota: number | null, what: string): void {
  if (quota === null || bytes <= quota) return;
  throw new StepFailure(
    `${what} would make the environment ${megabytes(bytes)} large, and its disk quota is ${megabytes(quota)}. Nothing was changed.`,
  );
}
