/** Decides which environments' WP-Cron events run next. Pure: the runs themselves are in `runCron.ts`. */
import type { NextEvent } from "@sitewright/runtimes/runtime.ts";

export interface CronCandidate {
  readonly id: string;
  /** The next event of each of its sites. */
  readonly events: readonly NextEvent[];
  readonly createdAt: Date;
  readonly lastRun: {
    readonly beganAt: Date;
    readonly endedAt: Date | null;
    readonly failures: number;
  } | null;
}

const minute = 60_000;
/** A new WordPress has many events due at once, while its creator is waiting for its pages. */
const firstRunAfter = minute;
/** Minimum time between the starts of two runs, however often events are due. */
const betweenRuns = minute;
/** After this time a run without a recorded end is over, because PHP was killed at its deadline. */
const maxRunTime = 2 * minute;
/** After failed runs, from the start of the last one: 2, 4, 8 … minutes. */
const maxPause = 60 * minute;

function pauseAfter(failures: number): number {
  return Math.min(maxPause, betweenRuns * 2 ** Math.min(failures, 10));
}

/**
 * Earliest time of the next run, in milliseconds since 1970. Ignores a last run in the future: the clock was set back.
 */
function allowedFrom({ createdAt, lastRun }: CronCandidate, now: number): number {
  const began = (lastRun?.beganAt ?? createdAt).getTime();
  if (began > now) return 0;
  if (lastRun === null) return began + firstRunAfter;
  return began + (lastRun.endedAt === null ? maxRunTime : pauseAfter(lastRun.failures));
}

/** When the candidate is due, in milliseconds since 1970, or null if it has no events. */
export function dueTime(candidate: CronCandidate, now: number): number | null {
  if (candidate.events.length === 0) return null;
  const due = Math.min(...candidate.events.map(({ dueAt }) => dueAt));
  return Math.max(due, allowedFrom(candidate, now));
}

/**
 * The candidates that are due, the longest waiting first. A site that always has due events counts as waiting since its last
 * run, so that it can't block the others.
 */
export function dueCandidates<C extends CronCandidate>(candidates: readonly C[], now: number): readonly C[] {
  return candidates
    .map((candidate) => ({ candidate, due: dueTime(candidate, now) }))
    .filter((each): each is { candidate: C; due: number } => each.due !== null && each.due <= now)
    .toSorted((one, other) => one.due - other.due)
    .map(({ candidate }) => candidate);
}
