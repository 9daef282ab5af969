/** Runs a supervisor in a separate process with its own data folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { until } from "./until.ts";

const fakeMain = join(import.meta.dirname, "fakeMain.ts");

export interface SupervisorUnderTest {
  readonly child: ChildProcess;
  readonly pid: number;
  output(): string;
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts a supervisor and stops it after the test. */
export function startSupervisor(data: string, settings: NodeJS.ProcessEnv = {}): SupervisorUnderTest {
  return stoppedAfterTest(startProgram(process.execPath, [fakeMain], data, settings));
}

/** Starts a supervisor for several tests. The caller stops it. */
export function startSharedSupervisor(data: string, settings: NodeJS.ProcessEnv): Promise<SupervisorUnderTest> {
  return whenReady(startProgram(process.execPath, [fakeMain], data, settings));
}

/** Starts a supervisor with `npm start` and the script of the real package.json. `child` is npm. */
export function startByNpm(data: string): SupervisorUnderTest {
  const root = join(import.meta.dirname, "..", "..");
  const { scripts }: { scripts: { start: string } } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const start = scripts.start
    .replace("tools/bootstrap.cjs", `"${join(root, "tools", "bootstrap.cjs")}"`)
    .replace("supervisor/main.ts", relative(root, fakeMain));
  const folder = join(data, "..", "package");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "started-by-npm", scripts: { start } }));
  return stoppedAfterTest(startProgram("npm", ["start", "--prefix", folder], data, {}));
}

function startProgram(
  command: string,
  parameters: readonly string[],
  data: string,
  settings: NodeJS.ProcessEnv,
): SupervisorUnderTest {
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
  const child = spawn(command, parameters, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { child, pid: child.pid ?? 0, output: () => output, exit };
}

function stoppedAfterTest(supervisor: SupervisorUnderTest): SupervisorUnderTest {
  onTestFinished(() => stopSupervisor(supervisor));
  return supervisor;
}

export async function stopSupervisor({ child, exit }: SupervisorUnderTest): Promise<void> {
  child.kill("SIGTERM");
  await Promise.race([exit, delay(20_000, undefined, { ref: false })]);
  child.kill("SIGKILL");
  await exit;
}

export async function startedSupervisor(data: string, settings: NodeJS.ProcessEnv = {}): Promise<SupervisorUnderTest> {
  return whenReady(startSupervisor(data, settings));
}

export async function whenReady(supervisor: SupervisorUnderTest): Promise<SupervisorUnderTest> {
  await until("it is ready", () => {
    if (supervisor.child.exitCode !== null) {
      throw new Error(`The supervisor ended: ${supervisor.output()}`);
    }
    return supervisor.output().includes("Sitewright is ready.");
  });
  return supervisor;
}

interface ChosenPorts {
  readonly controlPort: number;
  readonly edgePort: number;
  readonly dnsPort: number;
}

export const chosenPorts = (data: string): ChosenPorts =>
  JSON.parse(readFileSync(join(data, "installation.json"), "utf8"));
export const events = (data: string): string[] => readFileSync(join(data, "events"), "utf8").trim().split("\n");
export const postgresPid = (data: string): number =>
  Number.parseInt(readFileSync(join(data, "postgres", "postmaster.pid"), "utf8"), 10);

interface FakeChild {
  readonly pid: number;
  readonly database: string | null;
  /** The secret settings in its environment. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Sends a request to a fake child. Null if it does not respond. */
export function ask(port: number, path = "/"): Promise<FakeChild | null> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path, agent: false }, async (response) => {
      const chunks = await response.toArray();
      resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    });
    request.on("error", () => resolve(null));
  });
}
