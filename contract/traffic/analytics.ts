/** Requests, visits, bandwidth and disk space of environments over time. */
import { type TSchema, Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, milliseconds, nullable, pattern, uuid } from "../schema.ts";

export const analyticsSteps = ["minute", "hour", "day"] as const;

const visitsMeaning =
  "A visit is the first page of a visitor on a day (UTC). Visitors are told apart by IP address and browser; bots do not count.";

const environmentParams = Type.Object({ env_id: uuid("Id of the environment.") });
const siteParams = Type.Object({ site_id: uuid("Id of the site.") });

const timeZone = Type.String({
  pattern: pattern("^-?(0[0-9]|1[0-4]):00$", "must be an offset from UTC in full hours, such as 02:00 or -05:00"),
  description: "Time zone of the days: its offset from UTC, in full hours.",
  examples: ["02:00"],
});

const percentiles = (what: string) =>
  nullable(
    Type.Object(
      {
        p50: Type.Number({ description: "Median, in milliseconds.", examples: [120] }),
        p95: Type.Number({ description: "95th percentile, in milliseconds.", examples: [640] }),
      },
      {
        description: `Time from the beginning of a request to the end of its response: ${what}. Exact to within about 9 percent. Null: there were none.`,
      },
    ),
  );

const AnalyticsFigures = Type.Object(
  {
    visits: count(`Number of visits. ${visitsMeaning}`, 128),
    requests: count("Number of requests.", 4_210),
    bot_requests: count("Number of those from bots, which say so in their user agent, or send none.", 310),
    bytes_sent: count("Number of bytes sent to visitors, including static files.", 73_400_320),
    cache: Type.Object({
      hits: count("Number of pages sent from the page cache.", 1_100),
      misses: count("Number of pages that PHP made, and that could have been cached.", 90),
      bypasses: count("Number of requests to PHP that are never cached, such as those of users who are logged in.", 40),
      others: count("Number of all other requests: static files, redirects and refusals.", 2_980),
    }),
    codes: Type.Object(
      {
        "2xx": count("Number of responses with a status from 200 to 299.", 4_000),
        "3xx": count("Number of responses with a status from 300 to 399.", 150),
        "4xx": count("Number of responses with a status from 400 to 499.", 58),
        "5xx": count("Number of responses with a status from 500 to 599.", 2),
      },
      { description: "Status codes by class." },
    ),
    errors: Type.Array(
      Type.Object({
        status: Type.Integer({ description: "The status code.", examples: [404] }),
        requests: count("Number of responses with this code.", 51),
      }),
      { description: "Status codes from 400, most frequent first. 499: the visitor left before the response." },
    ),
    response_times: Type.Object({
      cached: percentiles("pages from the page cache"),
      php: percentiles("everything that PHP did"),
    }),
    php_seconds: Type.Number({
      minimum: 0,
      description: "Total duration of PHP's requests, in seconds.",
      examples: [63],
    }),
    cpu_seconds: Type.Number({ minimum: 0, description: "Processor time used by PHP, in seconds.", examples: [41.5] }),
  },
  { title: "AnalyticsFigures" },
);

const timestamp = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description, examples: [1_795_190_400_000] }),
  );

export const getAnalytics = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/analytics",
  tag: "Analytics",
  summary: "Get all analytics of an environment",
  description:
    "Returns what the web server counted, step by step. Minutes are kept for 2 days, hours for 62 days, and days for two years. A minute is included within about 20 seconds after its end. Steps in which the web server did not run, or in which the environment did not exist, have no figures.",
  params: environmentParams,
  query: Type.Object({
    from: timestamp(
      "Start of the period, extended to the beginning of a step. Milliseconds since 1970. Default: 24 hours before `to`.",
    ),
    to: timestamp("End of the period. Milliseconds since 1970. Default: now."),
    step: Type.Optional(
      Type.Enum(analyticsSteps, {
        description:
          "Length of the steps. They are longer, as the response says, if the period has more than 1,500 of them, or if they are no longer kept. Default: the shortest.",
      }),
    ),
    time_zone: Type.Optional(timeZone),
  }),
  responses: {
    200: result(
      ["analytics"],
      "The analytics.",
      Type.Object(
        {
          from: milliseconds("Start of the first step."),
          to: milliseconds("End of the period."),
          step: Type.Enum(analyticsSteps, { description: "Length of the steps." }),
          total: AnalyticsFigures,
          steps: Type.Array(
            Type.Object({
              begins_at: milliseconds("Start of the step."),
              figures: nullable(AnalyticsFigures),
              disk_bytes: nullable(
                Type.Integer({
                  minimum: 0,
                  description: "Disk space at its end, as last measured; null if not measured yet.",
                  examples: [104_857_600],
                }),
              ),
            }),
          ),
        },
        { title: "Analytics" },
      ),
    ),
  },
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const getCompanyAnalytics = endpoint({
  method: "GET",
  path: "/company/{id}/analytics",
  tag: "Analytics",
  summary: "Get the visits, requests and bandwidth of a company by day",
  description:
    "Returns the sums of all environments on each day (UTC) until today. Days on which the web server did not run are missing.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 731, default: 7, description: "Number of days." })),
  }),
  responses: {
    200: result(
      ["company", "analytics"],
      "The sums.",
      Type.Array(
        Type.Object({
          begins_at: milliseconds("Start of the day."),
          visits: count(`Number of visits. ${visitsMeaning}`, 1_280),
          requests: count("Number of requests.", 42_100),
          bytes_sent: count("Number of bytes sent to visitors.", 734_003_200),
        }),
      ),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});

