/**
 * Measures the disk usage of environments that were written to since the last measurement, one after the other. If an
 * environment has a quota, the new usage is published to the edge.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Publisher } from "../publishing/publishRoutes.ts";
import type { Database } from "../store/database.ts";
import { findToMeasure, measureDiskUse } from "../store/sites/diskUse.ts";

interface MeasureDiskOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "diskUse">;
  readonly publisher: Pick<Publisher, "publish">;
  /** Default quota of environments that have none, or null for no limit. */
  readonly diskQuotaBytes: number | null;
  /** Pause after each measurement, as a multiple of its duration: it competes with visitors for the disk. */
  readonly restFactor?: number;
}

const environmentsPerRun = 50;
const defaultRestFactor = 4;

export async function measureDisk(options: MeasureDiskOptions): Promise<void> {
  const { database, runtime, publisher, diskQuotaBytes, restFactor = defaultRestFactor } = options;
  let needsPublishing = false;
  for (let measured = 0; measured < environmentsPerRun; measured += 1) {
    const environment = await findToMeasure(database, diskQuotaBytes);
    if (environment === null) break;
    const began = performance.now();
    await measureDiskUse(database, environment, (each) => runtime.diskUse(each));
    needsPublishing ||= environment.quotaBytes !== null;
    await delay((performance.now() - began) * restFactor);
  }
  if (needsPublishing) await publisher.publish();
}
