/**
 * Runs Sitewright as users do: a clone of the repository and `npm start`. Tests know only its output and its responses.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Answer, send } from "./http.ts";
import { until } from "./until.ts";

export interface FirstRun {
  readonly api_url: string;
  readonly console_url: string;
  readonly sites_url: string;
  readonly company_id: string;
  readonly api_key: string;
  readonly admin_email: string;
  readonly admin_password: string;
}

export interface Installation {
  readonly data: string;
  readonly firstRun: FirstRun;
  readonly supervisor: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Calls the API with `key`, by default the first API key. `path` is below `/v2`. */
  api(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  /** Requests a page of a site as a visitor: connects to this machine with the site's name in the Host header. */
  visit(url: string): Promise<Answer>;
  /** Stops the installation as Ctrl-C does, and waits until it has ended. */
  stop(): Promise<void>;
}

const run = promisify(execFile);
const startLimits = { deadlineSeconds: 240, intervalMilliseconds: 50 };

/** Settings with WordPress already downloaded and compiled, as the tests of the runtime left it. */
export const prepared = { SITEWRIGHT_ASSETS: join(import.meta.dirname, "..", ".cache", "assets") };

/** Clones the committed state of this repository into a new folder, without its dependencies. */
export async function cloneRepository(): Promise<{ folder: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(process.env.SITEWRIGHT_TEST_DISK ?? tmpdir(), "sitewright-e2e-"));
  const folder = join(parent, "clone");
  await run("git", ["clone", "--quiet", process.cwd(), folder]);
  return { folder, remove: () => rm(parent, { recursive: true, force: true }) };
}

/**
 * Clones the repository with its installed packages, so that `npm start` does not spend half a minute installing them.
 */
export async function cloneInstalled(): ReturnType<typeof cloneRepository> {
  const clone = await cloneRepository();
  const [from, to] = [join(process.cwd(), "node_modules"), join(clone.folder, "node_modules")];
  await run("cp", ["-al", from, to]).catch(async () => {
    // Hard links are not possible between two file systems.
    await rm(to, { recursive: true, force: true });
    await run("cp", ["-a", from, to]);
  });
  return clone;
}

/** Runs `npm start` in a clone and waits until the API responds. */
export async function start(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const data = settings.SITEWRIGHT_DATA ?? join(folder, "data");
  const supervisor = spawn("npm", ["start"], {
    cwd: folder,
    detached: true,
    env: {
      ...process.env,
      SITEWRIGHT_CONTROL_PORT: "0",
      SITEWRIGHT_EDGE_PORT: "0",
      SITEWRIGHT_WPORG_URL: "none",
      SITEWRIGHT_EDGE_TLS_PORT: "0",
      SITEWRIGHT_DNS_PORT: "0",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const log = createWriteStream(join(folder, "..", "npm-start.log"), { flags: "a" });
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      log.write(text);
    });
  }
  const ended = new Promise<never>((_, reject) => {
    supervisor.once("exit", (code) => reject(new Error(`npm start ended with ${code}:\n${printed}`)));
  });
  ended.catch(() => undefined);
  const ready = until(async () => {
    const facts: FirstRun = JSON.parse(await readFile(join(data, "first-run.json"), "utf8"));
    const response = await send("GET", `${facts.api_url}/validate`, { key: facts.api_key });
    if (response.status !== 200) throw new Error(`GET /validate returned ${response.status}`);
    if (!/Sitewright is ready/i.test(printed)) throw new Error("not ready yet");
    return facts;
  }, startLimits);
  const firstRun = await Promise.race([ready, ended]);

  return {
    data,
    firstRun,
    supervisor,
    output: () => printed,
    api: (method, path, body, key = firstRun.api_key) =>
      send(method, `${firstRun.api_url}${path}`, { key, json: body }),
    visit: (url) => send("GET", url),
    stop: () => interrupt(supervisor),
  };
}

/** Sends what Ctrl-C in a terminal sends: SIGINT to the whole foreground process group, including npm. */
async function interrupt(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null || supervisor.pid === undefined) return;
  const group = supervisor.pid;
  const ended = new Promise<void>((resolve) => supervisor.once("exit", () => resolve()));
  process.kill(-group, "SIGINT");
  await ended;
  // npm may end before its child processes.
  await until(
    async () => {
      if (isGroupAlive(group)) throw new Error("Processes of npm start are still running");
    },
    { deadlineSeconds: 30, intervalMilliseconds: 20 },
  );
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
