/**
 * Finds when the WP-Cron events of all environments are due, without running PHP, by reading the databases. For a
 * thousand idle sites this costs one `lstat` each; a database is read again only if it has been written.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { Confinement } from "../../confinement.ts";
import { setDeadline } from "../../deadline.ts";
import { environmentFolders } from "../../folders.ts";
import { runTenantJob } from "../../job.ts";
import { type CronEvents, type EnvironmentRef, type NextEvents, RuntimeFailure } from "../../runtime.ts";
import type { EventReader } from "../../site/siteDatabase.ts";
import { tablePrefixOf } from "../../site/tablePrefix.ts";
import { databaseFile } from "../databaseFiles.ts";
import { createSuspects, jobSource, partyOf, readingTurns } from "../readings.ts";
import type { EventsSource } from "./cronEvents.ts";
import type { EventsJob, EventsRead } from "./eventsJob.ts";
import { openKnownEvents } from "./knownEvents.ts";

/** How many databases one process reads. If environments have users of their own, the process is one of them. */
const defaultBatchSize = process.getuid?.() === 0 ? 1 : 100;
const batchSeconds = 20;
const singleSeconds = 5;
/** How long a call waits for what it has begun to read, in running time. */
const waitSeconds = 3;
/** Visitors come first. */
const priority = 10;
/**
 * Modification times have a limited resolution: a file that was modified within this time may have changed since it was
 * read.
 */
const settledMilliseconds = 1_000;

const databaseInLive = path.join("current", "database", databaseFile);

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
export interface Reading {
  readonly due: readonly Pick<Due, "environment" | "file">[];
  readonly sources: readonly EventsSource[];
  readonly scope: EventsJob["scope"];
}

async function readInProcess(
  { due, sources, scope }: Reading,
  deadlineSeconds: number,
  signal: AbortSignal,
): Promise<readonly EventsRead[]> {
  const [first, ...others] = due.map(({ environment }) => environment);
  if (first === undefined) return [];
  const reads = [...new Set(sources.map(({ file }) => path.dirname(file)))];
  const files = { source: jobSource([first, ...others]), reads, writes: [] };
  const jobAt = (at: Confinement["at"]): EventsJob => ({
    sources: sources.map(({ file, prefix }) => ({ file: at(file), prefix })),
    scope,
  });
  const found = await runTenantJob(new URL("./eventsJob.ts", import.meta.url), jobAt, {
    files,
    deadlineSeconds,
    priority,
    signal,
  });
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

/** Resolves when a call has waited long enough. Cancelled by the signal. */
function waitLong(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = setDeadline(waitSeconds, resolve);
    signal.addEventListener("abort", cancel, { once: true });
  });
}

interface EventReaderOptions {
  /** The file that keeps the events for the next start. Absent: they are read again. */
  readonly file?: string;
  /** Reads databases. Absent: in a process. */
  readonly read?: typeof readInProcess;
  readonly batchSize?: number;
  /** Absent: `waitLong`. */
  readonly wait?: typeof waitLong;
}

/** Creates a reader. `environments` is the folder that contains the environments' folders. */
export function createEventReader(environments: string, options: EventReaderOptions = {}): EventReader {
  const { file: knownFile = null, read = readInProcess, batchSize = defaultBatchSize, wait = waitLong } = options;
  const known = openKnownEvents(knownFile);
  const suspects = createSuspects();
  /** Ids of the environments that are read now. */
  const reading = new Set<string>();

  const currentOf = (environment: EnvironmentRef) =>
    path.join(environmentFolders(environments, environment).live, "current");
  // Not joined once more: that would take as long as `lstat` does.
  const fileOf = (environment: EnvironmentRef) =>
    `${environmentFolders(environments, environment).live}${path.sep}${databaseInLive}`;

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
    const isKnown = stamp !== null && known.get(environment.id)?.stamp === stamp;
    return isKnown || suspects.isPaused(environment.id) ? null : { environment, file, stamp };
  }

  function store({ environment, stamp }: Due, found: EventsRead): void {
    if (found === "busy") return;
    const next = found === "unfinished" ? afterUnfinished : soonest(found);
    known.set(environment.id, { stamp: found === "unfinished" ? null : stamp, next });
    suspects.remove(environment.id);
  }

  function pause({ environment }: Due): void {
    known.set(environment.id, { stamp: null, next: neverEnds });
    suspects.addFailure(environment.id);
  }

  function forget(id: string): void {
    known.delete(id);
    suspects.remove(id);
  }

  async function readNow(all: readonly Due[], signal: AbortSignal): Promise<readonly EventsRead[]> {
    const sources = await Promise.all(all.map(sourceOf));
    return read({ due: all, sources, scope: "next" }, all.length === 1 ? singleSeconds : batchSeconds, signal);
  }

  /**
   * Reads several databases in one process, when it is their turn. If that fails, reads each in its own process to find the
   * one that never ends.
   */
  async function readBatch(all: readonly Due[], signal: AbortSignal): Promise<void> {
    const party = partyOf(all.map(({ environment }) => environment));
    try {
      const found = await readingTurns.run(party, () => readNow(all, signal), signal);
      for (const [index, each] of found.entries()) {
        const due = all[index];
        if (due !== undefined) store(due, each);
      }
    } catch {
      signal.throwIfAborted();
      if (all.length === 1) all.forEach(pause);
      else await Promise.all(all.map((each) => readBatch([each], signal)));
    }
  }

  async function begin(all: readonly Due[], signal: AbortSignal): Promise<void> {
    for (const { environment } of all) reading.add(environment.id);
    try {
      await readBatch(all, signal);
    } finally {
      for (const { environment } of all) reading.delete(environment.id);
    }
  }

  /** Begins to read. Waits for the databases that can be expected to be read soon, but not endlessly. */
  async function readDue(due: readonly Due[], signal: AbortSignal): Promise<void> {
    const isSuspect = ({ environment }: Due) => suspects.has(environment.id);
    const normal = due.filter((each) => !isSuspect(each));
    const batches: Promise<void>[] = [];
    for (let done = 0; done < normal.length; done += batchSize)
      batches.push(begin(normal.slice(done, done + batchSize), signal));
    // Fails only if it is aborted.
    for (const each of due.filter(isSuspect)) begin([each], signal).catch(() => undefined);
    if (batches.length === 0) return;
    const stopWaiting = new AbortController();
    await Promise.race([Promise.all(batches), wait(stopWaiting.signal)]).finally(() => stopWaiting.abort());
  }

  return {
    next: async (wanted, signal) => {
      await known.load();
      const due = wanted.filter(({ id }) => !reading.has(id)).map(check);
      await readDue(
        due.filter((each) => each !== null),
        signal,
      );
      const wantedIds = new Set(wanted.map(({ id }) => id));
      for (const id of known.keys()) if (!wantedIds.has(id)) forget(id);
      await known.save();
      // What is read now has changed. Its earlier events may have run since.
      const isCurrent = ({ id }: EnvironmentRef) => !reading.has(id) || suspects.has(id);
      return new Map(
        wanted.filter(isCurrent).flatMap(({ id }) => {
          const found = known.get(id);
          return found === undefined ? [] : [[id, found.next]];
        }),
      );
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
