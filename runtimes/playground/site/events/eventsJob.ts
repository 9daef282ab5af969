/**
 * Reads what WordPresses plan, many in one go: the main module of a process that does this once and ends. A database on
 * which SQLite never comes to an end then stops nobody else.
 */
import type { EventPlans } from "../../../runtime.ts";
import { serveJob } from "../../templates/job.ts";
import { isBusy, isUnfinished } from "../copy/copyDatabase.ts";
import { type PlansSource, readPlannedEvents } from "./plannedEvents.ts";

export interface EventsJob {
  readonly sources: readonly PlansSource[];
  /** `next`: of each site the next event only, without what its hook is given. */
  readonly what: "next" | "all";
}

/**
 * What became of one of the sources. `busy`: somebody is just writing. `unfinished`: a killed process has left a write in it,
 * which the next one that writes will take back.
 */
export type EventsRead = EventPlans | "busy" | "unfinished";

function nextOnly({ sites, problem }: EventPlans): EventPlans {
  const shorter = sites.map(({ place, events }) => ({
    place,
    events: events.slice(0, 1).map((event) => ({ ...event, args: [] })),
  }));
  return { sites: shorter, problem };
}

function read(source: PlansSource, what: EventsJob["what"]): EventsRead {
  try {
    const plans = readPlannedEvents(source);
    return what === "all" ? plans : nextOnly(plans);
  } catch (error) {
    if (isBusy(error)) return "busy";
    if (isUnfinished(error)) return "unfinished";
    return { sites: [], problem: `The site's database can't be read: ${String(error).slice(0, 200)}` };
  }
}

if (import.meta.main) serveJob(async ({ sources, what }: EventsJob) => sources.map((source) => read(source, what)));
