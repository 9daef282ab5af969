/** When an environment is backed up: every so many hours, each at a moment of its own. */
import { createHash } from "node:crypto";

export const hour = 3_600_000;

/** From 0 to 1 without 1: always the same for the same environment, and evenly spread over all of them. */
function placeOf(environmentId: string): number {
  return createHash("sha256").update(environmentId).digest().readUIntBE(0, 6) / 2 ** 48;
}

/** The environment's first moment after this one, at most `hours` later. */
export function nextMoment(environmentId: string, hours: number, after: Date): Date {
  const period = hours * hour;
  const start = Math.floor(placeOf(environmentId) * period);
  return new Date(start + (Math.floor((after.getTime() - start) / period) + 1) * period);
}
