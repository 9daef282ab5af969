/** The WP-Cron events of an environment, and its last run. */
import { type CronEvent, type CronEvents, RuntimeFailure, type SiteCronEvents } from "@sitewright/runtimes/runtime.ts";
import { type CronRun, findCronRun } from "@sitewright/server/store/sites/cronRuns.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { environmentInput } from "./environmentInput.ts";

interface Page {
  readonly limit?: number;
  readonly offset?: number;
}

/** Lists the events, the soonest first. Throws `NotFound` if there is no such environment. */
export async function list(context: Context, environmentId: string, { limit, offset = 0 }: Page) {
  const environment = await environmentForOperation(context.database, environmentId);
  if (!environment) throw new NotFound();
  const { sites, problem } = (await readEvents(context, environment)) ?? { sites: [], problem: null };
  const events = sites.flatMap(eventsOf).toSorted((one, other) => one.next_run_at - other.next_run_at);
  const run = await findCronRun(context.database, environment.id);
  return {
    id: environment.id,
    cron_events: events.slice(offset, limit === undefined ? undefined : offset + limit),
    total: events.length,
    last_run: run === null ? null : runView(run),
    problem,
  };
}

/** Reports an unreadable database as `problem`, since it is not the caller's mistake. */
async function readEvents(
  { cronEvents, readInTurn, signal }: Context,
  environment: EnvironmentFacts,
): Promise<CronEvents | null> {
  return readInTurn(() => cronEvents(environmentInput(environment), signal)).catch((error: unknown) => {
    if (error instanceof RuntimeFailure) return { sites: [], problem: error.message };
    throw error;
  });
}

function eventsOf({ place, events }: SiteCronEvents) {
  return events.map((event) => eventView(event, place === null ? null : `${place.host}${place.path}`));
}

function eventView({ hook, dueAt, recurrence, intervalSeconds, args }: CronEvent, site: string | null) {
  return {
    hook,
    site,
    next_run_at: dueAt,
    recurrence,
    interval_seconds: intervalSeconds,
    args: JSON.stringify(args),
  };
}

function runView({ beganAt, endedAt, error }: CronRun) {
  return { began_at: beganAt.getTime(), ended_at: endedAt?.getTime() ?? null, error };
}
