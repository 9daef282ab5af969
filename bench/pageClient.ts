/**
 * `pageClient.ts <port> <Host header> <visitors> <milliseconds>`: each visitor requests front pages of a site over a connection of
 * their own, one after the other and all different, which no cache has. Sends the waits in milliseconds and the duration of all over
 * IPC. Ends with an error unless each request gets a whole page.
 */
import { Agent } from "node:http";
import { send } from "@sitewright/e2e/http.ts";
import { timed } from "./statistics.ts";

const [port = "", host = "", visitors = "1", milliseconds = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(visitors) });
const waits: number[] = [];
const startedAt = performance.now();
let number = 0;

async function loadPage(): Promise<void> {
  number += 1;
  const address = `http://127.0.0.1:${port}/?visit=${startedAt}-${number}`;
  const { status, text } = await send("GET", address, { headers: { host }, agent });
  if (status !== 200 || !text.trimEnd().endsWith("</html>")) throw new Error(`${host} answered ${status}: ${text}`);
}

async function visit(): Promise<void> {
  while (performance.now() - startedAt < Number(milliseconds)) waits.push((await timed(loadPage)).milliseconds);
}

await Promise.all(Array.from({ length: Number(visitors) }, visit));
agent.destroy();
process.send?.({ waits, seconds: (performance.now() - startedAt) / 1000 }, () => process.disconnect());
