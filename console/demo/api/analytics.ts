/** Invented traffic, with less of it at night. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { environmentOf } from "../world/find.ts";
import { chanceOf } from "../world/ids.ts";
import type { DemoEnvironment, ResultOf, World } from "../world/world.ts";

type Analytics = ResultOf<"getAnalytics">;
type Figures = Analytics["total"];

const hour = 3_600_000;
const lengths = { minute: 60_000, hour, day: 24 * hour } as const;

/** In the evening there are most visitors, and at night few. */
function visitsIn(
  { id, visitsPerHour }: Pick<DemoEnvironment, "id" | "visitsPerHour">,
  begins: number,
  length: number,
): number {
  const time = new Date(begins);
  const wave = length === lengths.day ? 1 : 1 + 0.8 * Math.sin(((time.getUTCHours() - 12) / 12) * Math.PI);
  const weekend = [0, 6].includes(time.getUTCDay()) ? 0.7 : 1;
  const chance = 0.75 + chanceOf(`${id} ${begins}`) / 2;
  return Math.round(visitsPerHour * (length / hour) * wave * weekend * chance);
}

function figuresOf(environment: DemoEnvironment, begins: number, length: number): Figures {
  const visits = visitsIn(environment, begins, length);
  const requests = Math.round(visits * 5.2);
  const [hits, bypasses, redirected, missing] = [0.71, 0.06, 0.04, 0.02].map((part) => Math.round(requests * part));
  const failed = chanceOf(`${environment.id} fails ${begins}`) < 0.02 ? 1 : 0;
  const [h, b, r, m] = [hits ?? 0, bypasses ?? 0, redirected ?? 0, missing ?? 0];
  const jitter = chanceOf(`${environment.id} ${begins} time`);
  return {
    visits,
    requests,
    bot_requests: Math.round(requests * 0.3),
    bytes_sent: requests * 41_000,
    cache: { hits: h, misses: Math.max(0, requests - h - b), bypasses: b, others: 0 },
    codes: { "2xx": Math.max(0, requests - r - m - failed), "3xx": r, "4xx": m, "5xx": failed },
    errors: [
      ...(m > 0 ? [{ status: 404, requests: m }] : []),
      ...(failed > 0 ? [{ status: 502, requests: failed }] : []),
    ],
    response_times:
      requests === 0
        ? { cached: null, php: null }
        : { cached: { p50: 2 + jitter, p95: 6 + 4 * jitter }, php: { p50: 90 + 40 * jitter, p95: 260 + 190 * jitter } },
    php_seconds: Math.round(requests * 2.9) / 100,
    cpu_seconds: Math.round(requests * 1.7) / 100,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const rounded = (value: number): number => Math.round(100 * value) / 100;

function totalOf(parts: readonly Figures[]): Figures {
  const add = (pick: (figures: Figures) => number) => sum(parts.map(pick));
  const byStatus = Map.groupBy(
    parts.flatMap(({ errors }) => errors),
    ({ status }) => status,
  );
  const [busiest] = parts.toSorted((one, other) => other.requests - one.requests);
  return {
    visits: add(({ visits }) => visits),
    requests: add(({ requests }) => requests),
    bot_requests: add(({ bot_requests }) => bot_requests),
    bytes_sent: add(({ bytes_sent }) => bytes_sent),
    cache: {
      hits: add(({ cache }) => cache.hits),
      misses: add(({ cache }) => cache.misses),
      bypasses: add(({ cache }) => cache.bypasses),
      others: add(({ cache }) => cache.others),
    },
    codes: {
      "2xx": add(({ codes }) => codes["2xx"]),
      "3xx": add(({ codes }) => codes["3xx"]),
      "4xx": add(({ codes }) => codes["4xx"]),
      "5xx": add(({ codes }) => codes["5xx"]),
    },
    errors: [...byStatus].map(([status, some]) => ({ status, requests: sum(some.map(({ requests }) => requests)) })),
    response_times: busiest?.response_times ?? { cached: null, php: null },
    php_seconds: rounded(add(({ php_seconds }) => php_seconds)),
    cpu_seconds: rounded(add(({ cpu_seconds }) => cpu_seconds)),
  };
}

export const analyticsCalls = {
  getAnalytics: (world, { params, query }) => {
    const environment = environmentOf(world, params.env_id);
    const { step = "hour", to = world.clock.now(), from = to - 24 * hour } = query;
    const length = lengths[step];
    const first = Math.floor(from / length) * length;
    const begins = Array.from({ length: Math.ceil((to - first) / length) }, (_, index) => first + index * length);
    const steps = begins.map((begins_at) => ({
      begins_at,
      figures: figuresOf(environment, begins_at, length),
      disk_bytes: environment.diskBytes,
    }));
    return { from: first, to, step, total: totalOf(steps.map(({ figures }) => figures)), steps };
  },
  getCompanyAnalytics: (world, { query: { days = 7 } }) => {
    const today = Math.floor(world.clock.now() / lengths.day) * lengths.day;
    const environments = world.sites.flatMap((site) => site.environments);
    return Array.from({ length: days }, (_, index) => {
      const begins_at = today - (days - 1 - index) * lengths.day;
      const { visits, requests, bytes_sent } = totalOf(
        environments.map((environment) => figuresOf(environment, begins_at, lengths.day)),
      );
      return { begins_at, visits, requests, bytes_sent };
    });
  },
} satisfies Partial<Calls<World>>;
