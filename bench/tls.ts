/**
 * TLS handshakes of our edge beside a bare server of Node and beside nginx, all with the same certificate, in turn. The
 * visitors take as much of the machine as the server, so what is compared is how many handshakes a server makes in a second
 * of processor time.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import { freePort } from "@sitewright/server/testing/pebble.ts";
import type { Figure } from "./report.ts";
import { median } from "./statistics.ts";

const rounds = 5;
const roundMilliseconds = 2_000;
const leastShare = 0.8;

interface TlsServer {
  readonly port: number;
  /** Of the process that shakes hands. */
  readonly pid: number;
  stop(): Promise<void>;
}

function child(program: string, parameters: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, program), ...parameters], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

async function numberFrom(process: ChildProcess): Promise<number> {
  const [said] = await Promise.race([once(process, "message"), once(process, "exit").then(() => [null])]);
  if (typeof said !== "number") throw new Error("It ended and said nothing");
  return said;
}

async function startNode(kind: "edge" | "bare", { key, cert }: Pem): Promise<TlsServer> {
  const process = child("tlsServer.ts", [kind, key, cert]);
  const port = await numberFrom(process);
  return { port, pid: process.pid ?? 0, stop: () => end(process) };
}

interface Pem {
  readonly key: string;
  readonly cert: string;
}

/** Null where the machine has none. One worker, as the others are one process. */
async function startNginx({ key, cert }: Pem): Promise<TlsServer | null> {
  if (!hasNginx()) return null;
  const folder = mkdtempSync(join(tmpdir(), "bench-nginx-"));
  const port = await freePort();
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
  file("key.pem", key);
  file("cert.pem", cert);
  const site = `server { listen 127.0.0.1:${port} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; return 204; }`;
  const log = "error_log stderr crit; access_log off;";
  file(
    "nginx.conf",
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
    events { worker_connections 1024; } http { ${log} ${site} }`,
  );
  const process = spawn("nginx", ["-p", folder, "-c", "nginx.conf"], { stdio: ["ignore", "ignore", "inherit"] });
  const stop = async () => {
    await end(process);
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, pid: process.pid ?? 0, stop };
}

function hasNginx(): boolean {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function end(process: ChildProcess): Promise<void> {
  const over = once(process, "exit");
  process.kill("SIGTERM");
  await over;
}

/** Processor time that the process has had, in seconds (proc(5): the 14th and 15th field, in hundredths). */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Handshakes for each second of the server's processor time. */
async function shakeHands({ port, pid }: TlsServer, kind: "full" | "resumed"): Promise<number> {
  const before = processorSeconds(pid);
  const visitors = child("tlsClient.ts", [String(port), String(roundMilliseconds), kind]);
  const handshakes = await numberFrom(visitors);
  return handshakes / (processorSeconds(pid) - before);
}

async function compare(servers: readonly TlsServer[], kind: "full" | "resumed"): Promise<readonly number[]> {
  const rates = servers.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const rate = await shakeHands(server, kind);
      // The first round is for warming up.
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map(median);
}

export async function measureTls(): Promise<Figure[]> {
  const pem = await makeCertificate({ names: ["site.localhost"] });
  const nginx = await startNginx(pem);
  const servers = [await startNode("edge", pem), await startNode("bare", pem), ...(nginx === null ? [] : [nginx])];
  try {
    const figures: Figure[] = [];
    for (const kind of ["full", "resumed"] as const) {
      const [ours = 0, bare = 0, others] = await compare(servers, kind);
      const beside = others === undefined ? "" : `; nginx: ${others.toFixed(0)}`;
      figures.push({
        name: `TLS handshakes a second of processor time, ${kind}, median of ${rounds}`,
        measured: `${ours.toFixed(0)} (${((100 * ours) / bare).toFixed(0)} %)`,
        target: `≥ ${100 * leastShare} %`,
        isMet: ours >= leastShare * bare,
        reference: `bare Node: ${bare.toFixed(0)}${beside}`,
      });
    }
    return figures;
  } finally {
    for (const server of servers) await server.stop();
  }
}
