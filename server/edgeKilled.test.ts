/** The edge process ends in various ways and is started again. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type EdgeChild, type EdgeInstallation, openEdgeInstallation } from "./testing/edgeChild.ts";

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
