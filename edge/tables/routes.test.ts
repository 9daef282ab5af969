import { Agent, request } from "node:http";
import path from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { answerTimeBuckets } from "../answerTimes.ts";
import { eventually } from "../testing/eventually.ts";
import { ask, openRaw, putTable } from "../testing/http.ts";
import { makeEnvironment, startEmptyEdge, startSite, tableOf, writeFiles } from "../testing/withEdge.ts";

const at = (folder: string, id: string, changes = {}) => makeEnvironment(path.join(folder, id), { id, ...changes });
const status = async (edge: Parameters<typeof putTable>[0]) =>
  JSON.parse((await ask(edge, "/status", { socketPath: edge.adminSocket })).body);

test("an edge without a table serves nothing", async () => {
  const { edge, upstream } = await startEmptyEdge();
  expect((await ask(edge, "/")).status).toBe(503);
  const bodies = { memoryBytes: 0, diskBytes: 0, refused: 0 };
  const php = { workers: [], preparedWorkers: 0, machinery: {} };
  const idle = { generation: 0, environments: 0, port: edge.port, ...php, bodies };
  const answers = {
    buckets: answerTimeBuckets,
    times: [{ status: "5xx", counts: expect.any(Array), sumSeconds: expect.any(Number) }],
  };
  expect(await status(edge)).toEqual({ ...idle, answers });
  expect(upstream.lists).toEqual([]);
});

test("a table is in force when it is acknowledged", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  const environments = [at(folder, "a"), at(folder, "b")];
  const table = tableOf(7, environments, { "a.localhost": "a", "*.b.localhost": "b" });
  expect(await putTable(edge, table)).toEqual({ status: 200, body: { generation: 7 } });
  expect(upstream.lists).toEqual([environments]);
  await ask(edge, "/", { host: "a.localhost" });
  await ask(edge, "/", { host: "x.b.localhost" });
  expect(upstream.asked.map(({ environmentId }) => environmentId)).toEqual(["a", "b"]);
  expect(await status(edge)).toMatchObject({ generation: 7, environments: 2 });
});

test("an older or equal table changes nothing and returns the newer generation", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  await putTable(edge, tableOf(7, [at(folder, "a")], { "a.localhost": "a" }));
  for (const generation of [6, 7]) {
    expect(await putTable(edge, tableOf(generation, [], {}))).toEqual({ status: 200, body: { generation: 7 } });
  }
  expect((await ask(edge, "/", { host: "a.localhost" })).status).toBe(200);
  expect(upstream.lists).toHaveLength(1);
});

test("old environments lose their routes before they stop, new ones get routes once they can run", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  await putTable(
    edge,
    tableOf(1, [at(folder, "old"), at(folder, "kept")], { "old.localhost": "old", "kept.localhost": "kept" }),
  );
  const during: Record<string, number> = {};
  upstream.beforeTaking = async () => {
    for (const name of ["old", "kept", "new"])
      during[name] = (await ask(edge, "/", { host: `${name}.localhost` })).status;
  };
  await putTable(
    edge,
    tableOf(2, [at(folder, "new"), at(folder, "kept")], { "new.localhost": "new", "kept.localhost": "kept" }),
  );
  expect(during).toEqual({ old: 404, kept: 200, new: 404 });
  expect((await ask(edge, "/", { host: "new.localhost" })).status).toBe(200);
});

test("a name that moves to another environment leads to neither while switching", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  await putTable(edge, tableOf(1, [at(folder, "a"), at(folder, "b")], { "x.localhost": "a" }));
  let during = 0;
  upstream.beforeTaking = async () => {
    during = (await ask(edge, "/", { host: "x.localhost" })).status;
  };
  await putTable(edge, tableOf(2, [at(folder, "a"), at(folder, "b")], { "x.localhost": "b" }));
  expect(during).toBe(404);
  await ask(edge, "/", { host: "x.localhost" });
  expect(upstream.asked.at(-1)?.environmentId).toBe("b");
});

test("concurrent tables are applied one after the other, and the newest wins", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  const answers = await Promise.all(
    [3, 1, 5, 2, 4].map((generation) => putTable(edge, tableOf(generation, [at(folder, `e${generation}`)], {}))),
  );
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  expect(await status(edge)).toMatchObject({ generation: 5 });
  expect(upstream.lists.at(-1)?.[0]?.id).toBe("e5");
});

test("a running request finishes with its route when the table changes", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  await putTable(edge, tableOf(2, [], {}));
  expect((await ask(edge, "/")).status).toBe(404);
  page.end("last");
  await eventually(() => expect(visitor.received()).toContain("last"));
});

test("the next request on the same connection sees the new table", async () => {
  const { edge } = await startSite();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = () =>
    new Promise<number>((resolve, reject) => {
      const to = { host: "127.0.0.1", port: edge.port, agent, headers: { host: "site.localhost" } };
      request(to, async (response) => {
        await text(response);
        resolve(response.statusCode ?? 0);
      })
        .on("error", reject)
        .end();
    });
  expect(await get()).toBe(200);
  await putTable(edge, tableOf(2, [], {}));
  expect(await get()).toBe(404);
  agent.destroy();
});

