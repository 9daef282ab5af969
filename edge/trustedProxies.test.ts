/** Visitors who come by way of a proxy. All connections of these tests come from 127.0.0.1. */
import { expect, test } from "vitest";
import { ask } from "./testing/http.ts";
import { limits, startSite } from "./testing/withEdge.ts";

const files = { "style.css": "body {}" };
const trusting = { trustedProxies: ["127.0.0.1", "10.1.2.0/24"] };
const statusFor = async (world: Awaited<ReturnType<typeof startSite>>, forwarded: string) =>
  (await ask(world.edge, "/style.css", { headers: { "x-forwarded-for": forwarded } })).status;

test.each([
  ["203.0.113.7", 403],
  ["203.0.113.7, 10.1.2.3", 403],
  ["203.0.113.7, 198.51.100.1", 200],
  ["198.51.100.1, 203.0.113.7", 403],
])("a blocked visitor is recognised behind a trusted proxy: %s", async (forwarded, status) => {
  const world = await startSite(files, { environment: { deniedIps: ["203.0.113.7"] }, edge: trusting });
  expect(await statusFor(world, forwarded)).toBe(status);
});

test("other proxies are visitors, whatever they say", async () => {
  const edge = { trustedProxies: ["10.1.2.0/24"] };
  const world = await startSite(files, { environment: { deniedIps: ["203.0.113.7"] }, edge });
  expect(await statusFor(world, "203.0.113.7")).toBe(200);
  await ask(world.edge, "/", { headers: { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" } });
  expect(world.upstream.asked[0]?.request).toMatchObject({ remoteAddress: "127.0.0.1", https: false });
});

test("PHP gets the visitor's address and scheme, and none of the proxy's headers", async () => {
  const { edge, upstream } = await startSite(files, { edge: trusting });
  await ask(edge, "/", { headers: { "x-forwarded-for": "2001:DB8:0::7", "x-forwarded-proto": "https" } });
  expect(upstream.asked[0]?.request).toMatchObject({ remoteAddress: "2001:db8::7", https: true });
  expect(JSON.stringify(upstream.asked[0]?.request.headers)).not.toMatch(/forwarded/i);
});

test("PHP of the installation can't claim to be a visitor", async () => {
  const { edge } = await startSite(files, { environment: { deniedIps: ["203.0.113.7"] }, edge: trusting });
  const headers = { "x-forwarded-for": "203.0.113.7" };
  expect((await ask(edge, "/style.css", { php: edge.loopbackSocket, headers })).status).toBe(200);
});

test("each visitor has a limit of open requests, and the proxy has none", async () => {
  const { edge, upstream } = await startSite(files, {
    edge: { ...trusting, limits: { ...limits, connectionsPerNetwork: 2 } },
  });
  upstream.answer = () => new Promise(() => undefined);
  const from = (address: string, path: string) => ask(edge, path, { headers: { "x-forwarded-for": address } });
  const open = [from("203.0.113.7", "/a"), from("203.0.113.7", "/b")];
  await expect.poll(() => upstream.asked.length).toBe(2);
  expect((await from("203.0.113.7", "/style.css")).status).toBe(503);
  expect((await from("203.0.113.8", "/style.css")).status).toBe(200);
  for (const each of open) each.catch(() => undefined);
});
