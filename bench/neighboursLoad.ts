/** A process that makes load on a site until it is told to stop; then it says how many requests were answered. */
import { Agent, request } from "node:http";
import { standBehindAll } from "./machine.ts";
import type { Load } from "./neighbours.ts";

standBehindAll();
// Its session is its own: Ctrl-C does not reach it.
process.once("disconnect", () => process.exit());
const {
  address,
  path,
  visitors,
  uploadBytes = 0,
}: Load & { readonly address: string } = JSON.parse(process.argv[2] ?? "");
const { host, hostname, port } = new URL(address);
const agent = new Agent({ keepAlive: true, maxSockets: visitors });
const body = Buffer.alloc(uploadBytes, "x");
let number = 0;
let answered = 0;

function ask(): Promise<void> {
  number += 1;
  return new Promise((resolve) => {
    const asked = request(
      {
        // Names below localhost are this machine, whether or not its resolver knows.
        host: hostname.endsWith("localhost") ? "127.0.0.1" : hostname,
        port,
        path: path.replace("{n}", String(number)),
        method: uploadBytes > 0 ? "POST" : "GET",
        headers: { host, ...(uploadBytes > 0 ? { "content-length": uploadBytes } : {}) },
        agent,
      },
      (response) => {
        if (response.statusCode === 200) answered += 1;
        response.resume().once("close", resolve);
      },
    );
    asked.once("error", () => setTimeout(resolve, 100));
    asked.end(body);
  });
}

async function visit(): Promise<never> {
  for (;;) await ask();
}

process.on("message", () => process.send?.(answered));
await Promise.race(Array.from({ length: visitors }, visit));
