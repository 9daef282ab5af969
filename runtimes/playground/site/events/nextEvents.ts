/**
 * When WordPress's planned events are due, of every environment, without waking PHP: read from the databases. A thousand
 * sites that sleep cost a look at a file each; a database is read again only when somebody has written to it.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import path from "node:path";
import { environmentFolders } from "../../../folders.ts";
import { type EnvironmentRef, type EventPlans, type NextEvents, RuntimeFailure } from "../../../runtime.ts";
import { runJob } from "../../templates/job.ts";
import { databaseFile } from "../../templates/template.ts";
import { tablePrefixOf } from "../database/tablePrefix.ts";
import type { EventsJob, EventsRead } from "./eventsJob.ts";
import type { PlansSource } from "./plannedEvents.ts";

export interface EventReader {
  next(environments: readonly EnvironmentRef[], signal: AbortSignal): Promise<ReadonlyMap<string, NextEvents>>;
  all(environment: EnvironmentRef, signal: AbortSignal): Promise<EventPlans | null>;
}

/** Read in one process. */
const together = 100;
const togetherSeconds = 20;
const aloneSeconds = 5;
/** Visitors come first. */
const priority = 10;
/** The time of modification has steps: what was written since within the same one looks as if it had not been. */
const settledMilliseconds = 1_000;
/** Between two readings of what keeps a reader busy until it is ended: twice as long each time. */
const firstPause = 60_000;
const longestPause = 3_600_000;

interface Known {
  /** Of the database when it was read; null: to be read again. */
  readonly stamp: string | null;
  readonly next: NextEvents;
  /** How often in a row no reader came to an end, and until when it is left alone therefore (`performance.now()`). */
  readonly failures: number;
  readonly pausedUntil: number;
}

interface Due {
  readonly environment: EnvironmentRef;
  readonly file: string;
  readonly stamp: string | null;
}

/** Of the database, where it is a file. */
function factsOf(file: string): BigIntStats | null {
  try {
    // Not in a thread: the system has the answer in memory, and a thousand turns of waiting would take longer.
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

async function read(job: EventsJob, deadlineSeconds: number, signal: AbortSignal): Promise<readonly EventsRead[]> {
  const found = await runJob("../site/events/eventsJob.ts", job, { deadlineSeconds, priority, signal });
  if (Array.isArray(found) && found.length === job.sources.length && found.every(isEventsRead)) return found;
  throw new Error("Reading planned events came to something else.");
}

function stampOf(facts: BigIntStats): string | null {
  const age = Date.now() - Number(facts.mtimeMs);
  return age >= 0 && age < settledMilliseconds ? null : [facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join();
}

function soonest({ sites, problem }: EventPlans): NextEvents {
  const events = sites.flatMap(({ place, events: [first] }) =>
    first === undefined ? [] : [{ place, dueAt: first.dueAt }],
  );
  return { events, problem };
}

/** The next writer rolls the unfinished write back, so something is due now. */
const afterUnfinished: NextEvents = { events: [{ place: null, dueAt: 0 }], problem: null };
const neverEnds: NextEvents = { events: [], problem: "Reading the site's database does not come to an end." };

/** `environments` is the folder that holds an environment's folder each. */
export function createEventReader(environments: string): EventReader {
  const known = new Map<string, Known>();

  const currentOf = (environment: EnvironmentRef) =>
    path.join(environmentFolders(environments, environment).live, "current");
  const fileOf = (environment: EnvironmentRef) => path.join(currentOf(environment), "database", databaseFile);

  async function sourceOf({ environment, file }: Pick<Due, "environment" | "file">): Promise<PlansSource> {
    return { file, prefix: await tablePrefixOf(path.join(currentOf(environment), "public")) };
  }

  /** What is to be read now. Forgets what is not there. */
  function look(environment: EnvironmentRef): Due | null {
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

  function keep({ environment, stamp }: Due, found: EventsRead): void {
    if (found === "busy") return;
    const next = found === "unfinished" ? afterUnfinished : soonest(found);
    known.set(environment.id, { stamp: found === "unfinished" ? null : stamp, next, failures: 0, pausedUntil: 0 });
  }

  function leaveAlone({ environment }: Due): void {
    const failures = (known.get(environment.id)?.failures ?? 0) + 1;
    const pause = Math.min(longestPause, firstPause * 2 ** (failures - 1));
    known.set(environment.id, { stamp: null, next: neverEnds, failures, pausedUntil: performance.now() + pause });
  }

  /** One on which no reader comes to an end is found out by reading each alone. */
  async function readTogether(all: readonly Due[], signal: AbortSignal): Promise<void> {
    const isAlone = all.length === 1;
    const sources = await Promise.all(all.map(sourceOf));
    try {
      const found = await read({ sources, what: "next" }, isAlone ? aloneSeconds : togetherSeconds, signal);
      for (const [index, each] of found.entries()) {
        const due = all[index];
        if (due !== undefined) keep(due, each);
      }
    } catch {
      signal.throwIfAborted();
      if (isAlone) all.forEach(leaveAlone);
      else for (const each of all) await readTogether([each], signal);
    }
  }

  return {
    next: async (wanted, signal) => {
      const due = wanted.map(look).filter((each) => each !== null);
      const isSuspect = ({ environment }: Due) => (known.get(environment.id)?.failures ?? 0) > 0;
      const usual = due.filter((each) => !isSuspect(each));
      for (let done = 0; done < usual.length; done += together) {
        await readTogether(usual.slice(done, done + together), signal);
      }
      for (const each of due.filter(isSuspect)) await readTogether([each], signal);
      const asked = new Set(wanted.map(({ id }) => id));
      for (const id of known.keys()) if (!asked.has(id)) known.delete(id);
      return new Map([...known].map(([id, { next }]) => [id, next]));
    },
    all: async (environment, signal) => {
      const file = fileOf(environment);
      if (factsOf(file) === null) return null;
      const [found] = await read(
        { sources: [await sourceOf({ environment, file })], what: "all" },
        aloneSeconds,
        signal,
      );
      if (typeof found === "object") return found;
      throw new RuntimeFailure("The site's database is being written just now. Try again in a moment.");
    },
  };
}
