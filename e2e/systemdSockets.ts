/** Opens sockets as systemd does: they listen, nobody accepts, and they stay open while the services that inherit them come and go. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSockets, type Sockets } from "@sitewright/supervisor/sockets.ts";

const names = ["http", "https", "api"] as const;

/** The ports are those of HTTP, HTTPS and the API. */
export async function openAsSystemd(host: string, ports: readonly number[]): Promise<Sockets> {
  const wanted = names.map((name, index) => ({ name, protocol: "tcp", host, port: ports[index] ?? 0 }) as const);
  const sockets = await openSockets(wanted, []);
  for (const { descriptor } of sockets.of(...names)) await makeListen(descriptor);
  return sockets;
}

/** A program that inherits a socket makes it listen, and ends. */
async function makeListen(descriptor: number): Promise<void> {
  const code = "require('node:net').createServer().listen({ fd: 3 }, 4096, () => process.exit())";
  const program = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", "inherit", descriptor] });
  const [exitCode] = await once(program, "exit");
  if (exitCode !== 0) throw new Error("A socket could not be opened for the test");
}
