/** Analytics in the form that existing clients know. */
import { readSiteTotals, type Step } from "@sitewright/server/store/traffic/analytics.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { type CountedStep, readSteps } from "./analytics.ts";
import { beginningOf, offsetOf, periodOf, stepLengths } from "./analyticsPeriods.ts";

const spans = { "24_hours": 1, "7_days": 7, "30_days": 30, "60_days": 60 } as const;

interface ClientQuery {
  readonly company_id: string;
  readonly time_span?: keyof typeof spans;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly time_zone?: string;
}

export async function visits(context: Context, environmentId: string, query: ClientQuery) {
  const counted = await stepsFor(context, environmentId, query, null);
  return responseOf("visits", counted, ({ counts }) => counts && (counts.visits ?? 0), sum);
}

export async function bandwidth(context: Context, environmentId: string, query: ClientQuery) {
  const counted = await stepsFor(context, environmentId, query, null);
  return responseOf("bandwidth", counted, ({ counts }) => counts && (counts.bytes ?? 0), sum);
}

export async function diskSpace(context: Context, environmentId: string, query: ClientQuery) {
  const counted = await stepsFor(context, environmentId, query, "day");
  return responseOf(
    "diskspace",
    counted,
    ({ diskBytes }) => diskBytes,
    (values) => values.at(-1) ?? 0,
  );
}

/** The sums of the site's environments in this month, in UTC. */
export async function siteThisMonth({ pool }: Context, siteId: string) {
  const now = new Date();
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  return readSiteTotals(pool, siteId, { from, to: now });
}

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);

/** `step`: null for hours if there are at most 24, otherwise days. */
async function stepsFor(
  context: Context,
  environmentId: string,
  query: ClientQuery,
  step: Step | null,
): Promise<readonly CountedStep[]> {
  if (query.company_id.toLowerCase() !== context.caller.companyId) throw new NotFound();
  const now = Date.now();
  const offset = offsetOf(query.time_zone ?? "00:00");
  const to = endOf(query.to ?? null, offset) ?? now;
  const from = beginOf(query, to, offset);
  const chosen = step ?? (to - from <= stepLengths.day ? "hour" : "day");
  return readSteps(context, environmentId, periodOf({ from, to, step: chosen, offset }, now));
}

/** Without `from`, whole steps: the present hour or day is the last one. */
function beginOf({ from, time_span = "7_days" }: ClientQuery, to: number, offset: number): number {
  if (from !== undefined && from !== null) return timeOf(from, offset);
  const days = spans[time_span];
  if (days === 1) return beginningOf(to - 1, "hour", 0) - stepLengths.day + stepLengths.hour;
  return beginningOf(to - 1, "day", offset) - (days - 1) * stepLengths.day;
}

/** A date is included. */
function endOf(text: string | null, offset: number): number | null {
  if (text === null) return null;
  return text.includes("T") ? timeOf(text, offset) : timeOf(text, offset) + stepLengths.day;
}

/** A date begins at midnight of its time zone; times are in UTC. */
function timeOf(text: string, offset: number): number {
  return text.includes("T") ? Date.parse(text.endsWith("Z") ? text : `${text}Z`) : Date.parse(text) - offset;
}

function responseOf(
  key: string,
  counted: readonly CountedStep[],
  numberOf: (step: CountedStep) => number | null,
  totalOf: (values: readonly number[]) => number,
) {
  const known = counted.flatMap((step) => {
    const value = numberOf(step);
    return value === null ? [] : [{ begins: step.begins, value }];
  });
  const dataset = known.map(({ begins, value }) => ({ key: new Date(begins).toISOString(), value: String(value) }));
  return { key, data: [{ name: key, total: totalOf(known.map(({ value }) => value)), dataset }] };
}
