import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { freeze, watch } from "../testing/freezing.ts";
import { ask, openRaw, putTable, type Sending, settle } from "../testing/http.ts";
import { type EdgeWorld, limits, makeEnvironment, startEmptyEdge, startSite, tableOf } from "../testing/withEdge.ts";

const files = {
  "wp-admin/admin-ajax.php": "<?php",
  "wp-admin/admin-post.php": "<?php",
  "wp-admin/post.php": "<?php",
  "wp-cron.php": "<?php",
  "wp-mail.php": "<?php",
  "style.css": "css",
};

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** Sends a form and waits until PHP has it. PHP responds after `finish`. */
async function beginWrite({ edge, upstream }: EdgeWorld) {
  const answering = Promise.withResolvers<void>();
  const before = upstream.asked.length;
  upstream.answer = async () => {
    await answering.promise;
    return textAnswer("written");
  };
  const write = ask(edge, "/", { method: "POST", body: "a=1" });
  write.catch(() => undefined);
  await eventually(() => expect(upstream.asked.length).toBe(before + 1));
  upstream.answer = () => textAnswer("read");
  return { write, finish: () => answering.resolve() };
}

const refused: readonly (readonly [path: string, sending: Sending])[] = [
  ["/", { method: "POST", body: "a=1", headers: html }],
  ["/wp-admin/post.php", { method: "PUT", headers: html }],
  ["/", { method: "DELETE", headers: html }],
  ["/wp-admin/post.php?action=trash&_wpnonce=0123456789", { headers: html }],
  ["/wp-admin/admin-ajax.php?action=x", { headers: html }],
  ["/wp-admin/admin-post.php", { headers: html }],
  ["/wp-mail.php", { headers: html }],
];

test.each(refused)("a frozen site refuses writes: %s %j", async (path, sending) => {
  const world = await startSite(files);
  await freeze(world, 2);
  const got = await ask(world.edge, path, sending);
  expect(got.status).toBe(503);
  expect(got.headers).toMatchObject({ "retry-after": "3", "cache-control": "no-store" });
  expect(got.body).toContain("<title>Back in a moment</title>");
  expect(got.body).toContain("nothing was saved");
  expect(world.upstream.asked).toEqual([]);
});

test.each([
  ["/wp-json/wp/v2/posts/1", {}],
  ["/index.php?rest_route=%2Fwp%2Fv2%2Fposts", html],
  ["/wp-admin/admin-ajax.php", { accept: "application/json, */*;q=0.1" }],
])("the block editor gets a REST error: %s %j", async (path, headers) => {
  const world = await startSite(files);
  await freeze(world, 2);
  const got = await ask(world.edge, path, { method: "POST", headers, body: "{}" });
  expect(got.status).toBe(503);
  expect(got.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(got.body)).toEqual({
    code: "back_in_a_moment",
    message: expect.stringContaining("send it again in a few seconds"),
    data: { status: 503 },
  });
});

test("writes of the site's PHP to its own site are refused too", async () => {
  const world = await startSite(files);
  await freeze(world, 2);
  const own = { method: "POST", php: world.edge.loopbackSocket };
  expect((await ask(world.edge, "/wp-cron.php", own)).status).toBe(503);
  expect((await ask(world.edge, "/", { php: world.edge.loopbackSocket })).status).toBe(200);
});

test("reads, files and other sites are not affected", async () => {
  const world = await startSite(files);
  const { edge, environment } = world;
  const other = makeEnvironment(world.root, { id: "two", number: 2 });
  const frozen = { ...environment, isFrozen: true };
  await putTable(edge, tableOf(2, [frozen, other], { "site.localhost": "one", "two.localhost": "two" }));
  for (const method of ["GET", "HEAD", "OPTIONS"]) expect((await ask(edge, "/", { method })).status).toBe(200);
  expect((await ask(edge, "/wp-json/wp/v2/posts")).status).toBe(200);
  expect((await ask(edge, "/style.css?_wpnonce=1")).body).toBe("css");
  expect((await ask(edge, "/style.css", { method: "POST" })).status).toBe(405);
  expect((await ask(edge, "/", { method: "POST", host: "two.localhost" })).status).toBe(200);
});

test("a thawed site accepts writes again", async () => {
  const world = await startSite(files);
  await freeze(world, 2);
  expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(503);
  await freeze(world, 3, false);
  expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(200);
});

test("writes are refused while PHP is switched to the next table", async () => {
  const world = await startSite(files);
  const during: number[] = [];
  world.upstream.beforeTaking = async () => {
    during.push((await ask(world.edge, "/", { method: "POST" })).status);
  };
  await freeze(world, 2);
  await freeze(world, 3, false);
  expect(during).toEqual([503, 503]);
});

test("a freeze whose table PHP rejected ends with the next table", async () => {
  const world = await startSite(files);
  world.upstream.beforeTaking = () => Promise.reject(new Error("no room"));
  expect((await freeze(world, 2)).status).toBe(500);
  world.upstream.beforeTaking = async () => {};
  await freeze(world, 3, false);
  expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(200);
});

