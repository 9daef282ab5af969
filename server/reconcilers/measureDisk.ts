/**
 * Measures what environments take of the disk, one after the other, where something was written since. Whoever has a quota
 * is told to the edge with what is left of it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Publisher } from "../publishing/publishRoutes.ts";
import type { Database } from "../store/database.ts";
import { findToMeasure, measureDiskUse } from "../store/sites/diskUse.ts";

export interface MeasureDiskOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "diskUse">;
  readonly publisher: Pick<Publisher, "publish">;
  /** Of environments without a quota of their own; null: none. */
  readonly diskQuotaBytes: number | null;
  /** So many times as long as a measurement took, nothing is measured: files are counted beside visitors. */
  readonly restFactor?: number;
}

/** In one run. */
const most = 50;
const usualRestFactor = 4;

export async function measureDisk(options: MeasureDiskOptions): Promise<void> {
  const { database, runtime, publisher, diskQuotaBytes, restFactor = usualRestFactor } = options;
  let isToBePublished = false;
  for (let measured = 0; measured < most; measured += 1) {
    const environment = await findToMeasure(database, diskQuotaBytes);
    if (environment === null) break;
    const began = performance.now();
    await measureDiskUse(database, environment, (each) => runtime.diskUse(each));
    isToBePublished ||= environment.quotaBytes !== null;
    await delay((performance.now() - began) * restFactor);
  }
  if (isToBePublished) await publisher.publish();
}
