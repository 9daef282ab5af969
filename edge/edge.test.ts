import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import path from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { textAnswer } from "./testing/fakeUpstream.ts";
import { ask, openRaw, putTable } from "./testing/http.ts";
import {
  limits,
  makeEnvironment,
  makeFolder,
  startEmptyEdge,
  startSite,
  tableOf,
  writeFiles,
} from "./testing/withEdge.ts";

const at = (folder: string, id: string, changes = {}) => makeEnvironment(path.join(folder, id), { id, ...changes });
const status = async (edge: Parameters<typeof putTable>[0]) =>
  JSON.parse((await ask(edge, "/status", { socketPath: edge.adminSocket })).body);

test("an edge that was told nothing serves nobody", async () => {
  const { edge, upstream } = await startEmptyEdge();
  expect((await ask(edge, "/")).status).toBe(404);
  expect(await status(edge)).toEqual({ generation: 0, environments: 0, workers: [], spares: 0, port: edge.port });
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

test("an older table, or the same again, changes nothing and is answered with the newer number", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  await putTable(edge, tableOf(7, [at(folder, "a")], { "a.localhost": "a" }));
  for (const generation of [6, 7]) {
    expect(await putTable(edge, tableOf(generation, [], {}))).toEqual({ status: 200, body: { generation: 7 } });
  }
  expect((await ask(edge, "/", { host: "a.localhost" })).status).toBe(200);
  expect(upstream.lists).toHaveLength(1);
});

test("what goes loses its routes before it is ended, and what comes gets them once it can run", async () => {
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

test("a name that goes over to another environment leads to neither in between", async () => {
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

test("tables that come at once are taken one after the other, and the newest wins", async () => {
  const { edge, upstream, folder } = await startEmptyEdge();
  const answers = await Promise.all(
    [3, 1, 5, 2, 4].map((generation) => putTable(edge, tableOf(generation, [at(folder, `e${generation}`)], {}))),
  );
  expect(answers.every((answer) => answer.status === 200)).toBe(true);
  expect(await status(edge)).toMatchObject({ generation: 5 });
  expect(upstream.lists.at(-1)?.[0]?.id).toBe("e5");
});

test("a request that is being answered ends as it began when the table changes under it", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n");
  await vi.waitFor(() => expect(visitor.received()).toContain("first"));
  await putTable(edge, tableOf(2, [], {}));
  expect((await ask(edge, "/")).status).toBe(404);
  page.end("last");
  await vi.waitFor(() => expect(visitor.received()).toContain("last"));
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

test("a table that PHP does not take is not acknowledged, and can be sent again", async () => {
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
  ["a host of nobody", JSON.stringify(tableOf(1, [environment], { "a.localhost": "other" }))],
  ["a host without a name", JSON.stringify(tableOf(1, [environment], { "": "one" }))],
])("a broken table is refused and says where: %s", async (_, body) => {
  const { edge } = await startEmptyEdge();
  const got = await putTable(edge, body);
  expect(got.status).toBe(400);
  expect(got.body).toHaveProperty("message");
  expect(await status(edge)).toMatchObject({ generation: 0 });
});

test("the admin socket knows nothing else", async () => {
  const { edge } = await startEmptyEdge();
  expect((await ask(edge, "/table", { socketPath: edge.adminSocket })).status).toBe(404);
  expect((await ask(edge, "/table")).body).toContain("There is no site");
});

test("an edge starts with the table from its file, before anybody tells it one", async () => {
  const folder = await makeFolder();
  const tableFile = path.join(folder, "table.json");
  await writeFile(tableFile, JSON.stringify(tableOf(9, [at(folder, "a")], { "a.localhost": "a" })));
  const { edge, upstream } = await startEmptyEdge({ tableFile });
  expect(upstream.lists).toHaveLength(1);
  expect((await ask(edge, "/", { host: "a.localhost" })).status).toBe(200);
  expect(await putTable(edge, tableOf(8, [], {}))).toEqual({ status: 200, body: { generation: 9 } });
});

test.each(["{", "", '{"generation":1}'])(
  "a broken table file (%j) is reported and does not keep the edge from starting",
  async (content) => {
    const folder = await makeFolder();
    const tableFile = path.join(folder, "table.json");
    await writeFile(tableFile, content);
    const { edge, logged } = await startEmptyEdge({ tableFile });
    expect(logged).toMatchObject([{ level: "error", message: "broken table file" }]);
    expect(await status(edge)).toMatchObject({ generation: 0 });
  },
);

test("only its owner can tell the edge anything; PHP, whoever it runs as, can reach its visitors' side", async () => {
  const { edge } = await startEmptyEdge();
  const mode = async (file: string) => (await stat(file)).mode & 0o777;
  expect(await mode(path.dirname(edge.adminSocket))).toBe(0o700);
  expect(await mode(path.dirname(edge.loopbackSocket))).toBe(0o711);
  expect((await mode(edge.loopbackSocket)) & 0o666).toBe(0o666);
});

test("a socket that was left behind is no obstacle", async () => {
  const folder = await makeFolder();
  await writeFiles(folder, { "edge.sock": "left behind" });
  const { edge } = await startEmptyEdge({ adminSocket: path.join(folder, "edge.sock") });
  expect(await status(edge)).toMatchObject({ generation: 0 });
});

test("a folder of sockets that is not ours is not used", async () => {
  const folder = await makeFolder();
  await mkdir(path.join(folder, "elsewhere"));
  await symlink(path.join(folder, "elsewhere"), path.join(folder, "run"));
  await expect(startEmptyEdge({ adminSocket: path.join(folder, "run/edge.sock") })).rejects.toThrow("can't be trusted");
});

test("a port that somebody else has is an error that says so, and nothing stays open", async () => {
  const { edge } = await startEmptyEdge();
  const folder = await makeFolder();
  const adminSocket = path.join(folder, "run/edge.sock");
  await expect(startEmptyEdge({ port: edge.port, adminSocket })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await expect(stat(adminSocket)).rejects.toMatchObject({ code: "ENOENT" });
});

test("an edge that is closed finishes what it is answering, takes nobody new, and ends PHP last", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await vi.waitFor(() => expect(visitor.received()).toContain("first"));
  const closing = edge.close(60_000);
  await expect(ask(edge, "/")).rejects.toThrow("ECONNREFUSED");
  expect(upstream.closed).toBe(false);
  page.end("last");
  await closing;
  expect(upstream.closed).toBe(true);
  await vi.waitFor(() => expect(visitor.received()).toContain("last"));
});

test("an edge that is closed does not wait longer than it was told to", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = () => new Promise(() => undefined);
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await vi.waitFor(() => expect(upstream.asked).toHaveLength(1));
  await edge.close(50);
  await vi.waitFor(() => expect(upstream.asked[0]?.request.signal.aborted).toBe(true));
});

test.each([
  ["a head that never ends", "GET / HTTP/1.1\r\nHost: site.localhost\r\nX-", 408],
  ["a body that never comes", "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 10\r\n\r\nab", 0],
])("a visitor who sends %s is not waited for", async (_, sent) => {
  const slow = { ...limits, headSeconds: 0.2, requestSeconds: 0.2 };
  const { edge, upstream } = await startSite({}, { edge: { limits: slow } });
  upstream.answer = async (asked) => textAnswer(asked.body === null ? "" : await text(asked.body));
  const visitor = openRaw(edge);
  const closed = new Promise((resolve) => visitor.socket.on("close", resolve));
  visitor.socket.write(sent);
  await closed;
  expect(visitor.received()).not.toContain("HTTP/1.1 200");
});

test("a connection on which nothing moves is closed", async () => {
  const { edge, upstream } = await startSite({}, { edge: { limits: { ...limits, silenceSeconds: 0.2 } } });
  upstream.answer = () => new Promise(() => undefined);
  const visitor = openRaw(edge);
  const closed = new Promise((resolve) => visitor.socket.on("close", resolve));
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await closed;
  await vi.waitFor(() => expect(upstream.asked[0]?.request.signal.aborted).toBe(true));
});

test("what is logged about a visit holds no query, where passwords and keys travel", async () => {
  const { edge, logged } = await startSite();
  await ask(edge, "/wp-login.php?key=secret", { headers: { cookie: "secret", authorization: "secret" } });
  await vi.waitFor(() => expect(logged.some(({ message }) => message === "answered")).toBe(true));
  expect(logged.find(({ message }) => message === "answered")?.facts).toMatchObject({
    host: "site.localhost",
    path: "/wp-login.php",
    status: 200,
    complete: true,
  });
  expect(JSON.stringify(logged)).not.toContain("secret");
});
