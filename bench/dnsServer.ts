/**
 * `dnsServer.ts <folder>`: runs our DNS server. Sends its port over IPC, and its memory for each message it receives.
 */
import { join } from "node:path";
import { startDns } from "@sitewright/dns/dns.ts";

const folder = process.argv[2] ?? "";
const silent = () => undefined;
process.once("disconnect", () => process.exit());
const dns = await startDns({
  host: "127.0.0.1",
  port: 0,
  adminSocket: join(folder, "run/dns.sock"),
  tableFile: join(folder, "table.jsonl"),
  openSecret: (_name, sealed) => sealed,
  answersPerSecond: 0,
  tcp: { connections: 100, connectionsOfOne: 100, idleSeconds: 10 },
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
process.on("message", () => process.send?.({ rss: process.memoryUsage.rss() }));
process.send?.({ port: dns.port });
