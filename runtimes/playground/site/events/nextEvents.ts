/**
 * Finds when the WP-Cron events of all environments are due, without running PHP, by reading the databases. For a
 * thousand idle sites this costs one `lstat` each; a database is read again only if it has been written.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { Confinement } from "../../../confinement.ts";
import { environmentFolders } from "../../../folders.ts";
import { type CronEvents, type EnvironmentRef, type NextEvents, RuntimeFailure } from "../../../runtime.ts";
import { runTenantJob } from "../../templates/job.ts";
import { databaseFile } from "../../templates/template.ts";
import { tablePrefixOf } from "../database/tablePrefix.ts";
import type { EventsSource } from "./cronEvents.ts";
import type { EventsJob, EventsRead } from "./eventsJob.ts";

interface EventReader {
  next(environments: readonly EnvironmentRef[], signal: AbortSignal): Promise<ReadonlyMap<string, NextEvents>>;
  all(environment: EnvironmentRef, signal: AbortSignal): Promise<CronEvents | null>;
}

/** How many databases one process reads. If environments have users of their own, the process is one of them. */
const batchSize = process.getuid?.() === 0 ? 1 : 100;
const batchSeconds = 20;
const singleSeconds = 5;
/** Visitors come first. */
const priority = 10;
/**
 * Modification times have a limited resolution: a file that was modified within this time may have changed since it was
 * read.
 */
const settledMilliseconds = 1_000;
/** Pause after a read that never ended; doubles with each failure. */
const minPause = 60_000;
const maxPause = 3_600_000;

interface Known {
  /** Identifies the state of the database when it was read; null: read it again. */
  readonly stamp: string | null;
  readonly next: NextEvents;
  /** Number of successive failures, and until when the database is not read therefore (`performance.now()`). */
  readonly failures: number;
  readonly pausedUntil: number;
}

interface Due {
  readonly environment: EnvironmentRef;
  readonly file: string;
  readonly stamp: string | null;
}

/** Returns the facts of the database file; null if it is not a file. */
function factsOf(file: string): BigIntStats | null {
  try {
    // Synchronous on purpose: the system has the answer in memory, and a thousand asynchronous calls would take longer.
    const facts = lstatSync(file, { bigint: true });
    return facts.isFile() ? facts : null;
  } catch {
    return null;
  }
}

function isEventsRead(value: unknown): value is EventsRead {
  if (value === "busy" || value === "unfinished") return true;
  return typeof value === "object" && value !== null && "sites" in value && "problem" in value;
}

/** Where to read, and how. */
interface Reading {
  readonly due: readonly Pick<Due, "environment" | "file">[];
  readonly sources: readonly EventsSource[];
  readonly scope: EventsJob["scope"];
}

async function read(
  { due, sources, scope }: Reading,
  deadlineSeconds: number,
  signal: AbortSignal,
): Promise<readonly EventsRead[]> {
  const [first] = due;
  if (first === undefined) return [];
  const reads = [...new Set(sources.map(({ file }) => path.dirname(file)))];
  const files = { source: first.environment, reads, writes: [] };
  const jobAt = (at: Confinement["at"]): EventsJob => ({
    sources: sources.map(({ file, prefix }) => ({ file: at(file), prefix })),
    scope,
  });
  const found = await runTenantJob("../site/events/eventsJob.ts", jobAt, { files, deadlineSeconds, priority, signal });
  if (Array.isArray(found) && found.length === sources.length && found.every(isEventsRead)) return found;
  throw new Error("Reading WP-Cron events returned an unknown result.");
}

