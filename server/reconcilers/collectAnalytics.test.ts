/** The real edge and the real store, of which either one may stop at any time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask, putTable } from "@sitewright/edge/testing/http.ts";
import { makeEnvironment, type RunningEdge, startEmptyEdge, tableOf } from "@sitewright/edge/testing/withEdge.ts";
import { expect, it, onTestFinished } from "vitest";
import { type EdgeClient, makeEdgeClient } from "../clients/edgeClient.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { createTestDatabase, useTestDatabase } from "../testing/database.ts";
import { makeCollectAnalytics } from "./collectAnalytics.ts";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";

const test = useTestDatabase();
const minute = 60_000;

async function environment(): Promise<string> {
  const { companyId } = await addCompany(test.database);
  return (await addSite(test.database, companyId)).environmentId;
}

/** Starts of an edge with one environment and a folder for its counts. Its clock moves only when it is told to. */
async function makeEdges(environmentId: string) {
  const folder = await mkdtemp(join(tmpdir(), "analytics-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clock = { time: Math.floor(Date.now() / minute) * minute - 60 * minute };
  const start = async (): Promise<RunningEdge> => {
    const { edge } = await startEmptyEdge({ analytics: { folder, now: () => clock.time } });
    await putTable(
      edge,
      tableOf(1, [makeEnvironment(folder, { id: environmentId })], { "site.localhost": environmentId }),
    );
    return edge;
  };
  return { clock, start };
}

const visit = (edge: RunningEdge, userAgent: string) => ask(edge, "/", { headers: { "user-agent": userAgent } });

async function stored(environmentId: string) {
  const sums = async (table: "analytics_minutes" | "analytics_hours" | "analytics_days") => {
    const rows = await test.database
      .selectFrom(table)
      .select("counts")
      .where("environment_id", "=", environmentId)
      .execute();
    return rows.reduce((sum, { counts }) => sum + (counts.requests ?? 0), 0);
  };
  return Promise.all([sums("analytics_minutes"), sums("analytics_hours"), sums("analytics_days")]);
}

it("stores each request once, whenever control stops", async () => {
  const environmentId = await environment();
  const { clock, start } = await makeEdges(environmentId);
  const edge = await start();
  const client = makeEdgeClient(edge.adminSocket);
  let calls = 0;
  /** Stops control before it hears of the minutes, or before it says that they are stored. */
  const stopping = (after: number): Pick<EdgeClient, "analytics"> => ({
    analytics: async (known) => {
      calls += 1;
      if (calls > after) throw new Error("Control was killed");
      return client.analytics(known);
    },
  });
  for (let round = 1; round <= 6; round += 1) {
    await visit(edge, firefox);
    clock.time += minute;
    calls = 0;
    const collect = makeCollectAnalytics({ database: test.database, edge: stopping(round % 3) });
    await collect().catch((error: unknown) => expect(String(error)).toContain("Control was killed"));
  }
  const collect = makeCollectAnalytics({ database: test.database, edge: client });
  await eventually(async () => {
    clock.time += minute;
    await collect();
    expect(await stored(environmentId)).toEqual([6, 6, 6]);
  });
});

it("stores each request once, whenever the edge is restarted", async () => {
  const environmentId = await environment();
  const { clock, start } = await makeEdges(environmentId);
  for (let round = 1; round <= 4; round += 1) {
    const edge = await start();
    const collect = makeCollectAnalytics({ database: test.database, edge: makeEdgeClient(edge.adminSocket) });
    await collect();
    await visit(edge, firefox);
    if (round % 2 === 0) clock.time += minute;
    await collect();
    await edge.close(0);
  }
  const edge = await start();
  await makeCollectAnalytics({ database: test.database, edge: makeEdgeClient(edge.adminSocket) })();
  expect(await stored(environmentId)).toEqual([4, 4, 4]);
  const days = test.database.selectFrom("analytics_days").select("counts").where("environment_id", "=", environmentId);
  const rows = await days.execute();
  expect(rows.reduce((sum, { counts }) => sum + (counts.visits ?? 0), 0)).toBe(1);
});

it("leaves the minutes with the edge while the database can't store them", async () => {
  const environmentId = await environment();
  const { clock, start } = await makeEdges(environmentId);
  const edge = await start();
  const client = makeEdgeClient(edge.adminSocket);
  await visit(edge, firefox);
  const gone = await createTestDatabase();
  await gone.drop();
  await eventually(async () => {
    clock.time += minute;
    await expect(makeCollectAnalytics({ database: gone.database, edge: client })()).rejects.toThrow();
    await makeCollectAnalytics({ database: test.database, edge: client })();
    expect(await stored(environmentId)).toEqual([1, 1, 1]);
  });
});
