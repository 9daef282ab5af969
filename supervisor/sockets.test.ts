import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { findPorts } from "./ports.ts";
import { openSockets, type Sockets, unusedPorts } from "./sockets.ts";
import { findBoundSockets } from "./systemdSockets.ts";

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
    expect(given).toEqual([{ descriptor, protocol: "tcp", port }]);
    const wanted = [{ name: "https", protocol: "tcp", host, port, count: 2 }] as const;
    const sockets = await openSockets(wanted, given);
    expect(sockets.outliveUs).toBe(true);
    expect(sockets.of("https")).toEqual([
      { name: "https", descriptor },
      { name: "https", descriptor },
    ]);
    expect(unusedPorts(wanted, given)).toEqual([]);
    expect(unusedPorts([{ protocol: "udp", host, port }], given)).toEqual([port]);
  },
);
