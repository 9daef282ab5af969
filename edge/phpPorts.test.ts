import { execFile } from "node:child_process";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { EdgeHost } from "./tables/table.ts";
import { eventually } from "./testing/eventually.ts";
import { site, startSecureSite } from "./testing/secureSite.ts";

/** As a runtime would: PHP of these environments connects to these addresses, and nothing else does. */
const callers = new Map([
  ["127.64.0.1", { id: "one", number: 1 }],
  ["127.64.0.2", { id: "two", number: 2 }],
]);

async function start() {
  const hosts: (readonly EdgeHost[])[] = [];
  const phpPorts = {
    callerAt: (address: string) => callers.get(address) ?? null,
    onHosts: (all: readonly EdgeHost[]) => void hosts.push(all),
  };
  const world = await startSecureSite({ "a.txt": "file" }, [], { phpPorts });
  await world.tell(2, { certificates: [site] });
  const [plain, secure] = world.edge.phpPorts;
  if (plain === undefined || secure === undefined) throw new Error("The edge has no ports for PHP.");
  return { ...world, hosts, plain, secure };
}

type World = Awaited<ReturnType<typeof start>>;

/** Requests a path of the site at an address of this machine. Returns what the edge sends, or the empty string. */
function request({ plain, secure }: World, address: string, scheme: string, path = "/"): Promise<string> {
  const port = scheme === "http" ? plain.phpPort : secure.phpPort;
  const version = scheme === "h2" ? "--http2" : "--http1.1";
  const url = `${scheme === "http" ? "http" : "https"}://site.localhost:${port}${path}`;
  const parameters = ["-sk", version, "--max-time", "20", "--resolve", `site.localhost:${port}:${address}`, url];
  return new Promise((resolve) => execFile("curl", parameters, (_error, out) => resolve(out)));
}

test.each(["http", "https", "h2"])("PHP is known by the address that it connects to, over %s", async (scheme) => {
  const world = await start();
  expect(await request(world, "127.64.0.1", scheme)).toBe("GET /index.php");
  expect(await request(world, "127.64.0.2", scheme)).toBe("GET /index.php");
  const senders = world.upstream.asked.map(({ request: { fromPhp, remoteAddress, https } }) => ({
    fromPhp,
    remoteAddress,
    https,
  }));
  const https = scheme !== "http";
  expect(senders).toEqual([
    { fromPhp: true, remoteAddress: "127.0.0.1", https },
    { fromPhp: false, remoteAddress: "fd5a:17d2:0:2::1", https },
  ]);
});

test.each(["http", "https"])("a connection to another address is closed without an answer, over %s", async (scheme) => {
  const world = await start();
  expect(await request(world, "127.0.0.1", scheme, "/a.txt")).toBe("");
  expect(await request(world, "127.64.0.3", scheme, "/a.txt")).toBe("");
  expect(await request(world, "127.64.0.1", scheme, "/a.txt")).toBe("file");
});

test("the ports for visitors have one for PHP each, and names of sites are passed on with each table", async () => {
  const { edge, plain, secure, hosts } = await start();
  expect([plain.port, secure.port]).toEqual([edge.port, edge.tlsPort]);
  expect(hosts.at(-1)).toMatchObject([{ name: "site.localhost", environmentId: "one" }]);
});

test.each(["http", "https"])("PHP of an environment has at most 200 connections, over %s", async (scheme) => {
  const world = await start();
  const connectAsPhp = () => connect(world.plain.phpPort, "127.64.0.1").on("error", () => undefined);
  const open = Array.from({ length: 200 }, connectAsPhp);
  onTestFinished(() => open.forEach((socket) => void socket.destroy()));
  await eventually(async () => {
    // An earlier request may have had the place of one.
    open.push(connectAsPhp());
    expect(await request(world, "127.64.0.1", scheme, "/a.txt")).toBe("");
  });
  expect(await request(world, "127.64.0.2", scheme, "/a.txt")).toBe("file");
  for (const socket of open.slice(100)) socket.destroy();
  await eventually(async () => expect(await request(world, "127.64.0.1", scheme, "/a.txt")).toBe("file"));
});
