/** A supervisor in a process of its own, with a data folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { until } from "./until.ts";

export interface SupervisorUnderTest {
  readonly child: ChildProcess;
  readonly pid: number;
  output(): string;
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts one; it is stopped after the test where the test did not end it. */
export function startSupervisor(data: string, settings: NodeJS.ProcessEnv = {}): SupervisorUnderTest {
  const env = {
    ...process.env,
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: join(data, "..", "run"),
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_EDGE_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    SITEWRIGHT_EDGE_TLS_PORT: "0",
    SITEWRIGHT_DNS_PORT: "0",
    ...settings,
  };
  const main = join(import.meta.dirname, "standInMain.ts");
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await Promise.race([exit, delay(20_000, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await exit;
  });
  return { child, pid: child.pid ?? 0, output: () => output, exit };
}

export async function startedSupervisor(data: string, settings: NodeJS.ProcessEnv = {}): Promise<SupervisorUnderTest> {
  const supervisor = startSupervisor(data, settings);
  await until("it is ready", () => {
    if (supervisor.child.exitCode !== null) {
      throw new Error(`The supervisor ended: ${supervisor.output()}`);
    }
    return supervisor.output().includes("Sitewright is ready.");
  });
  return supervisor;
}

export interface Facts {
  readonly controlPort: number;
  readonly edgePort: number;
  readonly dnsPort: number;
}

export const chosenPorts = (data: string): Facts => JSON.parse(readFileSync(join(data, "installation.json"), "utf8"));
export const events = (data: string): string[] => readFileSync(join(data, "events"), "utf8").trim().split("\n");
export const postgresPid = (data: string): number =>
  Number.parseInt(readFileSync(join(data, "postgres", "postmaster.pid"), "utf8"), 10);

/** Asks a stand-in. Null where it does not answer. */
export function ask(port: number, path = "/"): Promise<{ pid: number; database: string | null } | null> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path, agent: false }, async (response) => {
      const chunks = await response.toArray();
      resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    });
    request.on("error", () => resolve(null));
  });
}
