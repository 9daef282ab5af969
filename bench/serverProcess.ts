/** Servers that are compared, each a process of its own, by what they do in a second of processor time. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@sitewright/server/testing/pebble.ts";

export interface ServerProcess {
  readonly port: number;
  /** Of the process that answers. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** One of our own programs in this folder, which says one number when it is ready or done. */
export function child(program: string, parameters: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, program), ...parameters], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** What it says first. Rejects if it ends before. */
export async function messageFrom(process: ChildProcess): Promise<unknown> {
  const [said] = await Promise.race([once(process, "message"), once(process, "exit").then(() => [null])]);
  if (said === null) throw new Error("It ended and said nothing");
  return said;
}

export async function startNode(program: string, parameters: readonly string[]): Promise<ServerProcess> {
  const process = child(program, parameters);
  const port = Number(await messageFrom(process));
  return { port, pid: process.pid ?? 0, stop: () => end(process) };
}

/**
 * Null if the machine has none. One worker, as the others are one process. `server` is the inside of nginx's `server`
 * after its port; `files` lie in the folder that it starts in.
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
  const over = once(process, "exit");
  process.kill("SIGTERM");
  await over;
}

/** Processor time that the process has had, in seconds (proc(5): the 14th and 15th field, in hundredths). */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
