import { request as sendRequest } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { freeze } from "../testing/freezing.ts";
import { ask, openRaw, putTable, statusOf } from "../testing/http.ts";
import { wordpress } from "../testing/slowSite.ts";
import { type EdgeWorld, limits, makeEnvironment, startSite, tableOf } from "../testing/withEdge.ts";

const megabyte = 1 << 20;
const largeUploads = { edge: { limits: { ...limits, uploadBytes: 2 * megabyte } } };

/** Sends the head and the first bytes of a POST. */
function beginUpload({ edge }: Pick<EdgeWorld, "edge">, length: number, start = "") {
  const visitor = openRaw(edge);
  onTestFinished(() => void visitor.socket.destroy());
  visitor.socket.write(`POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: ${length}\r\n\r\n${start}`);
  return visitor;
}

/** What the bodies of requests use, as the edge reports it. */
async function usedBy({ edge }: EdgeWorld) {
  const status = await ask(edge, "/status", { socketPath: edge.adminSocket });
  return JSON.parse(status.body).bodies;
}

test("uploads beyond a network's share are refused before they are read, and told when to come back", async () => {
  const world = await startSite({}, largeUploads);
  const visitors = Array.from({ length: 43 }, () => beginUpload(world, 2 * megabyte));
  const refused = () => visitors.filter(({ received }) => received() !== "");
  await eventually(() => expect(refused()).toHaveLength(1));
  const [answer = ""] = refused().map(({ received }) => received());
  expect(statusOf(answer)).toBe(503);
  expect(answer).toMatch(/\r\nretry-after: 60\r\n/i);
  expect(answer).toContain("nothing was saved");
  expect(world.upstream.asked).toEqual([]);
  expect(await usedBy(world)).toEqual({ memoryBytes: 0, diskBytes: 84 * megabyte, refused: 1 });
  // Small forms still have room.
  expect((await ask(world.edge, "/", { method: "POST", body: "a=1" })).status).toBe(200);
  for (const { socket } of visitors) socket.destroy();
  await eventually(async () => {
    const late = beginUpload(world, 2 * megabyte, "x".repeat(2 * megabyte));
    await eventually(() => expect(late.received()).not.toBe(""));
    expect(statusOf(late.received())).toBe(200);
  });
});

test("an upload that waits for 100 Continue is asked for its body when there is room, and otherwise refused", async () => {
  const world = await startSite({}, largeUploads);
  const visitors = Array.from({ length: 42 }, () => beginUpload(world, 2 * megabyte));
  const usage = async () => {
    const status = await ask(world.edge, "/status", { socketPath: world.edge.adminSocket });
    return JSON.parse(status.body).bodies.diskBytes;
  };
  await eventually(async () => expect(await usage()).toBe(84 * megabyte));
  const begin = () => {
    const visitor = openRaw(world.edge);
    onTestFinished(() => void visitor.socket.destroy());
    const head = "POST / HTTP/1.1\r\nHost: site.localhost\r\nExpect: 100-continue";
    visitor.socket.write(`${head}\r\nContent-Length: ${2 * megabyte}\r\n\r\n`);
    return visitor;
  };
  const refused = begin();
  const ended = new Promise((done) => refused.socket.once("end", done));
  await ended;
  expect(refused.received()).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n/is);
  for (const { socket } of visitors) socket.destroy();
  await eventually(async () => expect(await usage()).toBe(0));
  const accepted = begin();
  await eventually(() => expect(accepted.received()).toMatch(/^HTTP\/1\.1 100 /));
  accepted.socket.write("x".repeat(2 * megabyte));
  await eventually(() => expect(accepted.received()).toMatch(/\r\n\r\nHTTP\/1\.1 200 /));
});

