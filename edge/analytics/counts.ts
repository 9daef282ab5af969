/** What is counted of an environment's requests in a minute. */
import type { ResponseSource } from "../http/visitorHttp.ts";
import { bucketOf } from "./durations.ts";

/**
 * Numbers by name; absent: 0. Sums of them are the counts of longer periods.
 *
 * - `requests`, of which `bots`; `visits`; `bytes`
 * - `hits`, `misses`, `bypasses`: pages from the cache, pages that PHP made and could have been cached, and other work of PHP
 * - `phpMs`, `cpuMs`: duration of PHP's requests and its processor time, in milliseconds
 * - `status:404`: responses with this status
 * - `cached:23`, `php:41`: durations of responses from the page cache and of those by PHP, in buckets (`durations.ts`)
 */
export type Counts = Readonly<Record<string, number>>;

export interface CountedResponse {
  readonly status: number;
  /** Absent: neither the page cache nor PHP. */
  readonly source: ResponseSource | undefined;
  readonly milliseconds: number;
  readonly bytes: number;
  readonly isBot: boolean;
  /** Whether it is a visitor's first page of the day. */
  readonly isVisit: boolean;
}

export interface Tally {
  add(response: CountedResponse): void;
  addPhp(milliseconds: number, cpuMilliseconds: number): void;
  counts(): Counts;
}

const names = { hit: "hits", miss: "misses", bypass: "bypasses" } as const;

/** Only increments of numbers: it is called for every response. */
export function createTally(): Tally {
  const totals = { requests: 0, bots: 0, visits: 0, bytes: 0, hits: 0, misses: 0, bypasses: 0, phpMs: 0, cpuMs: 0 };
  const statuses = new Map<number, number>();
  const cached = new Map<number, number>();
  const php = new Map<number, number>();
  return {
    add({ status, source, milliseconds, bytes, isBot, isVisit }) {
      totals.requests += 1;
      totals.bytes += bytes;
      if (isBot) totals.bots += 1;
      if (isVisit) totals.visits += 1;
      increment(statuses, status);
      if (source === undefined) return;
      totals[names[source]] += 1;
      increment(source === "hit" ? cached : php, bucketOf(milliseconds));
    },
    addPhp(milliseconds, cpuMilliseconds) {
      totals.phpMs += milliseconds;
      totals.cpuMs += cpuMilliseconds;
    },
    counts() {
      const all = [
        ...Object.entries(totals),
        ...named("status", statuses),
        ...named("cached", cached),
        ...named("php", php),
      ];
      return Object.fromEntries(
        all.map(([name, value]): [string, number] => [name, Math.round(value)]).filter(([, value]) => value !== 0),
      );
    },
  };
}

function increment(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function named(prefix: string, counts: ReadonlyMap<number, number>): [string, number][] {
  return [...counts].map(([key, value]) => [`${prefix}:${key}`, value]);
}
