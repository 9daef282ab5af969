/** When environments are backed up: periodically, each with its own offset, so that the load is spread evenly. */
import { createHash } from "node:crypto";

export const hour = 3_600_000;

/** Position in the period, from 0 (inclusive) to 1 (exclusive): a hash of the id, so stable and evenly distributed. */
function offsetOf(environmentId: string): number {
  return createHash("sha256").update(environmentId).digest().readUIntBE(0, 6) / 2 ** 48;
}

/** The environment's next backup time after `after`, at most `hours` later. */
export function nextBackupTime(environmentId: string, hours: number, after: Date): Date {
  const period = hours * hour;
  const start = Math.floor(offsetOf(environmentId) * period);
  return new Date(start + (Math.floor((after.getTime() - start) / period) + 1) * period);
}
