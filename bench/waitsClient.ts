/**
 * `waitsClient.ts <port> <clients> <path> <headers as JSON>`: that many clients request one path at once, each from its own
 * connection, and keep the connection. They come from several random addresses, since each has a limit. Sends the number of open
 * requests over IPC as soon as all are sent, then the statuses of the responses and the time of the last one, in milliseconds of
 * the monotonic clock, which all processes share.
 */
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const [port = "", clients = "", path = "/", headers = "{}"] = process.argv.slice(2);
const clientsPerAddress = 500;
/** They connect one after another: the server's queue of new connections is short. */
const atOnce = 50;
const network = `127.${randomInt(1, 256)}.${randomInt(256)}`;

const fields = Object.entries<string>(JSON.parse(headers)).map(([name, value]) => `${name}: ${value}\r\n`);
const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${fields.join("")}\r\n`;
const statuses: Record<string, number> = {};
let last = 0n;
let left = Number(clients);

function answered(status: string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
  last = process.hrtime.bigint();
  left -= 1;
  if (left === 0) process.send?.({ statuses, last: Number(last) / 1e6 });
}

function open(index: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const localAddress = `${network}.${2 + Math.floor(index / clientsPerAddress)}`;
  const socket = connect({ host: "127.0.0.1", port: Number(port), localAddress });
  socket.once("connect", () => socket.write(request, () => resolve())).once("error", reject);
  socket.once("data", (head: Buffer) => answered(head.toString("latin1", 9, 12)));
  return promise;
}

for (let index = 0; index < left; index += atOnce) {
  await Promise.all(Array.from({ length: Math.min(atOnce, left - index) }, (_, offset) => open(index + offset)));
  await delay(1);
}
process.send?.({ open: left });