test("a new release is served from its own folder at once", async () => {
  const { edge, folder, environment } = await startSite({ "v.txt": "one" });
  await writeFiles(path.join(folder, "second"), { "v.txt": "two" });
  const next = { ...environment, release: 2, documentRoot: path.join(folder, "second") };
  expect((await ask(edge, "/v.txt")).body).toBe("one");
  await putTable(edge, tableOf(2, [next], { "site.localhost": "one" }));
  expect((await ask(edge, "/v.txt")).body).toBe("two");
});

test("a table that PHP rejects is not acknowledged, and can be sent again", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  upstream.beforeTaking = () => Promise.reject(new Error("no room"));
  const table = tableOf(3, [at(folder, "a")], { "a.localhost": "a" });
  expect(await putTable(edge, table)).toMatchObject({ status: 500, body: { message: "no room" } });
  expect(await status(edge)).toMatchObject({ generation: 0 });
  upstream.beforeTaking = async () => {};
  expect(await putTable(edge, table)).toMatchObject({ status: 200 });
  expect((await ask(edge, "/", { host: "a.localhost" })).status).toBe(200);
});

const environment = makeEnvironment("/srv/a");
test.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["no generation", JSON.stringify({ environments: [], hosts: [] })],
  ["a negative generation", JSON.stringify({ generation: -1, environments: [], hosts: [] })],
  ["no environments", JSON.stringify({ generation: 1, hosts: [] })],
  ["a relative web root", JSON.stringify(tableOf(1, [{ ...environment, documentRoot: "srv" }], {}))],
  ["a relative overlay", JSON.stringify(tableOf(1, [{ ...environment, overlays: { "wp-admin": "../x" } }], {}))],
  [
    "an unknown kind of network",
    JSON.stringify({ ...tableOf(1, [], {}), environments: [{ ...environment, multisite: "both" }] }),
  ],
  ["an invalid isFrozen", JSON.stringify({ ...tableOf(1, [], {}), environments: [{ ...environment, isFrozen: 1 }] })],
  ["a host without an environment", JSON.stringify(tableOf(1, [environment], { "a.localhost": "other" }))],
  ["a host without a name", JSON.stringify(tableOf(1, [environment], { "": "one" }))],
])("an invalid table is refused with a message: %s", async (_, body) => {
  const { edge } = await startEmptyEdge();
  const got = await putTable(edge, body);
  expect(got.status).toBe(400);
  expect(got.body).toHaveProperty("message");
  expect(await status(edge)).toMatchObject({ generation: 0 });
});

test("a table without isFrozen and phpRestarts is accepted with their defaults", async () => {
  const { edge, upstream } = await startEmptyEdge();
  const { isFrozen, phpRestarts, ...old } = environment;
  expect(await putTable(edge, JSON.stringify({ generation: 1, environments: [old], hosts: [] }))).toMatchObject({
    status: 200,
  });
  expect(upstream.lists).toEqual([[environment]]);
  expect([isFrozen, phpRestarts]).toEqual([false, 0]);
});

test("an environment's runtime reaches PHP, and is unknown in older tables", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  await putTable(edge, tableOf(1, [at(folder, "a", { runtime: "other" }), at(folder, "b")], {}));
  expect(upstream.lists[0]?.map(({ runtime }) => runtime)).toEqual(["other", undefined]);
});

test("names of sites that are still being restored get a 503", async () => {
  const { edge, folder } = await startEmptyEdge();
  const away = ["moved.localhost", "*.moved.localhost"];
  await putTable(edge, JSON.stringify({ ...tableOf(1, [at(folder, "a")], { "a.localhost": "a" }), away }));
  for (const host of ["moved.localhost", "Moved.localhost:8081", "blog.moved.localhost"]) {
    const page = await ask(edge, "/", { host });
    expect(page.status).toBe(503);
    expect(page.body).toContain("This site is not available at the moment");
  }
  expect((await ask(edge, "/", { host: "other.localhost" })).status).toBe(404);
  expect((await ask(edge, "/", { host: "a.localhost" })).status).toBe(200);
  await putTable(edge, tableOf(2, [at(folder, "moved")], { "moved.localhost": "moved" }));
  expect((await ask(edge, "/", { host: "moved.localhost" })).status).toBe(200);
  expect((await ask(edge, "/", { host: "blog.moved.localhost" })).status).toBe(404);
});

test("other requests to the admin socket are a 404", async () => {
  const { edge } = await startEmptyEdge();
  expect((await ask(edge, "/table", { socketPath: edge.adminSocket })).status).toBe(404);
  await putTable(edge, tableOf(1, [], {}));
  expect((await ask(edge, "/table")).body).toContain("There is no site");
});