function stampOf(facts: BigIntStats): string | null {
  const age = Date.now() - Number(facts.mtimeMs);
  return age >= 0 && age < settledMilliseconds ? null : [facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join();
}

function soonest({ sites, problem }: CronEvents): NextEvents {
  const events = sites.flatMap(({ place, events: [first] }) =>
    first === undefined ? [] : [{ place, dueAt: first.dueAt }],
  );
  return { events, problem };
}

/** The next writer rolls the unfinished write back, so an event is reported as due now. */
const afterUnfinished: NextEvents = { events: [{ place: null, dueAt: 0 }], problem: null };
const neverEnds: NextEvents = { events: [], problem: "Reading the site's database takes too long." };

/** Creates a reader. `environments` is the folder that contains the environments' folders. */
export function createEventReader(environments: string): EventReader {
  const known = new Map<string, Known>();

  const currentOf = (environment: EnvironmentRef) =>
    path.join(environmentFolders(environments, environment).live, "current");
  const fileOf = (environment: EnvironmentRef) => path.join(currentOf(environment), "database", databaseFile);

  async function sourceOf({ environment, file }: Pick<Due, "environment" | "file">): Promise<EventsSource> {
    return {
      file: await realpath(file).catch(() => file),
      prefix: await tablePrefixOf(path.join(currentOf(environment), "public")),
    };
  }

  /** Returns what to read now, or null if nothing has changed. Forgets environments that don't exist. */
  function check(environment: EnvironmentRef): Due | null {
    const file = fileOf(environment);
    const facts = factsOf(file);
    if (facts === null) {
      known.delete(environment.id);
      return null;
    }
    const stamp = stampOf(facts);
    const before = known.get(environment.id);
    const isKnown = stamp !== null && before?.stamp === stamp;
    return isKnown || performance.now() < (before?.pausedUntil ?? 0) ? null : { environment, file, stamp };
  }

  function store({ environment, stamp }: Due, found: EventsRead): void {
    if (found === "busy") return;
    const next = found === "unfinished" ? afterUnfinished : soonest(found);
    known.set(environment.id, { stamp: found === "unfinished" ? null : stamp, next, failures: 0, pausedUntil: 0 });
  }

  function pause({ environment }: Due): void {
    const failures = (known.get(environment.id)?.failures ?? 0) + 1;
    const duration = Math.min(maxPause, minPause * 2 ** (failures - 1));
    known.set(environment.id, { stamp: null, next: neverEnds, failures, pausedUntil: performance.now() + duration });
  }

  /**
   * Reads several databases in one process. If that fails, reads each in its own process to find the one that never
   * ends.
   */
  async function readBatch(all: readonly Due[], signal: AbortSignal): Promise<void> {
    const isSingle = all.length === 1;
    const sources = await Promise.all(all.map(sourceOf));
    try {
      const found = await read({ due: all, sources, scope: "next" }, isSingle ? singleSeconds : batchSeconds, signal);
      for (const [index, each] of found.entries()) {
        const due = all[index];
        if (due !== undefined) store(due, each);
      }
    } catch {
      signal.throwIfAborted();
      if (isSingle) all.forEach(pause);
      else for (const each of all) await readBatch([each], signal);
    }
  }

  return {
    next: async (wanted, signal) => {
      const due = wanted.map(check).filter((each) => each !== null);
      const isSuspect = ({ environment }: Due) => (known.get(environment.id)?.failures ?? 0) > 0;
      const normal = due.filter((each) => !isSuspect(each));
      for (let done = 0; done < normal.length; done += batchSize) {
        await readBatch(normal.slice(done, done + batchSize), signal);
      }
      for (const each of due.filter(isSuspect)) await readBatch([each], signal);
      const wantedIds = new Set(wanted.map(({ id }) => id));
      for (const id of known.keys()) if (!wantedIds.has(id)) known.delete(id);
      return new Map([...known].map(([id, { next }]) => [id, next]));
    },
    all: async (environment, signal) => {
      const file = fileOf(environment);
      if (factsOf(file) === null) return null;
      const sources = [await sourceOf({ environment, file })];
      const [found] = await read({ due: [{ environment, file }], sources, scope: "all" }, singleSeconds, signal);
      if (typeof found === "object") return found;
      throw new RuntimeFailure("The site's database is being written. Try again in a moment.");
    },
  };
}
