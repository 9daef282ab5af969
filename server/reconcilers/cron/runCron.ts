/**
 * Has WordPress's events run when they are due, also those of sites that sleep: as many sites at once as may be, whoever
 * waits longest first. What is due is read from the databases, so that PHP is woken only for what there is to do.
 * docs/decisions/cron.md says more.
 */
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import type { Database } from "../../store/database.ts";
import { beginCronRun, type CronEnvironment, endCronRun, listForCron } from "../../store/sites/cronRuns.ts";
import { type CronReport, runDueEvents, type TaskClient } from "./cronRun.ts";
import { type CronCandidate, dueCandidates } from "./cronSchedule.ts";

export interface CronOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "nextEvents">;
  readonly edge: TaskClient;
  /** What a request to a site of this name has as its host: with the port, where there is one. */
  readonly hostOf: (place: { readonly host: string; readonly is_https: boolean }) => string;
  /** In how many environments events run at the same time; 0: in none. */
  readonly atOnce: number;
  readonly log: Logger;
  readonly now?: () => number;
}

export interface Cron {
  /** Looks what is due, and begins what may begin. Whenever a run has ended the next one begins. */
  reconcile(): Promise<void>;
  /** Begins nothing more. What PHP is doing it does to its end; the next process waits for that. */
  stop(): Promise<void>;
}

type Turn = CronEnvironment & CronCandidate;

export function makeCron(options: CronOptions): Cron {
  const { database, runtime, atOnce, log, now = Date.now } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const told = new Map<string, string>();
  let waiting: readonly Turn[] = [];

  /** Each problem once. */
  function tell(id: string, problem: string | null): void {
    if (problem === null) told.delete(id);
    else if (told.get(id) !== problem) {
      told.set(id, problem);
      log.warn({ environment: id, problem }, "What a WordPress plans can't be read; it is not run");
    }
  }

  async function findTurns(): Promise<readonly Turn[]> {
    const environments = await listForCron(database);
    const next = await runtime.nextEvents(environments, stopping.signal);
    for (const id of told.keys()) if (!next.has(id)) told.delete(id);
    const turns = environments.flatMap((environment) => {
      const found = next.get(environment.id);
      if (found === undefined) return [];
      tell(environment.id, found.problem);
      return [{ ...environment, events: found.events }];
    });
    return dueCandidates(turns, now());
  }

  function fill(): void {
    while (!stopping.signal.aborted && running.size < atOnce) {
      const [turn, ...others] = waiting;
      if (turn === undefined) return;
      waiting = others;
      if (!running.has(turn.id)) begin(turn);
    }
  }

  function begin(turn: Turn): void {
    const run = runOne(turn)
      .catch((err: unknown) => {
        if (!stopping.signal.aborted) log.error({ err, environment: turn.id }, "Planned events could not be run");
      })
      .finally(() => {
        running.delete(turn.id);
        fill();
      });
    running.set(turn.id, run);
  }

  async function runOne(turn: Turn): Promise<void> {
    if (!(await beginCronRun(database, turn, new Date(now())))) return;
    const report = await runDueEvents({ ...turn, host: options.hostOf(turn) }, { ...options, now }, stopping.signal);
    logReport(turn, report);
    const { error, isFailure } = report;
    await endCronRun(database, turn.id, { now: new Date(now()), error, isFailure });
  }

  function logReport({ id }: Turn, { failed, error, isFailure, ran }: CronReport): void {
    for (const { hook, message } of failed) {
      log.warn({ environment: id, hook, reason: message }, "An event that a WordPress had planned failed");
    }
    if (isFailure) log.warn({ environment: id, reason: error }, "A WordPress did not get to the end of its due events");
    else log.debug({ environment: id, ran }, "Planned events were run");
  }

  return {
    reconcile: async () => {
      if (atOnce === 0 || stopping.signal.aborted) return;
      try {
        waiting = await findTurns();
      } catch (error) {
        // Stopping aborts the check.
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
