/** Periods of analytics, and the steps that they are divided into. */
import { analyticsDays, type Step, steps } from "@sitewright/server/store/traffic/analytics.ts";
import { Refused } from "../failures.ts";

/** In milliseconds. */
export const stepLengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<Step, number>;
const maxSteps = 1_500;

/** Times are in milliseconds since 1970. */
export interface AnalyticsPeriod {
  /** Where a step begins. */
  readonly from: number;
  readonly to: number;
  readonly step: Step;
  /** The steps whose counts are read. Those of days may be hours, because only days in UTC are stored. */
  readonly storedStep: Step;
  /** How much earlier than in UTC days begin. */
  readonly offset: number;
}

interface WantedPeriod {
  readonly from: number;
  readonly to: number;
  /** Absent: the shortest. */
  readonly step?: Step | undefined;
  /** Milliseconds that the zone of the days is ahead of UTC. */
  readonly offset: number;
}

/** Chooses the steps. Throws `Refused` if the period is empty. */
export function periodOf({ from, to, step: wanted, offset }: WantedPeriod, now: number): AnalyticsPeriod {
  const end = Math.min(to, now);
  if (from >= end) {
    throw new Refused(
      "period_backwards",
      "The period ends before it begins. `from` must be before `to`, and before now.",
      {
        from,
        to: end,
      },
    );
  }
  const begin = Math.max(from, now - analyticsDays.day * stepLengths.day);
  const isKept = (step: Step) => begin > now - analyticsDays[step] * stepLengths.day - stepLengths[step];
  const shortest = steps.indexOf(wanted ?? "minute");
  const step =
    steps.find((each, index) => index >= shortest && isKept(each) && (end - begin) / stepLengths[each] <= maxSteps) ??
    "day";
  // Older days are stored in UTC only.
  const shift = step === "day" && isKept("hour") ? offset : 0;
  return {
    from: beginningOf(begin, step, shift),
    to: end,
    step,
    storedStep: shift === 0 ? step : "hour",
    offset: shift,
  };
}

/** The beginning of the step that contains the time. */
export function beginningOf(time: number, step: Step, offset: number): number {
  const length = stepLengths[step];
  return Math.floor((time + offset) / length) * length - offset;
}

/** The beginnings of all steps of the period. */
export function beginningsOf({ from, to, step }: AnalyticsPeriod): readonly number[] {
  const length = stepLengths[step];
  return Array.from({ length: Math.ceil((to - from) / length) }, (_, index) => from + index * length);
}

/** In milliseconds, of a time zone such as `-05:00`. */
export function offsetOf(timeZone: string): number {
  return Number(timeZone.split(":", 1)[0]) * stepLengths.hour;
}
