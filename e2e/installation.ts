/**
 * Runs Sitewright as users do, with `npm start`, in a clone or in this repository. Tests know only its output and its responses.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { announceSockets, type InheritedSocket } from "@sitewright/server/inheritedSockets.ts";
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

/** A temporary folder of one test file. */
export interface TestFolder {
  readonly folder: string;
  remove(): Promise<void>;
}

const repository = join(import.meta.dirname, "..");

/** WordPress and compiled PHP, as the tests of the runtime left them. */
export const sharedAssets = join(repository, ".cache", "assets");

const hereSettings = { SITEWRIGHT_ASSETS: sharedAssets, SITEWRIGHT_PREPARED_WORKERS: "0" };

export async function createFolder(): Promise<TestFolder> {
  const folder = await mkdtemp(join(process.env.SITEWRIGHT_TEST_DISK ?? tmpdir(), "sitewright-e2e-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Clones the committed state of this repository into a new folder, without its dependencies. */
export async function cloneRepository(): Promise<TestFolder> {
  const { folder, remove } = await createFolder();
  const clone = join(folder, "clone");
  await run("git", ["clone", "--quiet", repository, clone]);
  return { folder: clone, remove };
}

/**
 * Runs `npm start` of this repository with its data in `folder/data` and the shared assets. There are no prepared workers,
 * because most would never get a site.
 */
export function startHere(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Installation> {
  return start(repository, { SITEWRIGHT_DATA: join(folder, "data"), ...hereSettings, ...settings });
}

/** Runs `npm start` in a clone and waits until the API responds. */
export function start(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Installation> {
  return startWith(spawn("npm", ["start"], optionsOf(folder, settings)), folder, settings);
}

/** Runs the supervisor of this repository as systemd does, with sockets that stay open when it ends, whatever its end. */
export function startAsService(
  folder: string,
  settings: Readonly<Record<string, string>>,
  sockets: readonly InheritedSocket[],
): Promise<Installation> {
  const all = { SITEWRIGHT_DATA: join(folder, "data"), ...hereSettings, ...settings };
  const options = optionsOf(repository, { ...all, ...announceSockets(sockets) });
  const script = `export LISTEN_PID=$$; exec "$@"`;
  const supervisor = spawn("sh", ["-c", script, "sh", process.execPath, "supervisor/main.ts"], {
    ...options,
    stdio: [...options.stdio, ...sockets.map(({ descriptor }) => descriptor)],
  });
  return startWith(supervisor, repository, all);
}

function optionsOf(folder: string, settings: Readonly<NodeJS.ProcessEnv>) {
  return {
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
    stdio: ["ignore" as const, "pipe" as const, "pipe" as const],
  };
}

async function startWith(
  supervisor: ChildProcess,
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Installation> {
  const data = settings.SITEWRIGHT_DATA ?? join(folder, "data");
  let printed = "";
  const log = createWriteStream(join(data, "..", "npm-start.log"), { flags: "a" });
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
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