const date = (description: string) =>
  Type.Optional(
    nullable(
      Type.String({
        pattern: pattern(
          "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?Z?)?$",
          "must be a date such as 2026-11-23, or a time in UTC such as 2026-11-23T08:00:00Z",
        ),
        description,
        examples: ["2026-11-23"],
      }),
    ),
  );

const clientQuery = {
  company_id: uuid("Id of the environment's company."),
  from: date("Start of the period instead of `time_span`: a date, or a time in UTC."),
  to: date("End of the period: a date, which is included, or a time in UTC. Default: now."),
};

const AnalyticsResponse = Type.Object(
  {
    key: Type.String({ description: "What was counted.", examples: ["visits"] }),
    data: Type.Array(
      Type.Object({
        name: Type.String({ description: "What was counted.", examples: ["visits"] }),
        total: Type.Number({
          description: "The whole period: the sum, or of disk space the latest value.",
          examples: [412],
        }),
        dataset: Type.Array(
          Type.Object({
            key: Type.String({
              description:
                "Start of the hour if the period has at most 24 of them, otherwise of the day; as ISO 8601 in UTC.",
              examples: ["2026-11-23T00:00:00.000Z"],
            }),
            value: Type.String({ description: "The number.", examples: ["128"] }),
          }),
          { description: "Without the times at which nothing was counted, because the web server did not run." },
        ),
      }),
    ),
  },
  { title: "AnalyticsResponse" },
);

const responses = {
  202: result(
    ["analytics", "analytics_response"],
    "The numbers. The status is 202, as clients expect.",
    AnalyticsResponse,
  ),
};

const timeSpan = Type.Optional(
  Type.Enum(["24_hours", "7_days", "30_days", "60_days"], { default: "7_days", description: "The period until now." }),
);

export const getVisitsAnalytics = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/analytics/visits",
  tag: "Analytics",
  summary: "Get the visits of an environment",
  description: visitsMeaning,
  params: environmentParams,
  query: Type.Object({ time_span: timeSpan, ...clientQuery }),
  responses,
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const getBandwidthAnalytics = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/analytics/bandwidth",
  tag: "Analytics",
  summary: "Get the bandwidth of an environment",
  description: "Returns the bytes sent to visitors, including static files.",
  params: environmentParams,
  query: Type.Object({ time_span: timeSpan, ...clientQuery }),
  responses,
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const getDiskSpaceAnalytics = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/analytics/diskspace",
  tag: "Analytics",
  summary: "Get the disk space of an environment",
  description: "Returns the bytes used at the end of each day, or now. Days before the first measurement are missing.",
  params: environmentParams,
  query: Type.Object({
    time_span: Type.Optional(
      Type.Enum(["7_days", "30_days", "60_days"], { default: "7_days", description: "The period until now." }),
    ),
    time_zone: timeZone,
    ...clientQuery,
  }),
  responses,
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

const usageThisMonth = <Use extends TSchema>(use: Use) => ({
  200: result(["site"], "The sum.", Type.Object({ id: uuid("Id of the site."), this_month_usage: use })),
});

const month = "The month is the calendar month in UTC, and all environments of the site count.";

export const getVisitsThisMonth = endpoint({
  method: "GET",
  path: "/sites/{site_id}/usage/visits/this-month",
  tag: "Analytics",
  summary: "Get the visits of a site this month",
  description: `${visitsMeaning} ${month}`,
  params: siteParams,
  responses: usageThisMonth(
    Type.Object({ visits: Type.Number({ description: "Number of visits.", examples: [4_210] }) }),
  ),
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});

export const getBandwidthThisMonth = endpoint({
  method: "GET",
  path: "/sites/{site_id}/usage/bandwidth/this-month",
  tag: "Analytics",
  summary: "Get the bandwidth of a site this month",
  description: `Returns the bytes sent to visitors, including static files. ${month}`,
  params: siteParams,
  responses: usageThisMonth(
    Type.Object({ bandwidth: Type.Number({ description: "Bytes sent.", examples: [73_400_320] }) }),
  ),
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});
