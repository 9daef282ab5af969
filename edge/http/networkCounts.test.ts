import { EventEmitter, once } from "node:events";
import { constants } from "node:http2";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { ask, openRaw } from "../testing/http.ts";
import { ask2, visit } from "../testing/http2.ts";
import { site, startSecureSite } from "../testing/secureSite.ts";
import { limits } from "../testing/withEdge.ts";
import { networkOf } from "./network.ts";
import { createNetworkCounts } from "./networkCounts.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1::1", "20010db800000001::/64"],
  ["2001:db8:0:1:ffff:ffff:ffff:ffff", "20010db800000001::/64"],
  ["2001:db8::1:0:0:0", "20010db800000000::/64"],
  ["2001:db8::1", "20010db800000000::/64"],
  ["::1", "0000000000000000::/64"],
  ["", ""],
])("the network of %j is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("a network at its limit is refused until something closes, and reported once", () => {
  const reported: string[] = [];
  const counts = createNetworkCounts(2, (network) => reported.push(network));
  const [first, second, third] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
  expect(counts.add("2001:db8::1", first)).toBe(true);
  expect(counts.add("2001:db8::2", second)).toBe(true);
  expect(counts.add("2001:db8::3", third)).toBe(false);
  expect(counts.add("192.0.2.1", third)).toBe(true);
  first.emit("close");
  expect(counts.add("2001:db8::3", first)).toBe(true);
  expect(counts.add("2001:db8::4", new EventEmitter())).toBe(false);
  expect(reported).toHaveLength(1);
  first.emit("close");
  second.emit("close");
  for (const _ of ["first", "second", "refused"]) counts.add("2001:db8::1", new EventEmitter());
  expect(reported).toHaveLength(2);
});

async function start(connectionsPerNetwork: number) {
  const world = await startSecureSite(undefined, [], { limits: { ...limits, connectionsPerNetwork } });
  await world.tell(2, { certificates: [site] });
  return world;
}

test("connections beyond the limit of their address are closed, for HTTP and HTTPS together", async () => {
  const { edge, tlsPort, ca, logged } = await start(3);
  const open = [edge.port, edge.port, tlsPort].map((port) => connect(port, "127.0.0.1").on("error", () => undefined));
  onTestFinished(() => open.forEach((socket) => void socket.destroy()));
  await Promise.all(open.map((socket) => once(socket, "connect")));
  for (const port of [edge.port, tlsPort]) {
    const late = openRaw({ port });
    late.socket.write("GET /a.txt HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
    await new Promise<void>((closed) => late.socket.once("close", () => closed()));
    expect(late.received()).toBe("");
  }
  expect(logged.filter(({ level }) => level === "warn")).toMatchObject([{ facts: { address: "127.0.0.1" } }]);
  // PHP and the control process have sockets of their own.
  expect((await ask(edge, "/status", { socketPath: edge.adminSocket })).status).toBe(200);
  for (const socket of open) socket.destroy();
  await expect.poll(() => bodyOf(ask(edge, "/a.txt"))).toBe("file");
  await expect.poll(() => bodyOf(ask2(visit(tlsPort, ca), "/a.txt"))).toBe("file");
});

test("HTTP/2 requests beyond the limit of their address are refused, so that clients may repeat them", async () => {
  const { tlsPort, ca, upstream } = await start(2);
  const waiting = Promise.withResolvers<never>();
  upstream.answer = () => waiting.promise;
  const session = visit(tlsPort, ca);
  const slow = ["/1", "/2"].map((path) => session.request({ ":authority": "site.localhost", ":path": path }));
  await eventually(() => expect(upstream.asked).toHaveLength(2));
  const late = session.request({ ":authority": "site.localhost", ":path": "/a.txt" });
  await new Promise<void>((closed) => late.on("error", () => undefined).once("close", closed));
  expect(late.rstCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
  for (const stream of slow) stream.on("error", () => undefined).close();
  await expect.poll(() => bodyOf(ask2(session, "/a.txt"))).toBe("file");
});

/** Null if the request was refused. */
function bodyOf(answer: Promise<{ readonly body: string }>): Promise<string | null> {
  return answer.then(
    ({ body }) => body,
    () => null,
  );
}
