/** Servers to compare, each in a separate process whose processor time can be measured. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@sitewright/dns/testing/freePort.ts";

export interface ServerProcess {
  readonly port: number;
  /** Of the process that serves requests. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a program of this folder, which sends one message over IPC when it is ready or done. */
export function child(program: string, parameters: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, program), ...parameters], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** The first message of the process. Rejects if it ends without one. */
export async function messageFrom(process: ChildProcess): Promise<unknown> {
  const [message] = await Promise.race([once(process, "message"), once(process, "exit").then(() => [null])]);
  if (message === null) throw new Error("The process ended without a message");
  return message;
}

export async function startNode(program: string, parameters: readonly string[]): Promise<ServerProcess> {
  const process = child(program, parameters);
  const port = Number(await messageFrom(process));
  return { port, pid: process.pid ?? 0, stop: () => end(process) };
}

/**
 * Starts nginx in a single process, like the servers it is compared with. Returns null if it is not installed. `listen`
 * and `server` are added to its `server` block; `files` are written to its folder.
 */
export async function startNginx(
  { listen, server }: { readonly listen: string; readonly server: string },
  files: Readonly<Record<string, string | Buffer>>,
): Promise<ServerProcess | null> {
  if (!hasNginx()) return null;
  const folder = mkdtempSync(join(tmpdir(), "bench-nginx-"));
  const port = await freePort();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const log = "error_log stderr crit; access_log off;";
  const http = `http { ${log} sendfile on; tcp_nopush on; server { listen 127.0.0.1:${port} ${listen}; ${server} } }`;
  const general = "daemon off; master_process off; user root; pid nginx.pid; error_log stderr crit;";
  writeFileSync(join(folder, "nginx.conf"), `${general} events { worker_connections 1024; } ${http}`);
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
  const exited = once(process, "exit");
  process.kill("SIGTERM");
  await exited;
}

/** Processor time used by the process, in seconds (proc(5): fields 14 and 15, in hundredths). */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Like `processorSeconds`, for all of these processes that still run. */
export function spentByProcesses(pids: readonly number[]): ReadonlyMap<number, number> {
  return new Map(pids.filter((id) => existsSync(`/proc/${id}`)).map((id) => [id, processorSeconds(id)]));
}

/** What the processes of `end` have spent since `start`. */
export function secondsBetween(start: ReadonlyMap<number, number>, end: ReadonlyMap<number, number>): number {
  return [...end].reduce((sum, [id, seconds]) => sum + seconds - (start.get(id) ?? 0), 0);
}
