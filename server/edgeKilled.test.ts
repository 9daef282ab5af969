/** The edge process ends in various ways and is started again. */
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { AnalyticsReport, CountedMinute } from "@sitewright/edge/analytics/minutes.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type EdgeChild, type EdgeInstallation, openEdgeInstallation } from "./testing/edgeChild.ts";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";
const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36";

async function open(settings: NodeJS.ProcessEnv = {}): Promise<EdgeInstallation> {
  const installation = await openEdgeInstallation(settings);
  onTestFinished(() => installation.close());
  return installation;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

let shared: EdgeInstallation;
let edge: EdgeChild;
beforeAll(async () => {
  shared = await openEdgeInstallation();
  edge = await shared.start();
  await shared.addSite(edge.port, "demo", { title: "Demo" });
});
afterAll(() => shared?.close());

const frontPage = () => ask(edge, "/", { host: `demo.localhost:${edge.port}` });

/** Starts the edge if an earlier test has ended it. Its site has a running worker. */
async function startWithWorker() {
  const { exitCode, signalCode } = edge.child;
  if (exitCode !== null || signalCode !== null) edge = await shared.start(edge.port);
  expect((await frontPage()).status).toBe(200);
  const workers = (await shared.status()).workers.map(({ pid }) => pid);
  expect(workers.length).toBeGreaterThan(0);
  return { child: edge.child, workers };
}

const expectGone = (pids: readonly number[]) => eventually(() => expect(pids.filter(isAlive)).toEqual([]));

test("a killed edge leaves no worker behind, and the next one serves the table in the file", async () => {
  const { child, workers } = await startWithWorker();
  child.kill("SIGKILL");
  await once(child, "exit");
  await expectGone(workers);

  edge = await shared.start(edge.port);
  expect(await shared.status()).toMatchObject({ generation: 1 });
  const page = await frontPage();
  expect(page.status).toBe(200);
  expect(page.body).toContain("<title>Demo</title>");
});

/** What the edge has counted by the minute, as it is in its file. */
const minutesFile = () => join(shared.data, "edge", "analytics", "minutes.json");
async function minutesInFile(): Promise<readonly CountedMinute[]> {
  return JSON.parse(await readFile(minutesFile(), "utf8")).minutes;
}

const visitsIn = (minutes: readonly CountedMinute[]): number =>
  minutes.flatMap(({ environments }) => Object.values(environments)).reduce((sum, { visits = 0 }) => sum + visits, 0);

async function endAndRestart(signal: "SIGKILL" | "SIGTERM", change = async () => undefined): Promise<void> {
  edge.child.kill(signal);
  await once(edge.child, "exit");
  await change();
  edge = await shared.start(edge.port);
}

test("what a killed edge had counted is reported once, nobody is counted again, and the time without it is a gap", async () => {
  await startWithWorker();
  const visitAs = async (userAgent: string) => {
    const headers = { "user-agent": userAgent };
    expect((await ask(edge, "/", { host: `demo.localhost:${edge.port}`, headers })).status).toBe(200);
  };
  await endAndRestart("SIGTERM");
  const before = visitsIn(await minutesInFile());
  await visitAs(firefox);
  // The edge writes the file every ten seconds.
  await expect.poll(async () => visitsIn(await minutesInFile())).toBe(before + 1);
  const gap = 5 * 60_000;
  const killedAt = Date.now();
  await endAndRestart("SIGKILL", async () => {
    // As if it had been down for so long.
    const minutes = (await minutesInFile()).map((each) => ({ ...each, begins: each.begins - gap }));
    await writeFile(minutesFile(), JSON.stringify({ minutes }));
  });
  const reported = async (): Promise<AnalyticsReport> => {
    const to = { method: "POST", body: "null", socketPath: shared.adminSocket };
    return JSON.parse((await ask({ port: 0 }, "/analytics", to)).body);
  };
  expect(visitsIn((await reported()).minutes)).toBe(before + 1);

  for (const userAgent of [firefox, chrome]) await visitAs(userAgent);
  await endAndRestart("SIGTERM");
  const { minutes } = await reported();
  expect(visitsIn(minutes)).toBe(before + 2);
  expect(new Set(minutes.map(({ run, begins }) => `${run} ${begins}`)).size).toBe(minutes.length);
  const inGap = minutes.filter(({ begins }) => begins > killedAt - gap && begins < killedAt - 60_000);
  expect(inGap).toEqual([]);
});

test.each(["SIGTERM", "SIGINT"] as const)("on %s it exits with 0, and its workers end", async (signal) => {
  const { child, workers } = await startWithWorker();
  child.kill(signal);
  expect((await once(child, "exit"))[0]).toBe(0);
  await expectGone(workers);
  expect((await readdir(shared.data)).filter((name) => name.endsWith("-php"))).toEqual([]);
});

test("it ends when its parent is gone", async () => {
  const { child, workers } = await startWithWorker();
  child.disconnect();
  expect((await once(child, "exit"))[0]).toBe(0);
  await expectGone(workers);
});

test("a port in use is reported to the parent together with its setting", async () => {
  const other = createServer();
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const installation = await open();
  await expect(installation.start(port)).rejects.toThrow(
    `{"type":"failed","message":"Port ${port} is in use. Choose another with SITEWRIGHT_EDGE_PORT."}`,
  );
});

test("invalid settings are reported to the parent by name", async () => {
  const installation = await open({ SITEWRIGHT_MAX_WORKERS: "many" });
  await expect(installation.start()).rejects.toThrow("SITEWRIGHT_MAX_WORKERS=many is not accepted");
});
