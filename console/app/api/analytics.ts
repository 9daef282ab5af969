/** What the web server counted. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Analytics = Schemas["Analytics"];
export type AnalyticsStep = Analytics["steps"][number];

const hour = 3_600_000;

/** How far back to look, in milliseconds, and the length of the steps. */
export const analyticsRanges = {
  "1h": { milliseconds: hour, step: "minute" },
  "24h": { milliseconds: 24 * hour, step: "hour" },
  "7d": { milliseconds: 7 * 24 * hour, step: "hour" },
  "30d": { milliseconds: 30 * 24 * hour, step: "day" },
} as const;

export type AnalyticsRange = keyof typeof analyticsRanges;

const isRange = (name: unknown): name is AnalyticsRange => typeof name === "string" && name in analyticsRanges;

/** The range of that name, or a day. */
export const rangeNamed = (name: unknown): AnalyticsRange => (isRange(name) ? name : "24h");

const refreshMilliseconds = 30_000;
/** Until a minute is over, and has certainly been collected. */
const delayMilliseconds = 90_000;

/** Includes the range of the numbers: the previous numbers stay until the new ones have been loaded. */
export const analyticsQuery = (environmentId: string, range: AnalyticsRange) =>
  queryOptions({
    queryKey: ["analytics", environmentId, range],
    queryFn: async ({ signal }) => {
      const { milliseconds, step } = analyticsRanges[range];
      const to = Date.now() - delayMilliseconds;
      const query = { from: to - milliseconds, to, step, time_zone: timeZoneAt(new Date()) };
      const params = { path: { env_id: environmentId }, query };
      const { analytics } = await answerOf(api.GET("/sites/environments/{env_id}/analytics", { params, signal }));
      return { analytics, range };
    },
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  });

/** The reader's offset from UTC, to the hour. */
function timeZoneAt(time: Date): string {
  const hours = Math.round(-time.getTimezoneOffset() / 60);
  return `${hours < 0 ? "-" : ""}${String(Math.abs(hours)).padStart(2, "0")}:00`;
}

/** The sums of the company in the last seven days. */
export const companyAnalyticsQuery = (companyId: string) =>
  queryOptions({
    queryKey: ["analytics", "company", companyId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: companyId }, query: { days: 7 } };
      return (await answerOf(api.GET("/company/{id}/analytics", { params, signal }))).company.analytics;
    },
    enabled: companyId !== "",
  });
