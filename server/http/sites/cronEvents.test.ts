import { RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { describe, expect, it } from "vitest";
import { beginCronRun, endCronRun } from "../../store/sites/cronRuns.ts";
import { useTestServer } from "../testing/server.ts";

const event = { recurrence: null, intervalSeconds: null, args: [] };
const unreadable = new Set<string>();

const test = useTestServer({
  cronEvents: async ({ id }) => {
    if (unreadable.has(id)) throw new RuntimeFailure("The site's database is being written just now.");
    return {
      sites: [
        { place: null, events: [{ ...event, hook: "late", dueAt: 9_000 }] },
        {
          place: { host: "a.test", path: "/two/" },
          events: [{ hook: "soon", dueAt: 5_000, recurrence: "hourly", intervalSeconds: 3_600, args: [1, { a: "ü" }] }],
        },
      ],
      problem: "a.test/: damaged.",
    };
  },
});

async function listed(query = "", prepare: (id: string) => Promise<unknown> = async () => undefined) {
  const { addSiteWithEnvironment, call } = test.current;
  const { id } = await addSiteWithEnvironment();
  await prepare(id);
  return call("GET", `/v2/sites/environments/${id}/cron-events${query}`);
}

describe("GET /sites/environments/{env_id}/cron-events", () => {
  it("lists the scheduled tasks of each site, next one first", async () => {
    const { status, body } = await listed();
    expect(status).toBe(200);
    expect(body.environment).toMatchObject({ total: 2, last_run: null, problem: "a.test/: damaged." });
    expect(body.environment.cron_events).toEqual([
      {
        hook: "soon",
        site: "a.test/two/",
        next_run_at: 5_000,
        recurrence: "hourly",
        interval_seconds: 3_600,
        args: '[1,{"a":"ü"}]',
      },
      { hook: "late", site: null, next_run_at: 9_000, recurrence: null, interval_seconds: null, args: "[]" },
    ]);
  });

  it("has paging", async () => {
    const { body } = await listed("?limit=1&offset=1");
    expect(body.environment.cron_events).toMatchObject([{ hook: "late" }]);
    expect(body.environment.total).toBe(2);
    expect((await listed("?limit=0")).body.environment.cron_events).toEqual([]);
  });

  it.each(["limit=-1", "limit=x", "offset=1.5"])("refuses %s", async (query) => {
    expect((await listed(`?${query}`)).status).toBe(400);
  });

  it("has the outcome of the last run", async () => {
    const { database } = test.current;
    const { body } = await listed("", async (id) => {
      await beginCronRun(database, { id, lastRun: null }, new Date(1_000));
      await endCronRun(database, id, { now: new Date(2_000), error: "hook: Oh.", isFailure: false });
    });
    expect(body.environment.last_run).toEqual({ began_at: 1_000, ended_at: 2_000, error: "hook: Oh." });
  });

  it("says why the tasks can't be read at the moment", async () => {
    const { status, body } = await listed("", async (id) => unreadable.add(id));
    expect(status).toBe(200);
    expect(body.environment).toMatchObject({ cron_events: [], total: 0, problem: expect.stringContaining("just now") });
  });
});
