import { Agent, request } from "node:http";
import { BlockList } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ask, putTable, sendRaw, statusOf } from "../testing/http.ts";
import { startSite, tableOf } from "../testing/withEdge.ts";
import { createBlocklist, readNetwork } from "./blockedIps.ts";

describe("a list of IP addresses and networks", () => {
  const isBlocked = createBlocklist(["203.0.113.7", "198.51.100.0/24", "2001:db8::/32", "2001:DB9:0::1", "::/1"]);

  test.each(["203.0.113.7", "198.51.100.0", "198.51.100.255", "2001:db8:ffff::1", "2001:db9::1", "7fff::1"])(
    "matches %s",
    (address) => expect(isBlocked(address)).toBe(true),
  );

  test.each(["203.0.113.8", "198.51.101.0", "127.0.0.1", "8000::1", "2001:db8::1%eth0x/", "", "localhost"])(
    "does not match %j",
    (address) => expect(isBlocked(address)).toBe(false),
  );

  test("may be empty and then matches no address", () => {
    expect(createBlocklist([])("203.0.113.7")).toBe(false);
  });

  test("is parsed on first use, and only once", () => {
    const added = vi.spyOn(BlockList.prototype, "addSubnet");
    onTestFinished(() => added.mockRestore());
    const many = createBlocklist(Array.from({ length: 1_000 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`));
    expect(added).not.toHaveBeenCalled();
    expect([many("203.0.113.7"), many("10.3.231.1")]).toEqual([false, true]);
    expect(added).toHaveBeenCalledTimes(1_000);
  });
});

test.each([
  "",
  "1.2.3.4/33",
  "::/129",
  "1.2.3.4/-1",
  "1.2.3.4/1/1",
  "1.2.3.4/",
  " 1.2.3.4",
  "01.2.3.4",
  "fe80::1%eth0",
  "a.b",
])("%j is neither an IP address nor a network", (text) => expect(readNetwork(text)).toBeNull());

const files = { "style.css": "body {}" };
const startBlocking = (...deniedIps: string[]) => startSite(files, { environment: { deniedIps } });

test.each(["/", "/style.css", "/nowhere", "/.env", "/wp-login.php"])(
  "a blocked visitor gets a 403 at %s",
  async (url) => {
    const { edge, upstream } = await startBlocking("127.0.0.0/8");
    const got = await ask(edge, url, { headers: { accept: "text/html" } });
    expect(got.status).toBe(403);
    expect(got.body).toContain("address_denied");
    expect(got.body).not.toContain("127.0.0.1");
    expect(upstream.asked).toEqual([]);
  },
);

test("other visitors are served", async () => {
  const { edge } = await startBlocking("203.0.113.7", "::1", "::/1");
  expect((await ask(edge, "/style.css")).status).toBe(200);
});

test("an IPv4 visitor of an edge that listens on IPv6 is matched by the IPv4 address", async () => {
  const world = await startSite(files, { environment: { deniedIps: ["127.0.0.1"] }, edge: { host: "::" } });
  expect((await ask(world.edge, "/style.css")).status).toBe(403);
  const other = await startSite(files, { environment: { deniedIps: ["::1"] }, edge: { host: "::" } });
  expect((await ask(other.edge, "/style.css")).status).toBe(200);
});

test("forwarding headers of the visitor are ignored", async () => {
  const { edge } = await startBlocking("127.0.0.1");
  const headers = { "x-forwarded-for": "203.0.113.7", "x-real-ip": "203.0.113.7", forwarded: "for=203.0.113.7" };
  expect((await ask(edge, "/style.css", { headers })).status).toBe(403);
  const open = await startBlocking("203.0.113.7");
  expect((await ask(open.edge, "/style.css", { headers })).status).toBe(200);
});

test("PHP of the installation can request its own site", async () => {
  const { edge } = await startBlocking("127.0.0.1");
  expect((await ask(edge, "/style.css", { php: edge.loopbackSocket })).status).toBe(200);
});

test("the list applies to each request on an open connection", async () => {
  const { edge, environment } = await startSite(files);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = () =>
    new Promise<{ status: number | undefined; isReused: boolean }>((resolve, reject) => {
      const to = { host: "127.0.0.1", port: edge.port, path: "/style.css", headers: { host: "site.localhost" }, agent };
      const sent = request(to, async (response) => {
        await buffer(response);
        resolve({ status: response.statusCode, isReused: sent.reusedSocket });
      });
      sent.on("error", reject).end();
    });
  const publish = (generation: number, deniedIps: readonly string[]) =>
    putTable(edge, tableOf(generation, [{ ...environment, deniedIps }], { "site.localhost": environment.id }));

  expect(await get()).toEqual({ status: 200, isReused: false });
  await publish(2, ["127.0.0.1"]);
  expect(await get()).toEqual({ status: 403, isReused: true });
  await publish(3, []);
  expect(await get()).toEqual({ status: 200, isReused: true });
  agent.destroy();
});

test("the body of a blocked visitor's request is neither accepted nor read", async () => {
  const { edge } = await startBlocking("127.0.0.1");
  const head = "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 10000\r\nExpect: 100-continue\r\n\r\n";
  const raw = await sendRaw(edge, head);
  expect(statusOf(raw)).toBe(403);
  expect(raw).toMatch(/connection: close/i);
});

test("a table with an invalid list is refused as a whole", async () => {
  const { edge, environment } = await startSite(files);
  const table = tableOf(2, [{ ...environment, deniedIps: ["127.0.0.1", "everyone"] }], {});
  expect(await putTable(edge, table)).toEqual({
    status: 400,
    body: { message: "environments.0.deniedIps.1: expected an address or a network" },
  });
  expect((await ask(edge, "/style.css")).status).toBe(200);
});
