import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "./testing/eventually.ts";
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

test("the edge starts with the table from its file", async () => {
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
    expect(logged).toMatchObject([{ level: "error", message: "table file is broken" }]);
    expect(await status(edge)).toMatchObject({ generation: 0 });
  },
);

test.each([
  ["no table", null],
  ["a broken table", "{"],
])("an edge with %s says that it is starting until it gets a table", async (_, content) => {
  const tableFile = path.join(await makeFolder(), "table.json");
  if (content !== null) await writeFile(tableFile, content);
  const { edge } = await startEmptyEdge({ tableFile });
  const early = await ask(edge, "/", { host: "any.localhost" });
  expect(early).toMatchObject({ status: 503, headers: { "retry-after": "5", "cache-control": "no-store" } });
  expect(early.body).toContain("This server is starting");
  // A table without sites counts too.
  await putTable(edge, tableOf(1, [], {}));
  expect((await ask(edge, "/", { host: "any.localhost" })).status).toBe(404);
});

test("only the owner can use the sockets, if PHP runs as the same user", async () => {
  const { edge } = await startEmptyEdge();
  const mode = async (file: string) => (await stat(file)).mode & 0o777;
  expect(await mode(path.dirname(edge.adminSocket))).toBe(0o700);
  expect(await mode(edge.adminSocket)).toBe(0o600);
  expect(await mode(path.dirname(edge.loopbackSocket))).toBe(0o700);
  expect(await mode(edge.loopbackSocket)).toBe(0o600);
});

test.runIf(process.getuid?.() === 0)("only PHP's group can use its socket, if PHP runs as other users", async () => {
  const folder = await makeFolder();
  const socket = path.join(folder, "php/edge.sock");
  // Earlier versions let everybody pass through the folder.
  await mkdir(path.dirname(socket), { mode: 0o711 });
  await startEmptyEdge({ php: { socket, group: 200_000, identify: () => null } });
  const facts = async (file: string) => {
    const { mode, uid, gid } = await stat(file);
    return { mode: (mode & 0o777).toString(8), uid, gid };
  };
  expect(await facts(path.dirname(socket))).toEqual({ mode: "710", uid: 0, gid: 200_000 });
  expect(await facts(socket)).toEqual({ mode: "660", uid: 0, gid: 200_000 });
});

test("a stale socket file is replaced", async () => {
  const folder = await makeFolder();
  await writeFiles(folder, { "edge.sock": "left behind" });
  const { edge } = await startEmptyEdge({ adminSocket: path.join(folder, "edge.sock") });
  expect(await status(edge)).toMatchObject({ generation: 0 });
});

test("a folder that other users can enter is refused for the admin socket, and left unchanged", async () => {
  const folder = await makeFolder();
  await chmod(folder, 0o755);
  await expect(startEmptyEdge({ adminSocket: path.join(folder, "edge.sock") })).rejects.toThrow(
    "is open to other users",
  );
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

test("a symbolic link is refused as the folder of a socket", async () => {
  const folder = await makeFolder();
  await mkdir(path.join(folder, "elsewhere"));
  await symlink(path.join(folder, "elsewhere"), path.join(folder, "run"));
  await expect(startEmptyEdge({ adminSocket: path.join(folder, "run/edge.sock") })).rejects.toThrow("can't be trusted");
});

test("a port in use is reported, and nothing stays open", async () => {
  const { edge } = await startEmptyEdge();
  const folder = await makeFolder();
  const adminSocket = path.join(folder, "run/edge.sock");
  await expect(startEmptyEdge({ port: edge.port, adminSocket })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await expect(stat(adminSocket)).rejects.toMatchObject({ code: "ENOENT" });
});

test("closing finishes running requests, accepts no new ones, and stops PHP last", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  const closing = edge.close(60_000);
  await expect(ask(edge, "/")).rejects.toThrow("ECONNREFUSED");
  expect(upstream.closed).toBe(false);
  page.end("last");
  await closing;
  expect(upstream.closed).toBe(true);
  await eventually(() => expect(visitor.received()).toContain("last"));
});

test("closing waits no longer than the grace period", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = () => new Promise(() => undefined);
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await eventually(() => expect(upstream.asked).toHaveLength(1));
  await edge.close(50);
  await eventually(() => expect(upstream.asked[0]?.request.signal.aborted).toBe(true));
});

test.each([
  ["a head that never ends", "GET / HTTP/1.1\r\nHost: site.localhost\r\nX-", 408],
  ["a body that never comes", "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 10\r\n\r\nab", 0],
])("the connection of a visitor who sends %s is closed", async (_, sent) => {
  const slow = { ...limits, headSeconds: 0.2, requestSeconds: 0.2 };
  const { edge, upstream } = await startSite({}, { edge: { limits: slow } });
  upstream.answer = async (asked) => textAnswer(asked.body === null ? "" : await text(asked.body));
  const visitor = openRaw(edge);
  const closed = new Promise((resolve) => visitor.socket.on("close", resolve));
  visitor.socket.write(sent);
  await closed;
  expect(visitor.received()).not.toContain("HTTP/1.1 200");
});

test("an inactive connection is closed", async () => {
  const { edge, upstream } = await startSite({}, { edge: { limits: { ...limits, silenceSeconds: 0.2 } } });
  upstream.answer = () => new Promise(() => undefined);
  const visitor = openRaw(edge);
  const closed = new Promise((resolve) => visitor.socket.on("close", resolve));
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await closed;
  await eventually(() => expect(upstream.asked[0]?.request.signal.aborted).toBe(true));
});

test("the edge's log contains no queries, which may hold passwords and keys", async () => {
  const { edge, logged } = await startSite();
  await ask(edge, "/wp-login.php?key=secret", { headers: { cookie: "secret", authorization: "secret" } });
  await eventually(() => expect(logged.some(({ message }) => message === "answered")).toBe(true));
  expect(logged.find(({ message }) => message === "answered")?.facts).toMatchObject({
    host: "site.localhost",
    path: "/wp-login.php",
    status: 200,
    complete: true,
  });
  expect(JSON.stringify(logged)).not.toContain("secret");
});
