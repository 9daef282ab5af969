/**
 * A network namespace with other machines: one program that has all their addresses. It greets with the address and port, and answers
 * DNS questions (`nameServer.ts`).
 */
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { answer } from "./nameServer.ts";

const addresses = [
  "93.184.216.34/24",
  "10.9.9.9/24",
  "10.53.53.53/24",
  "100.64.9.9/24",
  "169.254.169.254/16",
  "2606:2800::34/64",
  "fd00:9::9/64",
];
const ports = [25, 53, 80, 443, 465, 587, 2525, 5432, 9000];

const ip = (...parameters: string[]) => execFileSync("ip", parameters);

async function start(): Promise<void> {
  ip("link", "set", "lo", "up");
  ip("link", "set", "inside", "up");
  for (const address of addresses)
    ip("addr", "add", address, "dev", "inside", ...(address.includes(":") ? ["nodad"] : []));
  for (const port of ports) {
    const server = createServer((socket) => {
      socket.on("error", () => undefined).end(`reached ${port}\n`);
    });
    await new Promise<void>((resolve) => server.listen(port, "::", resolve));
  }
  const udp = createSocket("udp6");
  udp.on("message", (message, { address, port }) => udp.send(answer(message) ?? "reached udp\n", port, address));
  await new Promise<void>((resolve) => udp.bind(53, "::", resolve));
}

/** Connects to a port of the machine. Resolves with what it sends, `nothing` or `refused`. */
function visit(port: number): Promise<string> {
  const socket = connect({ host: "93.184.216.1", port, timeout: 2_000 });
  return new Promise((resolve) => {
    socket.once("data", (data) => resolve(String(data).trim()));
    socket.once("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED" ? "refused" : "nothing"));
    for (const event of ["timeout", "close"]) socket.once(event, () => resolve("nothing"));
  });
}

process.on("disconnect", () => process.exit());
process.on("message", async (message) => {
  if (message === "start") await start();
  process.send?.(message === "start" ? "ready" : await visit(Number(message)));
});
