/**
 * `cacheServer.ts edge|bare <file with the content> <path> <flat head as JSON>`: serves one page or file with our edge,
 * or with a bare Node server that sends the same head and bytes. Sends its port over IPC when it is ready.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import { createFakeUpstream, textAnswer } from "@sitewright/edge/testing/fakeUpstream.ts";
import { putTable } from "@sitewright/edge/testing/http.ts";
import { limits, makeEnvironment, tableOf } from "@sitewright/edge/testing/withEdge.ts";

const [kind = "", file = "", path = "/", head = "[]"] = process.argv.slice(2);
const page = readFileSync(file);

async function startOurs(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "bench-cache-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const adminSocket = join(folder, "edge.sock");
  const root = join(folder, "site");
  mkdirSync(root);
  const name = path.split("?", 1)[0] ?? "/";
  if (name !== "/") writeFileSync(join(root, name), page);
  const upstream = createFakeUpstream();
  upstream.answer = () => textAnswer(page.toString(), [["Content-Type", "text/html; charset=UTF-8"]]);
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream,
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    tableFile: join(folder, "table.json"),
    bodyFolder: join(folder, "bodies"),
    limits,
    logs: createEnvironmentLogs({ folder: join(folder, "logs") }),
    log: { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error },
  });
  const environment = makeEnvironment(root, { wordpressVersion: "7.1.1", pageCache: { epoch: 1 } });
  await putTable({ port: edge.port, adminSocket }, tableOf(1, [environment], { "site.localhost": "one" }));
  return edge.port;
}

function startBare(): Promise<number> {
  const flat: string[] = JSON.parse(head);
  const server = createServer((_, response) => {
    response.writeHead(200, flat);
    response.end(page);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
process.send?.(kind === "edge" ? await startOurs() : await startBare());
