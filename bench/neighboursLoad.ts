/** Sends requests to a site until it gets a message over IPC, then replies with the number of successful requests. */
import { Agent, request } from "node:http";
import { useLowestPriority } from "@sitewright/e2e/priority.ts";
import type { Load } from "./neighbours.ts";

useLowestPriority();
// Ctrl-C does not reach this process, because it has its own session.
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

function sendRequest(): Promise<void> {
  number += 1;
  return new Promise((resolve) => {
    const sent = request(
      {
        // Not every resolver knows subdomains of localhost.
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
    sent.once("error", () => setTimeout(resolve, 100));
    sent.end(body);
  });
}

async function visit(): Promise<never> {
  for (;;) await sendRequest();
}

process.on("message", () => process.send?.(answered));
await Promise.race(Array.from({ length: visitors }, visit));
