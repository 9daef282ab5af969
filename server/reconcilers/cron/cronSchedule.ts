/** Whose events are run when: decided here, from what is known, and done elsewhere. */
import type { NextEvent } from "@sitewright/runtimes/runtime.ts";

export interface CronCandidate {
  readonly id: string;
  /** What its sites do next. */
  readonly events: readonly NextEvent[];
  /** When the environment was made. */
  readonly createdAt: Date;
  readonly lastRun: {
    readonly beganAt: Date;
    readonly endedAt: Date | null;
    readonly failures: number;
  } | null;
}

const minute = 60_000;
/** A new WordPress has many events due at once, and its creator is waiting for its pages. */
const firstRunAfter = minute;
/** Between the beginnings of two runs, whatever a site plans. */
const betweenRuns = minute;
/** A run whose end was not recorded is over by then, because PHP was killed at its deadline. */
export const longestRun = 2 * minute;
/** From the beginning of a run that could not be ended: 2, 4, 8 … minutes. */
const longestPause = 60 * minute;

function pauseAfter(failures: number): number {
  return Math.min(longestPause, betweenRuns * 2 ** Math.min(failures, 10));
}

/**
 * From when on, in milliseconds since 1970, what was before allows a run. What was in the future says nothing: the clock was
 * put back.
 */
function allowedFrom({ createdAt, lastRun }: CronCandidate, now: number): number {
  const began = (lastRun?.beganAt ?? createdAt).getTime();
  if (began > now) return 0;
  if (lastRun === null) return began + firstRunAfter;
  return began + (lastRun.endedAt === null ? longestRun : pauseAfter(lastRun.failures));
}

/** When the candidate's turn has come or will come, in milliseconds since 1970; null if it plans nothing. */
export function turnOf(candidate: CronCandidate, now: number): number | null {
  if (candidate.events.length === 0) return null;
  const due = Math.min(...candidate.events.map(({ dueAt }) => dueAt));
  return Math.max(due, allowedFrom(candidate, now));
}

/**
 * Those whose turn has come, whoever has waited longest first. A site that always has something due waits from its last run
 * on, so that it never stands before the others for ever.
 */
export function dueCandidates<C extends CronCandidate>(candidates: readonly C[], now: number): readonly C[] {
  return candidates
    .map((candidate) => ({ candidate, turn: turnOf(candidate, now) }))
    .filter((each): each is { candidate: C; turn: number } => each.turn !== null && each.turn <= now)
    .toSorted((one, other) => one.turn - other.turn)
    .map(({ candidate }) => candidate);
}
