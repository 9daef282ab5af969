/**
 * Child process that runs each reconciler of an installation a known number of times, and measures what a pass costs. It has the
 * same reconcilers as the control process, which must be stopped meanwhile, with connections of its own.
 */
import { useUsersFrom } from "@sitewright/runtimes/owner.ts";
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import type { Reconciler } from "@sitewright/server/reconcilers/schedule.ts";
import { scheduleBackups } from "@sitewright/server/reconcilers/scheduleBackups.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { chooseDueBackup, setDueTimes } from "@sitewright/server/store/backups/scheduledBackups.ts";
import type { OpenDatabase } from "@sitewright/server/store/open.ts";
import { openPeriodicWork } from "@sitewright/server/testing/periodicWork.ts";
import pg from "pg";
import { type ProcessorTimes, spentDuring } from "./growthTimes.ts";
import { median, timed } from "./statistics.ts";

/** The mean cost of one pass of a reconciler, and how often it runs. */
export interface PassCost {
  readonly name: string;
  readonly passesPerHour: number;
  readonly times: ProcessorTimes;
  readonly statements: number;
  /** Rows and index entries that PostgreSQL has read. */
  readonly rows: number;
}

export interface Passes {
  readonly passes: readonly PassCost[];
  /** Milliseconds until the edge has acknowledged the table, and the processor time meanwhile. */
  readonly publishing: { readonly milliseconds: number; readonly times: ProcessorTimes };
  /** Milliseconds to plan the next backups of all environments, and to choose one when all of them are due. */
  readonly planning: number;
  readonly choosing: number;
}

/** Processor time of one reconciler in an hour, of all processes, in seconds. */
export function secondsPerHour({ times: { control, database, edge }, passesPerHour }: PassCost): number {
  return ((control + database + edge) * passesPerHour) / 1_000;
}

/** Passes that are run first and not measured: they do overdue work and fill caches. */
const firstPasses = 2;
const minPasses = 5;
const maxPasses = 200;
const measuredMilliseconds = 500;
const repetitions = 5;
const day = 86_400_000;

let statements = 0;
const query = pg.Client.prototype.query;
Object.defineProperty(pg.Client.prototype, "query", {
  value(this: pg.Client, ...parameters: unknown[]) {
    statements += 1;
    return Reflect.apply(query, this, parameters);
  },
});

/** Rows and index entries read since the start of PostgreSQL. Connections report theirs when they are asked to. */
async function rowsRead({ pool }: OpenDatabase): Promise<number> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of clients) await client.query("select pg_stat_force_next_flush()");
  for (const client of clients) client.release();
  const { rows } = await pool.query<{ count: number }>(
    "select sum(tup_returned)::float8 as count from pg_stat_database",
  );
  return rows[0]?.count ?? 0;
}

interface Context {
  readonly opened: OpenDatabase;
  /** The process id of `npm start`. */
  readonly supervisor: number;
}

async function measure({ opened, supervisor }: Context, { name, run }: Reconciler) {
  for (let count = 0; count < firstPasses; count += 1) await run();
  const [rowsBefore, statementsBefore] = [await rowsRead(opened), statements];
  let count = 0;
  const { control, database, edge } = await spentDuring(supervisor, async () => {
    const end = performance.now() + measuredMilliseconds;
    for (; count < minPasses || (count < maxPasses && performance.now() < end); count += 1) await run();
  });
  const statementsOfPasses = statements - statementsBefore;
  const rows = (await rowsRead(opened)) - rowsBefore;
  return {
    name,
    times: { control: control / count, database: database / count, edge: edge / count },
    statements: statementsOfPasses / count,
    rows: rows / count,
  };
}

/** Several of the same kind, such as those that order certificates, are measured once. */
async function measureAll(context: Context, reconcilers: readonly Reconciler[]): Promise<readonly PassCost[]> {
  const costs: PassCost[] = [];
  for (const [name, group] of Map.groupBy(reconcilers, (each) => each.name.replace(/ \d+$/, ""))) {
    const [first] = group;
    if (first === undefined) continue;
    const passesPerHour = (group.length * 3_600) / first.everySeconds;
    costs.push({ ...(await measure(context, { ...first, name, run: () => first.run() })), passesPerHour });
  }
  return costs;
}

async function measurePublishing({ supervisor }: Context, publish: () => Promise<void>): Promise<Passes["publishing"]> {
  await publish();
  const durations: number[] = [];
  const { control, database, edge } = await spentDuring(supervisor, async () => {
    for (let count = 0; count < repetitions; count += 1) durations.push((await timed(publish)).milliseconds);
  });
  const share = (sum: number) => sum / repetitions;
  return {
    milliseconds: median(durations),
    times: { control: share(control), database: share(database), edge: share(edge) },
  };
}

async function measurePlanning({ opened: { database } }: Context): Promise<number> {
  const rows = await database.selectFrom("environments").select("id").where("state", "=", "serving").execute();
  const durations: number[] = [];
  for (let count = 0; count < repetitions; count += 1) {
    const dueAt = new Date(Date.now() + 2 * day);
    await setDueTimes(
      database,
      rows.map(({ id }) => ({ id, dueAt })),
    );
    const plan = () => scheduleBackups({ database, hours: 24, begin: async () => false });
    durations.push((await timed(plan)).milliseconds);
  }
  return median(durations);
}

async function measureChoosing({ opened: { database } }: Context): Promise<number> {
  const allDue = new Date(Date.now() + day);
  const choose = () =>
    database.transaction().execute(async (transaction) => {
      if ((await chooseDueBackup(transaction, allDue, 2)) === null) throw new Error("No backup is due");
    });
  const durations: number[] = [];
  for (let count = 0; count < repetitions; count += 1) durations.push((await timed(choose)).milliseconds);
  return median(durations);
}

if (import.meta.main) {
  const [supervisor = "", settings = "{}"] = process.argv.slice(2);
  const config = loadConfig(JSON.parse(settings));
  useUsersFrom(config.firstUserId);
  const { assets, environments, eventsFile } = config;
  const runtime = createPlaygroundRuntime({ assets, environments, eventsFile });
  await using work = await openPeriodicWork(config, runtime);
  const context = { opened: work.opened, supervisor: Number(supervisor) };
  const result: Passes = {
    publishing: await measurePublishing(context, work.publisher.publish),
    planning: await measurePlanning(context),
    choosing: await measureChoosing(context),
    passes: await measureAll(context, work.reconcilers),
  };
  process.send?.(result);
}
