/** Requests, visits, bandwidth, response times and disk space over time. */
import {
  type Counts,
  type EnvironmentAnalytics,
  readAnalytics,
  readCompanyTotals,
  type Step,
} from "@sitewright/server/store/traffic/analytics.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { figuresOf, sumOf } from "./analyticsFigures.ts";
import {
  type AnalyticsPeriod,
  beginningOf,
  beginningsOf,
  offsetOf,
  periodOf,
  stepLengths,
} from "./analyticsPeriods.ts";

interface AnalyticsQuery {
  readonly from?: number;
  readonly to?: number;
  readonly step?: Step;
  readonly time_zone?: string;
}

export interface CountedStep {
  readonly begins: number;
  /** Null: nobody counted. */
  readonly counts: Counts | null;
  readonly diskBytes: number | null;
}

const defaultPeriod = 24 * stepLengths.hour;

/** All figures of an environment. */
export async function get(context: Context, environmentId: string, query: AnalyticsQuery) {
  const now = Date.now();
  const to = query.to ?? now;
  const from = query.from ?? Math.max(0, to - defaultPeriod);
  const offset = offsetOf(query.time_zone ?? "00:00");
  const period = periodOf({ from, to, step: query.step, offset }, now);
  const counted = await readSteps(context, environmentId, period);
  return {
    from: period.from,
    to: period.to,
    step: period.step,
    total: figuresOf(sumOf(counted.flatMap(({ counts }) => (counts === null ? [] : [counts])))),
    steps: counted.map(({ begins, counts, diskBytes }) => ({
      begins_at: begins,
      figures: counts === null ? null : figuresOf(counts),
      disk_bytes: diskBytes,
    })),
  };
}

/** The steps of the period, in ascending order. */
export async function readSteps(
  { pool }: Pick<Context, "pool">,
  environmentId: string,
  period: AnalyticsPeriod,
): Promise<readonly CountedStep[]> {
  const [from, to] = [new Date(period.from), new Date(period.to)];
  const found = await readAnalytics(pool, { environmentId, step: period.storedStep, from, to });
  if (found === null) throw new NotFound();
  const measured = new Set(found.measured.map((begins) => stepAt(begins, period)));
  const counted = Map.groupBy(found.counted, ({ begins }) => stepAt(begins, period));
  const length = stepLengths[period.step];
  const diskAt = diskBefore(found.disk);
  return beginningsOf(period).map((begins) => {
    const isKnown = measured.has(begins) && begins + length > found.createdAt.getTime();
    const counts = isKnown ? sumOf((counted.get(begins) ?? []).map((each) => each.counts)) : null;
    return { begins, counts, diskBytes: diskAt(begins + length) };
  });
}

const stepAt = (begins: Date, { step, offset }: AnalyticsPeriod): number => beginningOf(begins.getTime(), step, offset);

/** Returns a function for the disk use before a time, which must rise from call to call. */
function diskBefore(disk: EnvironmentAnalytics["disk"]): (time: number) => number | null {
  let next = 0;
  let bytes: number | null = null;
  return (time) => {
    for (let record = disk[next]; record !== undefined && record.hour.getTime() < time; record = disk[next]) {
      bytes = record.disk_bytes;
      next += 1;
    }
    return bytes;
  };
}

/** The sums of the environments in the key's scope, by day. */
export async function ofCompany({ caller, pool }: Context, { days = 7 }: { readonly days?: number }) {
  const now = Date.now();
  const from = beginningOf(now, "day", 0) - (days - 1) * stepLengths.day;
  const rows = await readCompanyTotals(pool, {
    companyId: caller.companyId,
    siteIds: sitesInScope(caller),
    from: new Date(from),
    to: new Date(now),
  });
  return rows.map(({ day, visits, requests, bytes }) => ({
    begins_at: day.getTime(),
    visits,
    requests,
    bytes_sent: bytes,
  }));
}
