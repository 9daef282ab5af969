/** Starts the real edge in this process, on free ports, with the fake runtime behind it. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Edge, startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import { readRules } from "@sitewright/edge/redirects/readRules.ts";
import { createFakeServing } from "@sitewright/runtimes/fake/serving.ts";
import { phpGroup } from "@sitewright/runtimes/owner.ts";
import { createPhpCredentials } from "@sitewright/runtimes/phpCredentials.ts";
import { edgeSocketName } from "@sitewright/runtimes/playground/worker/assignment.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";
import { fixedKeys } from "../keyFile.ts";
import { tableFile } from "../publishing/publishRoutes.ts";
import { redirectFolder } from "../publishing/redirectFiles.ts";
import { silentLog } from "./engine.ts";

export interface TestEdge extends AsyncDisposable {
  readonly edge: Edge;
  readonly runFolder: string;
}

/** Worlds of a test don't reach each other's edge. */
export const credentials = createPhpCredentials(fixedKeys(Buffer.alloc(32)));

const limits = {
  uploadBytes: 100_000,
  formBytes: 0,
  headSeconds: 15,
  requestSeconds: 60,
  connectionsPerNetwork: 10_000,
  bodyGraceSeconds: 10,
  unreadBytes: 1_000_000_000,
  silenceSeconds: 60,
  freezeSeconds: 20,
  holdSeconds: 30,
};

/**
 * Creates the side of a runtime that answers requests for PHP. Receives the folder of the edge's sockets, and a
 * function that returns the edge's port.
 */
export type MakeServing = (phpFolder: string, edgePort: () => number) => Serving;

export async function startTestEdge(
  dataFolder: string,
  makeServing: MakeServing = () => createFakeServing(),
): Promise<TestEdge> {
  const runFolder = await mkdtemp(join(tmpdir(), "swrun-"));
  const phpFolder = join(runFolder, "php");
  let port = 0;
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream: makeServing(phpFolder, () => port),
    host: "127.0.0.1",
    port: 0,
    adminSocket: join(runFolder, "edge.sock"),
    php: { socket: join(phpFolder, edgeSocketName), group: phpGroup(), identify: credentials.environmentOf },
    tableFile: tableFile(dataFolder),
    bodyFolder: join(dataFolder, "edge", "bodies"),
    redirects: { read: (list) => readRules(redirectFolder(dataFolder), list) },
    limits,
    logs: createEnvironmentLogs({ folder: join(dataFolder, "environment-logs") }),
    log: silentLog,
  });
  port = edge.port;
  return {
    edge,
    runFolder,
    [Symbol.asyncDispose]: async () => {
      await edge.close(0);
      await rm(runFolder, { recursive: true, force: true });
    },
  };
}

/** Requests a page of the site at `address` through the edge. Absent `path`: the front page. */
export async function visit(edgePort: number, address: string, path = "/"): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host: new URL(address).host };
    const outgoing = request({ host: "127.0.0.1", port: edgePort, path, headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** Sends a form to the site at `address` through the edge. `retryAfter` is the response header, or null. */
export async function post(
  edgePort: number,
  address: string,
  path: string,
  form: string,
): Promise<{ status: number; body: string; retryAfter: string | null }> {
  const headers = { host: new URL(address).host, "content-type": "application/x-www-form-urlencoded" };
  const outgoing = request({ host: "127.0.0.1", port: edgePort, path, method: "POST", headers, agent: false });
  const incoming = once(outgoing, "response", { signal: AbortSignal.timeout(60_000) });
  outgoing.end(form);
  const [response]: IncomingMessage[] = await incoming;
  if (response === undefined) throw new Error("There is no response");
  const { statusCode: status = 0 } = response;
  return { status, body: await text(response), retryAfter: response.headers["retry-after"] ?? null };
}