test("a freeze waits for running writes, and no one else waits", async () => {
  const world = await startSite(files);
  const { write, finish } = await beginWrite(world);
  const freezing = watch(freeze(world, 2));
  await eventually(async () => expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(503));
  expect((await ask(world.edge, "/")).body).toBe("read");
  expect(freezing.isSettled()).toBe(false);
  finish();
  expect((await write).body).toBe("written");
  expect(await freezing.promise).toEqual({ status: 200, body: { generation: 2 } });
});

test("a repeated freeze waits too", async () => {
  const world = await startSite(files);
  const { finish } = await beginWrite(world);
  const tables = [freeze(world, 2), freeze(world, 3)].map(watch);
  await eventually(async () => expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(503));
  expect(tables.map((table) => table.isSettled())).toEqual([false, false]);
  finish();
  expect((await Promise.all(tables.map(({ promise }) => promise))).map(({ status }) => status)).toEqual([200, 200]);
});

test("a write lasts until its response has been sent", async () => {
  const world = await startSite(files);
  const page = new PassThrough();
  world.upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(world.edge);
  visitor.socket.write("POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 0\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  const freezing = watch(freeze(world, 2));
  await eventually(async () => expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(503));
  expect(freezing.isSettled()).toBe(false);
  page.end("last");
  expect((await freezing.promise).status).toBe(200);
  await eventually(() => expect(visitor.received()).toContain("last"));
});

test("a freeze does not wait for other sites", async () => {
  const world = await startSite(files);
  const { edge, upstream, environment } = world;
  const other = makeEnvironment(world.root, { id: "two", number: 2 });
  const hosts = { "site.localhost": "one", "two.localhost": "two" };
  await putTable(edge, tableOf(2, [environment, other], hosts));
  upstream.answer = () => new Promise(() => undefined);
  for (const method of ["GET", "POST"]) ask(edge, "/", { method, host: "two.localhost" }).catch(() => undefined);
  await eventually(() => expect(upstream.asked).toHaveLength(2));
  const frozen = { ...environment, isFrozen: true };
  expect((await putTable(edge, tableOf(3, [frozen, other], hosts))).status).toBe(200);
  expect((await settle(edge, environment.id)).status).toBe(200);
});

test("a table is in force at once, even while a site that it freezes is being written to", async () => {
  const world = await startSite(files);
  const { write, finish } = await beginWrite(world);
  const frozen = tableOf(2, [{ ...world.environment, isFrozen: true }], { "site.localhost": "one" });
  expect(await putTable(world.edge, frozen)).toEqual({ status: 200, body: { generation: 2 } });
  finish();
  expect((await write).body).toBe("written");
});

test("a write that takes too long is aborted, and the visitor is asked to check the result", async () => {
  const world = await startSite(files, { edge: { limits: { ...limits, freezeSeconds: 0.2 } } });
  const { write, finish } = await beginWrite(world);
  expect(await freeze(world, 2)).toEqual({ status: 200, body: { generation: 2 } });
  const aborted = await write;
  expect(aborted.status).toBe(503);
  expect(aborted.headers).toMatchObject({ "retry-after": "3", connection: "close" });
  expect(aborted.body).toContain("check in a few seconds whether it worked");
  finish();
  await freeze(world, 3, false);
  expect((await ask(world.edge, "/", { method: "POST" })).status).toBe(200);
});

test("a write that takes too long after its response has started is closed without an end", async () => {
  const world = await startSite(files, { edge: { limits: { ...limits, freezeSeconds: 0.2 } } });
  const page = new PassThrough();
  world.upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first ");
  const visitor = openRaw(world.edge);
  visitor.socket.write("POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 0\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  const closed = once(visitor.socket, "close");
  expect((await freeze(world, 2)).status).toBe(200);
  await closed;
  await eventually(() => expect(world.upstream.asked[0]?.request.signal.aborted).toBe(true));
});

test("a write is not aborted if the site has been thawed in the meantime", async () => {
  const world = await startSite(files, { edge: { limits: { ...limits, freezeSeconds: 0.2 } } });
  const { write, finish } = await beginWrite(world);
  const freezing = freeze(world, 2);
  expect((await freeze(world, 3, false)).status).toBe(200);
  expect((await freezing).status).toBe(200);
  finish();
  expect((await write).body).toBe("written");
});

test("an edge that starts with a frozen site in its table file refuses writes", async () => {
  const world = await startSite(files);
  const tableFile = `${world.folder}/frozen.json`;
  const frozen = { ...world.environment, isFrozen: true };
  await writeFile(tableFile, JSON.stringify(tableOf(1, [frozen], { "site.localhost": "one" })));
  const { edge } = await startEmptyEdge({ tableFile });
  expect((await ask(edge, "/", { method: "POST" })).status).toBe(503);
  expect((await ask(edge, "/")).status).toBe(200);
});
