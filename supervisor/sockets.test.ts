import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { findPorts } from "./ports.ts";
import { openSockets, type Sockets, unusedSockets } from "./sockets.ts";
import { type BoundSocket, findBoundSockets } from "./systemdSockets.ts";

const host = "127.0.0.1";

const freePort = async () => (await findPorts(host, [{ port: 0, purpose: "a test", setting: "NONE" }]))[0] ?? 0;

async function openHttp(port: number, count: number): Promise<Sockets> {
  const sockets = await openSockets([{ name: "http", protocol: "tcp", host, port, count }], []);
  onTestFinished(() => sockets.close());
  return sockets;
}

/** A program that inherits sockets, runs code, and says when it listens on all of them. */
async function inherit({ sockets, code }: { readonly sockets: Sockets; readonly code: string }) {
  const descriptors = sockets.of("http").map(({ descriptor }) => descriptor);
  const last = 4 + descriptors.length - 1;
  const serve = `const net = require("node:net");
    const listen = (fd) => net.createServer((socket) => { ${code} })
      .listen({ fd }, () => fd === ${last} ? process.send("ready") : listen(fd + 1));
    listen(4);`;
  const program = spawn(process.execPath, ["-e", serve], {
    stdio: ["ignore", "inherit", "inherit", "ipc", ...descriptors],
  });
  onTestFinished(() => void program.kill("SIGKILL"));
  await once(program, "message");
  return program;
}

test.each([1, 4])("connections wait for the next program that inherits %i sockets", async (count) => {
  const port = await freePort();
  const sockets = await openHttp(port, count);
  const first = await inherit({ sockets, code: "" });
  first.kill("SIGKILL");
  await once(first, "exit");
  const waiting = Array.from({ length: 20 }, () => connect(port, host));
  await Promise.all(waiting.map((socket) => once(socket, "connect")));
  await inherit({ sockets, code: 'socket.end("served by the second")' });
  expect(new Set(await Promise.all(waiting.map((socket) => text(socket))))).toEqual(new Set(["served by the second"]));
});

test("connections are refused when the sockets are closed and nobody has them", async () => {
  const port = await freePort();
  const sockets = await openHttp(port, 2);
  const program = await inherit({ sockets, code: "" });
  program.kill("SIGKILL");
  await once(program, "exit");
  sockets.close();
  const [error] = await once(connect(port, host), "error");
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a port in use is an error", async () => {
  const port = await freePort();
  const sockets = await openHttp(port, 1);
  await inherit({ sockets, code: "" });
  await expect(openHttp(port, 1)).rejects.toThrow(`Port ${port} of ${host} could not be opened (EADDRINUSE).`);
});

test.skipIf(process.platform !== "linux")(
  "sockets of systemd are known by their ports, and used for them",
  async () => {
    const port = await freePort();
    const own = await openHttp(port, 1);
    await inherit({ sockets: own, code: "" });
    const given = findBoundSockets(own.of("http"));
    const [{ descriptor } = { descriptor: 0 }] = own.of("http");
    expect(given).toEqual([{ descriptor, protocol: "tcp", address: host, port }]);
    const wanted = [{ name: "https", protocol: "tcp", host, port, count: 2 }] as const;
    const sockets = await openSockets(wanted, given);
    expect(sockets.of("https")).toEqual([
      { name: "https", descriptor },
      { name: "https", descriptor },
    ]);
    expect(unusedSockets(wanted, given)).toEqual([]);
    expect(unusedSockets([{ protocol: "udp", host, port }], given)).toEqual(given);
  },
);

const tcp = (descriptor: number, address: string, port: number): BoundSocket => ({
  descriptor,
  protocol: "tcp",
  address,
  port,
});

const http = { name: "http", protocol: "tcp", host: "0.0.0.0", port: 80, count: 1 } as const;
const https = { ...http, name: "https", port: 443 } as const;

test("visitors' sockets on several addresses are all used; of others, the second is reported", async () => {
  const given = [tcp(3, "0.0.0.0", 80), tcp(4, "::", 80)];
  expect((await openSockets([http], given)).of("http").map(({ descriptor }) => descriptor)).toEqual([3, 4]);
  expect(unusedSockets([http], given)).toEqual([]);
  expect(unusedSockets([{ protocol: "tcp", host: "0.0.0.0", port: 80 }], given)).toEqual([given[1]]);
});

test("a socket that would publish the API is refused", async () => {
  const api = { name: "api", protocol: "tcp", host, port: 8080 } as const;
  await expect(openSockets([api], [tcp(3, "::", 8080)])).rejects.toThrow(
    "systemd has opened port 8080 of ::, but SITEWRIGHT_API_HOST is 127.0.0.1.",
  );
  expect((await openSockets([api], [tcp(3, host, 8080)])).of("api")).toEqual([{ name: "api", descriptor: 3 }]);
});

test("visitors wait after the end of this process only if both of their ports are systemd's", async () => {
  const [first, second] = [tcp(3, "0.0.0.0", 80), tcp(4, "0.0.0.0", 443)];
  expect((await openSockets([http, https], [first, second])).outliveUs).toBe(true);
  const sockets = await openSockets([http, { ...https, port: await freePort() }], [first]);
  onTestFinished(() => sockets.close());
  expect(sockets.outliveUs).toBe(false);
});
