import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { EdgeEnvironment } from "./tables/table.ts";
import { eventually } from "./testing/eventually.ts";
import { ask, putTable } from "./testing/http.ts";
import { logged } from "./testing/logged.ts";
import { ruleOf } from "./testing/redirectRule.ts";
import { type EdgeWorld, makeEnvironment, startSite, tableOf } from "./testing/withEdge.ts";

/** What PHP of the environment `two` gets from the site `one`. */
const asNeighbour = ({ edge }: EdgeWorld) => ({ php: edge.loopbackSocket, phpOf: "two" });
const neighbourAddress = "fd5a:17d2:0:2::1";

test("PHP is a visitor at other environments, with an address of its own in requests and logs", async () => {
  const world = await startSite();
  await ask(world.edge, "/", asNeighbour(world));
  const { request } = world.upstream.asked[0] ?? {};
  expect(request).toMatchObject({ fromPhp: false, remoteAddress: neighbourAddress });
  expect((await logged(world, "access", 1))[0]).toMatch(/^fd5a:17d2:0:2::1 - - \[/);
});

test("PHP of another environment can be blocked by its address, with a body too, and PHP of the own one can't", async () => {
  const world = await startSite({ "style.css": "css" }, { environment: { deniedIps: [neighbourAddress] } });
  expect((await ask(world.edge, "/style.css", asNeighbour(world))).status).toBe(403);
  const expecting = { method: "POST", body: "x", headers: { expect: "100-continue" } };
  expect((await ask(world.edge, "/", { ...asNeighbour(world), ...expecting })).status).toBe(403);
  expect((await ask(world.edge, "/style.css", { ...asNeighbour(world), phpOf: "three" })).status).toBe(200);
  expect((await ask(world.edge, "/style.css", { php: world.edge.loopbackSocket })).status).toBe(200);
});

test.each<[string, string, Partial<EdgeEnvironment>, number]>([
  ["wp-cron.php is closed", "/wp-cron.php", {}, 404],
  ["redirect rules apply", "/style.css", { redirectRules: "rules" }, 301],
])("%s for PHP of other environments", async (_, path, environment, status) => {
  const rules = [ruleOf("/style.css", "/other.css")];
  const edge = { redirects: { read: async () => rules } };
  const world = await startSite({ "style.css": "css", "wp-cron.php": "<?php" }, { environment, edge });
  expect((await ask(world.edge, path, asNeighbour(world))).status).toBe(status);
  expect((await ask(world.edge, path, { php: world.edge.loopbackSocket })).status).toBe(200);
});

test("PHP of a site that moves between environments is judged by each request's environment", async () => {
  const world = await startSite();
  const other = makeEnvironment(world.root, { id: "two", number: 2 });
  await putTable(world.edge, tableOf(2, [world.environment, other], { "site.localhost": "two" }));
  await ask(world.edge, "/", asNeighbour(world));
  await ask(world.edge, "/", { php: world.edge.loopbackSocket });
  expect(world.upstream.asked.map(({ request }) => request.fromPhp)).toEqual([true, false]);
});

/** Sends bytes to PHP's socket and resolves with what the edge sends until it closes the connection. */
function sendToPhpSocket({ edge }: EdgeWorld, text: string): Promise<string> {
  const socket = connect(edge.loopbackSocket);
  socket.write(text);
  let received = "";
  return new Promise((resolve) => {
    socket.setEncoding("latin1").on("data", (more: string) => {
      received += more;
    });
    socket.on("error", () => undefined).on("close", () => resolve(received));
  });
}

const request = "GET /style.css HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n";

test.each([
  ["without a credential", request],
  ["with an unknown credential", `nobody\n${request}`],
  ["with an endless credential", "x".repeat(5_000)],
])("a connection %s is closed without an answer", async (_, text) => {
  expect(await sendToPhpSocket(await startSite({ "style.css": "css" }), text)).toBe("");
});

test("a credential and the request may arrive together, or in pieces", async () => {
  const world = await startSite({ "style.css": "css" });
  expect(await sendToPhpSocket(world, `one\n${request}`)).toMatch(/^HTTP\/1\.1 200 OK/);
  const socket = connect(world.edge.loopbackSocket).setNoDelay();
  socket.write("on");
  await new Promise<void>((resolve) => void socket.write("e\nGET /style.css HTTP/1.1\r\n", () => resolve()));
  const answer = new Promise<string>((resolve) => socket.setEncoding("latin1").once("data", resolve));
  socket.write("Host: site.localhost\r\nConnection: close\r\n\r\n");
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("PHP of an environment has at most 200 connections, and other environments still have theirs", async () => {
  const world = await startSite({ "style.css": "css" });
  const open = Array.from({ length: 200 }, () => connect(world.edge.loopbackSocket).on("error", () => undefined));
  onTestFinished(() => open.forEach((socket) => void socket.destroy()));
  for (const socket of open) socket.write("one\n");
  await eventually(async () => expect(await sendToPhpSocket(world, `one\n${request}`)).toBe(""));
  expect((await ask(world.edge, "/style.css", asNeighbour(world))).body).toBe("css");
  const warnings = world.logged.filter(({ level }) => level === "warn");
  expect(warnings).toMatchObject([{ facts: { environmentId: "one", max: 200 } }]);
  for (const socket of open.slice(100)) socket.destroy();
  await eventually(async () => expect(await sendToPhpSocket(world, `one\n${request}`)).toContain("css"));
});

test("an edge with a connection that never sends a credential can be closed", async () => {
  const { edge } = await startSite();
  const socket = connect(edge.loopbackSocket);
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await edge.close(0);
  await closed;
});
