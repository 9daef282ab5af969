/** What the names of counts mean. */
import { percentileOf } from "@sitewright/edge/analytics/durations.ts";
import type { Counts } from "@sitewright/server/store/traffic/analytics.ts";

/** Adds up counts of shorter periods. */
export function sumOf(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

export function figuresOf(counts: Counts) {
  const { visits = 0, requests = 0, bots = 0, bytes = 0, hits = 0, misses = 0, bypasses = 0 } = counts;
  const statuses = numbered(counts, "status:");
  return {
    visits,
    requests,
    bot_requests: bots,
    bytes_sent: bytes,
    cache: { hits, misses, bypasses, others: requests - hits - misses - bypasses },
    codes: {
      "2xx": ofClass(statuses, 2),
      "3xx": ofClass(statuses, 3),
      "4xx": ofClass(statuses, 4),
      "5xx": ofClass(statuses, 5),
    },
    errors: [...statuses]
      .filter(([status]) => status >= 400)
      .map(([status, requests]) => ({ status, requests }))
      .toSorted((one, other) => other.requests - one.requests || one.status - other.status),
    response_times: {
      cached: percentilesOf(numbered(counts, "cached:")),
      php: percentilesOf(numbered(counts, "php:")),
    },
    php_seconds: (counts.phpMs ?? 0) / 1_000,
    cpu_seconds: (counts.cpuMs ?? 0) / 1_000,
  };
}

export type Figures = ReturnType<typeof figuresOf>;

/** The counts whose name is `prefix` and a number. */
function numbered(counts: Counts, prefix: string): ReadonlyMap<number, number> {
  const found = Object.entries(counts).filter(([name]) => name.startsWith(prefix));
  return new Map(found.map(([name, value]) => [Number(name.slice(prefix.length)), value]));
}

function ofClass(statuses: ReadonlyMap<number, number>, first: number): number {
  return [...statuses].reduce((sum, [status, count]) => sum + (Math.floor(status / 100) === first ? count : 0), 0);
}

function percentilesOf(counts: ReadonlyMap<number, number>) {
  const [p50, p95] = [percentileOf(counts, 0.5), percentileOf(counts, 0.95)];
  return p50 === null || p95 === null ? null : { p50: rounded(p50), p95: rounded(p95) };
}

/** To three significant digits: more would promise an exactness that buckets do not have. */
const rounded = (milliseconds: number): number => Number(milliseconds.toPrecision(3));
