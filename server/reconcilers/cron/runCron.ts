/**
 * Runs WP-Cron events when they are due, also of sleeping sites: up to `concurrency` environments at a time. Companies take
 * turns, and within a company the longest waiting is first. Due events are read from the sites' databases, so PHP is woken
 * only if there is work. See docs/decisions/cron.md.
 */
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import type { Database } from "../../store/database.ts";
import {
  beginCronRun,
  type CronEnvironment,
  endCronRun,
  findForCron,
  listForCron,
} from "../../store/sites/cronRuns.ts";
import { type CronReport, runDueEvents, type TaskClient } from "./cronRun.ts";
import { type CronCandidate, dueCandidates } from "./cronSchedule.ts";

export interface CronOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "nextEvents">;
  readonly edge: TaskClient;
  /** The `Host` of requests to the site, with the port if it is not the default. */
  readonly hostOf: (place: { readonly host: string; readonly is_https: boolean }) => string;
  /** Maximum number of environments whose events run at the same time; 0 turns WP-Cron off. */
  readonly concurrency: number;
  readonly log: Logger;
  readonly now?: () => number;
}

export interface Cron {
  /** Looks for due events and starts runs. Whenever a run ends, the next one starts. */
  reconcile(): Promise<void>;
  /** Starts no more runs. PHP finishes its current events, and the next process waits for that. */
  stop(): Promise<void>;
}

type DueRun = CronEnvironment & CronCandidate;

export function makeCron(options: CronOptions): Cron {
  const { database, runtime, concurrency, log, now = Date.now } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const reported = new Map<string, string>();
  let waiting: readonly DueRun[] = [];
  /** Companies in the order in which their events ran, the last one at the end. */
  const served = new Set<string>();

  /** Logs each problem once. */
  function report(id: string, problem: string | null): void {
    if (problem === null) reported.delete(id);
    else if (reported.get(id) !== problem) {
      reported.set(id, problem);
      log.warn({ environment: id, problem }, "The scheduled tasks of a site can't be read; they are not run");
    }
  }

  async function findDueRuns(): Promise<readonly DueRun[]> {
    const environments = await listForCron(database);
    const next = await runtime.nextEvents(environments, stopping.signal);
    for (const id of reported.keys()) if (!next.has(id)) reported.delete(id);
    for (const [id, { problem }] of next) report(id, problem);
    const time = now();
    const due = [...next].filter(([, { events }]) => events.some(({ dueAt }) => dueAt <= time));
    const found = await findForCron(
      database,
      due.map(([id]) => id),
    );
    const candidates = found.map((each) => ({ ...each, events: next.get(each.id)?.events ?? [] }));
    return dueCandidates(candidates, time);
  }

  function fill(): void {
    while (!stopping.signal.aborted && running.size < concurrency) {
      const next = nextInTurn();
      if (next === undefined) return;
      waiting = waiting.filter((due) => due !== next);
      if (!running.has(next.id)) start(next);
    }
  }

  /** The longest waiting run of the company whose events ran the longest time ago. */
  function nextInTurn(): DueRun | undefined {
    const turn = new Map([...served].map((company, index) => [company, index + 1]));
    const turnOf = ({ companyId }: DueRun) => turn.get(companyId) ?? 0;
    const first = Math.min(...waiting.map(turnOf));
    return waiting.find((due) => turnOf(due) === first);
  }

  function start(due: DueRun): void {
    served.delete(due.companyId);
    served.add(due.companyId);
    const run = runOne(due)
      .catch((err: unknown) => {
        if (!stopping.signal.aborted) log.error({ err, environment: due.id }, "Running scheduled tasks failed");
      })
      .finally(() => {
        running.delete(due.id);
        fill();
      });
    running.set(due.id, run);
  }

  async function runOne(due: DueRun): Promise<void> {
    if (!(await beginCronRun(database, due, new Date(now())))) return;
    const result = await runDueEvents({ ...due, host: options.hostOf(due) }, { ...options, now }, stopping.signal);
    logResult(due, result);
    const { error, isFailure } = result;
    await endCronRun(database, due.id, { now: new Date(now()), error, isFailure });
  }

  function logResult({ id }: DueRun, { failed, error, isFailure, ran }: CronReport): void {
    for (const { hook, message } of failed) {
      log.warn({ environment: id, hook, reason: message }, "A scheduled task of a site failed");
    }
    if (isFailure) log.warn({ environment: id, reason: error }, "The scheduled tasks of a site could not be completed");
    else log.debug({ environment: id, ran }, "Scheduled tasks were run");
  }

  return {
    reconcile: async () => {
      if (concurrency === 0 || stopping.signal.aborted) return;
      try {
        waiting = await findDueRuns();
      } catch (error) {
        // Stopping aborts the query.
        if (!stopping.signal.aborted) throw error;
      }
      fill();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}