test("a response without reading the body closes the connection of a visitor that waits for 100 Continue", async () => {
  const { edge } = await startSite({ "a.txt": "file" });
  const visitor = openRaw(edge);
  visitor.socket.write(
    "GET /a.txt HTTP/1.1\r\nHost: site.localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
  );
  await new Promise((done) => visitor.socket.once("end", done));
  expect(visitor.received()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
});

test("while the disk's reserve is used, small forms are accepted and large uploads refused", async () => {
  const limits = largeUploads.edge.limits;
  const world = await startSite({}, { edge: { limits, freeDisk: async () => -1 } });
  const large = await ask(world.edge, "/", { method: "POST", body: Buffer.alloc(2 * megabyte) });
  expect([large.status, large.headers["retry-after"]]).toEqual([503, "60"]);
  expect((await ask(world.edge, "/", { method: "POST", body: "action=delete" })).status).toBe(200);
});

test("a chunked upload gets the same page when its room ends", async () => {
  const world = await startSite({}, largeUploads);
  const visitors = Array.from({ length: 42 }, () => beginUpload(world, 2 * megabyte));
  onTestFinished(() => visitors.forEach(({ socket }) => void socket.destroy()));
  await eventually(async () => expect((await usedBy(world)).diskBytes).toBe(84 * megabyte));
  const headers = { host: "site.localhost", accept: "application/json" };
  const sent = sendRequest({ port: world.edge.port, method: "POST", headers, agent: false });
  const answered = Promise.withResolvers<string>();
  sent.on("error", answered.reject).on("response", (response) => answered.resolve(text(response)));
  for (let index = 0; index < 31; index += 1) sent.write(Buffer.alloc(64 * 1024));
  expect(JSON.parse(await answered.promise)).toMatchObject({ code: "too_many_uploads", data: { status: 503 } });
  expect(world.upstream.asked).toEqual([]);
});

test("an upload that stalls gets 408 and is closed; one that goes on arrives", async () => {
  const world = await startSite({}, { edge: { limits: { ...limits, bodyGraceSeconds: 0.1 } } });
  // Its speed is checked before that of the other one.
  const steady = beginUpload(world, 90_004, "x".repeat(90_000));
  await marker(world);
  const stalled = beginUpload(world, 10, "ab");
  await eventually(() => expect(stalled.received()).toMatch(/^HTTP\/1\.1 408 .*Connection: close.*took too long/is));
  await eventually(() => expect(stalled.socket.closed).toBe(true));
  expect(world.upstream.asked.map(({ request }) => request.method)).toEqual(["GET"]);
  steady.socket.write("last");
  await eventually(() => expect(statusOf(steady.received())).toBe(200));
});

test("a write begins when its body has arrived, so a slow upload does not hold up a freeze", async () => {
  const world = await startSite();
  const visitor = beginUpload(world, 4, "ab");
  await marker(world);
  expect((await freeze(world, 2)).status).toBe(200);
  visitor.socket.write("cd");
  await eventually(() => expect(visitor.received()).toMatch(/^HTTP\/1\.1 503 .*nothing was saved/s));
  expect(world.upstream.asked.map(({ request }) => request.method)).toEqual(["GET"]);
});

test("a slow upload does not stop visitors from sharing pages", async () => {
  const world = await startSite({}, wordpress);
  beginUpload(world, 4, "ab");
  await marker(world);
  const rendered = Promise.withResolvers<void>();
  world.upstream.answer = async ({ url }) => {
    if (url !== "/page") return textAnswer("marker");
    await rendered.promise;
    return textAnswer("shared", [["Content-Type", "text/html"]]);
  };
  const pages = [ask(world.edge, "/page"), ask(world.edge, "/page"), ask(world.edge, "/page")];
  await marker(world);
  await eventually(() => expect(world.upstream.asked.some(({ request }) => request.url === "/page")).toBe(true));
  rendered.resolve();
  expect((await Promise.all(pages)).map(({ body }) => body)).toEqual(["shared", "shared", "shared"]);
  expect(world.upstream.asked.filter(({ request }) => request.url === "/page")).toHaveLength(1);
});

test("an upload goes to the environment that is served when it has arrived", async () => {
  const world = await startSite();
  world.upstream.answer = async ({ body }) => textAnswer(await text(body ?? Readable.from([])));
  const visitor = beginUpload(world, 4, "ab");
  await marker(world);
  const next = makeEnvironment(world.root, { id: "two", number: 2 });
  await putTable(world.edge, tableOf(2, [next], { "site.localhost": "two" }));
  visitor.socket.write("cd");
  await eventually(() => expect(visitor.received()).toContain("abcd"));
  expect(world.upstream.asked.at(-1)?.environmentId).toBe("two");
});

let markers = 0;
/** More than a test opens before a marker. */
const manyConnections = 50;

/** Resolves when the edge has handled everything that arrived before. */
async function marker({ edge }: Pick<EdgeWorld, "edge">): Promise<void> {
  // In each round, the edge accepts one of the connections that wait at each of its sockets.
  for (let round = 0; round < manyConnections; round += 1) await nextRound();
  markers += 1;
  await ask(edge, `/marker/${markers}.txt`);
}

test("a body in very many tiny pieces takes too long", async () => {
  const { edge, upstream } = await startSite({}, { edge: { limits: { ...limits, bodyGraceSeconds: 1 } } });
  const visitor = openRaw(edge);
  const head = "POST / HTTP/1.1\r\nHost: site.localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  visitor.socket.on("error", () => undefined).write(`${head}${"1\r\nx\r\n".repeat(100_000)}0\r\n\r\n`);
  await new Promise((done) => visitor.socket.once("close", done));
  expect(statusOf(visitor.received())).toBe(408);
  expect(upstream.asked).toEqual([]);
});
