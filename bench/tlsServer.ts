/**
 * `tlsServer.ts edge|bare <key> <chain>`: a TLS server for `tls.ts`, our edge or a bare Node server. Sends its port
 * over IPC.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import { createFakeUpstream } from "@sitewright/edge/testing/fakeUpstream.ts";
import { putTable } from "@sitewright/edge/testing/http.ts";
import { limits, makeEnvironment, tableOf } from "@sitewright/edge/testing/withEdge.ts";

const [kind = "", key = "", chain = ""] = process.argv.slice(2);
const name = "site.localhost";

async function startOurs(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "bench-tls-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const adminSocket = join(folder, "edge.sock");
  const log = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream: createFakeUpstream(),
    host: "127.0.0.1",
    port: 0,
    tls: { port: 0, readCertificate: async () => ({ key, chain }) },
    adminSocket,
    tableFile: join(folder, "table.json"),
    bodyFolder: join(folder, "bodies"),
    limits,
    logs: createEnvironmentLogs({ folder: join(folder, "logs") }),
    log,
  });
  const table = tableOf(1, [makeEnvironment(folder)], { [name]: "one" });
  const certificates = [{ id: "site", names: [name], notAfter: Date.now() + 86_400_000 }];
  await putTable({ port: edge.port, adminSocket }, { ...table, certificates });
  return edge.tlsPort ?? 0;
}

function startBare(): Promise<number> {
  const server = createServer({ key, cert: chain, ALPNProtocols: ["http/1.1"] }, (socket) => {
    socket.on("error", () => undefined).resume();
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
