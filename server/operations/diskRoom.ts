/** Whether there is room on the disk for a copy, asked before it is begun: half a copy helps nobody. */
import type { EnvironmentRef, Runtime } from "@sitewright/runtimes/runtime.ts";
import { StepFailure } from "./operation.ts";

/** Kept for what the installation itself writes meanwhile. */
const reserveBytes = 50e6;

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Throws `StepFailure` with the numbers where `what`, as large as `copied` together and `moreBytes`, does not fit. */
export async function requireRoom(
  runtime: Pick<Runtime, "diskUse">,
  copied: readonly EnvironmentRef[],
  what: string,
  moreBytes = 0,
): Promise<void> {
  const uses = await Promise.all(copied.map((environment) => runtime.diskUse(environment)));
  const needed = uses.reduce((sum, use) => sum + (use ? use.files + use.database : 0), reserveBytes + moreBytes);
  const free = Math.min(...uses.map((use) => use?.free ?? Number.POSITIVE_INFINITY));
  if (free >= needed) return;
  throw new StepFailure(
    `${what} needs about ${megabytes(needed)} on the server's disk, and ${megabytes(free)} are free. Nothing was changed.`,
  );
}
