/** The edge process ends in various ways and is started again. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import { expect, onTestFinished, test } from "vitest";
import { type EdgeInstallation, openEdgeInstallation } from "./testing/edgeChild.ts";

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

/** An edge with one site that has a running worker. */
async function openWithSite() {
  const installation = await open();
  const edge = await installation.start();
  await installation.addSite(edge.port, "demo", { title: "Demo" });
  const host = `demo.localhost:${edge.port}`;
  expect((await ask(edge, "/", { host })).status).toBe(200);
  const workers = (await installation.status()).workers.map(({ pid }) => pid);
  expect(workers.length).toBeGreaterThan(0);
  return { installation, edge, host, workers };
}

const expectGone = (pids: readonly number[]) => eventually(() => expect(pids.filter(isAlive)).toEqual([]));

test("a killed edge leaves no worker behind, and the next one serves the table in the file", async () => {
  const { installation, edge, host, workers } = await openWithSite();
  edge.child.kill("SIGKILL");
  await once(edge.child, "exit");
  await expectGone(workers);

  const next = await installation.start(edge.port);
  expect(await installation.status()).toMatchObject({ generation: 1 });
  const page = await ask(next, "/", { host });
  expect(page.status).toBe(200);
  expect(page.body).toContain("<title>Demo</title>");
});

test.each(["SIGTERM", "SIGINT"] as const)("on %s it exits with 0, and its workers end", async (signal) => {
  const { installation, edge, workers } = await openWithSite();
  edge.child.kill(signal);
  expect((await once(edge.child, "exit"))[0]).toBe(0);
  await expectGone(workers);
  expect((await readdir(installation.data)).filter((name) => name.endsWith("-php"))).toEqual([]);
});

test("it ends when its parent is gone", async () => {
  const { edge, workers } = await openWithSite();
  edge.child.disconnect();
  expect((await once(edge.child, "exit"))[0]).toBe(0);
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
