/**
 * Reads the WP-Cron events of many WordPress databases. Main module of a process that does this once and ends, so that
 * a database that SQLite can't read in finite time affects nothing else.
 */

import { serveJob } from "../../job.ts";
import type { CronEvents } from "../../runtime.ts";
import { isBusy, isUnfinished } from "../copyDatabase.ts";
import { type EventsSource, readCronEvents } from "./cronEvents.ts";

export interface EventsJob {
  readonly sources: readonly EventsSource[];
  /** `next`: only the next event of each site, without arguments. */
  readonly scope: "next" | "all";
}

/**
 * Result for one source. `busy`: the database is being written. `unfinished`: a killed process has left an unfinished
 * write, which the next writer will roll back.
 */
export type EventsRead = CronEvents | "busy" | "unfinished";

function nextOnly({ sites, problem }: CronEvents): CronEvents {
  const shorter = sites.map(({ place, events }) => ({
    place,
    events: events.slice(0, 1).map((event) => ({ ...event, args: [] })),
  }));
  return { sites: shorter, problem };
}

function read(source: EventsSource, scope: EventsJob["scope"]): EventsRead {
  try {
    const plans = readCronEvents(source);
    return scope === "all" ? plans : nextOnly(plans);
  } catch (error) {
    if (isBusy(error)) return "busy";
    if (isUnfinished(error)) return "unfinished";
    return { sites: [], problem: `The site's database can't be read: ${String(error).slice(0, 200)}` };
  }
}

if (import.meta.main) serveJob(async ({ sources, scope }: EventsJob) => sources.map((source) => read(source, scope)));
