import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { EdgeEnvironment } from "@sitewright/edge/tables/table.ts";
import { createFakeServing, type FakeTask, type FakeTrial } from "@sitewright/runtimes/fake/serving.ts";
import { expect, onTestFinished, test } from "vitest";
import { startTestEdge } from "../testing/edge.ts";
import { EdgeUnavailable, makeEdgeClient } from "./edgeClient.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "client-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A client of a test edge, and an environment that this edge does not serve. */
async function openClient(trial: FakeTrial) {
  const folder = await makeFolder();
  const edge = await startTestEdge(folder, () => createFakeServing({ trial }));
  onTestFinished(() => edge[Symbol.asyncDispose]());
  const documentRoot = join(folder, "public");
  await mkdir(documentRoot);
  await writeFile(join(documentRoot, "index.php"), "<?php");
  const environment: EdgeEnvironment = {
    id: "one",
    number: 1,
    phpVersion: "8.4",
    release: 2,
    documentRoot,
    overlays: {},
    multisite: null,
    isFrozen: false,
  };
  return { client: makeEdgeClient(join(edge.runFolder, "edge.sock")), environment };
}

const order = { host: "one.localhost", url: "/", isReadOnly: false };

test("a trial returns the environment's answer", async () => {
  const body = () => Readable.from(["<html></html>"]);
  const { client, environment } = await openClient(async ({ phpVersion }, { url, headers }) => ({
    status: 500,
    headers: [["location", `http://${String(headers.host)}${url}`]],
    body: body(),
    errors: `PHP ${phpVersion} is unhappy`,
  }));
  expect(await client.runTrial({ ...order, environment, host: "one.localhost:8081", url: "/a?b=1" })).toEqual({
    status: 500,
    isComplete: true,
    errors: "PHP 8.4 is unhappy",
    reason: null,
    location: "http://one.localhost:8081/a?b=1",
  });
});

test("settle resolves at once if no write is under way", async () => {
  const { client, environment } = await openClient(async () => null);
  await client.settle(environment.id);
});

test("a trial without an answer returns the reason", async () => {
  const { client, environment } = await openClient(async () => "busy");
  expect(await client.runTrial({ ...order, environment })).toMatchObject({ status: 0, reason: "busy" });
});

test("rejects a trial with an invalid request", async () => {
  const { client, environment } = await openClient(async () => null);
  const trial = client.runTrial({ ...order, environment, url: "nowhere" });
  await expect(trial).rejects.toMatchObject({
    name: "EdgeUnavailable",
    cause: { message: expect.stringContaining("url: expected path and query") },
  });
});

test("a trial can be aborted", async () => {
  const leaving = new AbortController();
  const { client, environment } = await openClient(async () => {
    leaving.abort();
    return new Promise(() => undefined);
  });
  const trial = client.runTrial({ ...order, environment }, leaving.signal);
  await expect(trial).rejects.toBeInstanceOf(EdgeUnavailable);
});

test("rejects an invalid answer to a trial", async () => {
  const socketPath = join(await makeFolder(), "other.sock");
  const other = createServer((_request, response) => response.end('{"status":"fine"}'));
  await new Promise<void>((resolve) => other.listen(socketPath, resolve));
  onTestFinished(() => new Promise<void>((resolve) => other.close(() => resolve())));
  const { environment } = await openClient(async () => null);
  const trial = makeEdgeClient(socketPath).runTrial({ ...order, environment });
  await expect(trial).rejects.toBeInstanceOf(EdgeUnavailable);
});

/** A client of an edge that serves one environment of the fake runtime. */
async function openServed(tasks: Readonly<Record<string, FakeTask>>) {
  const folder = await makeFolder();
  const edge = await startTestEdge(folder, () => createFakeServing({ tasks }));
  onTestFinished(() => edge[Symbol.asyncDispose]());
  const client = makeEdgeClient(join(edge.runFolder, "edge.sock"));
  const { environment } = await openClient(async () => null);
  await client.putTable({ generation: 1, environments: [environment], hosts: [] });
  return client;
}

const task = { environmentId: "one", host: "one.localhost", deadlineSeconds: 5 };

test("a task gets its input and returns its answer", async () => {
  const client = await openServed({ echo: ({ id }, input) => ({ id, input }) });
  const result = await client.runTask({ ...task, work: { task: "echo", input: { name: "Zoë 'x'" } } });
  expect(result).toMatchObject({ status: 200, errors: "", reason: null });
  expect(JSON.parse(result.body ?? "")).toEqual({ id: "one", input: { name: "Zoë 'x'" } });
});

test("an unknown task has no answer, and a task of an environment that is not served is not started", async () => {
  const client = await openServed({});
  const work = { task: "echo", input: {} };
  expect(await client.runTask({ ...task, work })).toMatchObject({ status: 404, body: null });
  const elsewhere = { ...task, environmentId: "two", work };
  expect(await client.runTask(elsewhere)).toMatchObject({ status: 0, reason: "unavailable" });
});

test("a script of the site is run as in a visit", async () => {
  const client = await openServed({});
  expect(await client.runTask({ ...task, work: { url: "/wp-cron.php" } })).toMatchObject({ reason: "unavailable" });
});
