/**
 * Growth: what an installation costs with 10, 100, 1,000 and 10,000 sleeping environments, each of which a visitor has requested one
 * file of. Draws a plot of each figure into `docs/growth`.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFolder, type Installation, sharedAssets, startHere } from "@sitewright/e2e/installation.ts";
import { find } from "@sitewright/e2e/processes.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { readInstallation, readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";
import { edgeStatus } from "./edgeStatus.ts";
import { addSleepers, makeTemplate, noteEvents, type Sleeper, type Template } from "./growthFleet.ts";
import { type Passes, secondsPerHour } from "./growthPasses.ts";
import { drawGrowth, type Size } from "./growthPlots.ts";
import { untilIdle } from "./machine.ts";
import { startMirror } from "./packagesUpdate.ts";
import { atMost, atMostBytes, duration, type Figure } from "./report.ts";
import { child, messageFrom } from "./serverProcess.ts";
import { median, timed } from "./statistics.ts";

const sizes = [10, 100, 1_000, 10_000];
const starts = 3;
/** The control process releases the memory of its start after ten seconds. */
const settleMilliseconds = 20_000;
/** Idle connections report what they have read at the latest after this time. */
const reportMilliseconds = 11_000;
const parallelVisits = 20;

async function memoryOf({ supervisor }: Installation, role: "control" | "edge"): Promise<number> {
  const [found] = await find(supervisor.pid ?? 0, role);
  const text = await readFile(`/proc/${found?.id}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024;
}

/** Processor time of a process and of its child processes that have ended, in milliseconds (proc(5): fields 14 to 17). */
async function workOf({ supervisor }: Installation): Promise<number> {
  const [control] = await find(supervisor.pid ?? 0, "control");
  const fields = (await readFile(`/proc/${control?.id}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, hundredths) => sum + Number(hundredths) * 10, 0);
}

async function visitOnce(port: number, { host }: Sleeper): Promise<void> {
  const status = await new Promise<number>((resolve, reject) => {
    request({ host: "127.0.0.1", port, path: "/readme.html", headers: { host }, agent: false })
      .once("error", reject)
      .once("response", (response) => response.resume().once("end", () => resolve(response.statusCode ?? 0)))
      .end();
  });
  if (status !== 200) throw new Error(`${host} answered ${status}`);
}

async function visitAll(data: string, sleepers: readonly Sleeper[]): Promise<void> {
  const port = readInstallation(data)?.edgePort ?? 0;
  const waiting = [...sleepers];
  const visitor = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await visitOnce(port, next);
  };
  await Promise.all(Array.from({ length: parallelVisits }, visitor));
}

function isPasses(message: unknown): message is Passes {
  return typeof message === "object" && message !== null && "passes" in message && "publishing" in message;
}

/** Pauses the control process while it has no transaction open, and continues it after `work`. */
async function withPausedControl<T>({ supervisor, data }: Installation, work: () => Promise<T>): Promise<T> {
  const [control] = await find(supervisor.pid ?? 0, "control");
  if (control === undefined) throw new Error("There is no control process");
  const client = new pg.Client({ connectionString: readRun(data)?.database_url });
  await client.connect();
  try {
    await until(
      async () => {
        process.kill(control.id, "SIGSTOP");
        const { rowCount } = await client.query(
          "select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()",
        );
        if (rowCount === 0) return;
        process.kill(control.id, "SIGCONT");
        throw new Error("The control process has open transactions");
      },
      { deadlineSeconds: 60, intervalMilliseconds: 100 },
    );
    return await work();
  } finally {
    process.kill(control.id, "SIGCONT");
    await client.end();
  }
}

async function measurePasses(installation: Installation, settings: Readonly<Record<string, string>>): Promise<Passes> {
  const { data, supervisor } = installation;
  const { edgePort, siteSuffix, firstUserId } = readInstallation(data) ?? {};
  const all = {
    ...settings,
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_ASSETS: sharedAssets,
    DATABASE_URL: readRun(data)?.database_url,
    SITEWRIGHT_EDGE_PORT: String(edgePort),
    SITEWRIGHT_SITE_SUFFIX: siteSuffix,
    ...(firstUserId !== undefined && { SITEWRIGHT_FIRST_USER_ID: String(firstUserId) }),
    SITEWRIGHT_BACKUP_HOURS: "24",
    // So that all reconcilers run. None of them finds work for these.
    SITEWRIGHT_ACME_URL: "https://127.0.0.1:9/directory",
    SITEWRIGHT_ACME_EMAIL: "owner@example.com",
    SITEWRIGHT_SMTP_URL: "smtp://127.0.0.1:9",
  };
  return withPausedControl(installation, async () => {
    await delay(reportMilliseconds);
    const message = await messageFrom(child("growthPasses.ts", [String(supervisor.pid), JSON.stringify(all)]));
    if (!isPasses(message)) throw new Error("The reconcilers were not measured");
    return message;
  });
}

interface Growing {
  readonly folder: string;
  readonly run: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts several times, leaves the installation running and measures the last start. */
async function measureSize({ folder, run, settings }: Growing, sleepers: readonly Sleeper[]): Promise<Size> {
  const durations: number[] = [];
  let installation: Installation | null = null;
  for (let count = 0; count < starts; count += 1) {
    await installation?.stop();
    await untilIdle();
    const { value, milliseconds } = await timed(() => startHere(folder, settings));
    installation = value;
    durations.push(milliseconds);
  }
  if (installation === null) throw new Error("It was not started");
  try {
    await delay(settleMilliseconds);
    await untilIdle();
    const startWork = await workOf(installation);
    await visitAll(installation.data, sleepers);
    await untilNoWorkers(join(run, "edge.sock"));
    await delay(settleMilliseconds);
    const [control, edge] = [await memoryOf(installation, "control"), await memoryOf(installation, "edge")];
    const passes = await measurePasses(installation, settings);
    return { environments: sleepers.length + 1, start: median(durations), startWork, control, edge, ...passes };
  } finally {
    await installation.stop();
  }
}

async function untilNoWorkers(adminSocket: string): Promise<void> {
  await until(
    async () => {
      const { workers } = await edgeStatus(adminSocket);
      if (workers.length > 0) throw new Error(`${workers.length} workers still run`);
    },
    { deadlineSeconds: 240, intervalMilliseconds: 500 },
  );
  await untilIdle();
}

/** Creates a site, whose files the others are made from, and returns when it sleeps. */
async function makeFirst({ folder, run, settings }: Growing): Promise<Template> {
  const installation = await startHere(folder, settings);
  try {
    const site = await createSite(installation, { display_name: "First" });
    const response = await installation.visit(`${site.address}/`);
    if (response.status !== 200) throw new Error(`The first site answered ${response.status}`);
    await untilNoWorkers(join(run, "edge.sock"));
    return await makeTemplate(installation.data, site.environmentId, join(folder, "template"));
  } finally {
    await installation.stop();
  }
}

/** Adds environments. Meanwhile control does not look for scheduled tasks, which it would read from each database. */
async function grow(
  { folder, settings }: Growing,
  template: Template,
  sleepers: Sleeper[],
  size: number,
): Promise<void> {
  const installation = await startHere(folder, { ...settings, SITEWRIGHT_CRON_RUNS: "0" });
  const { data } = installation;
  try {
    sleepers.push(...(await addSleepers(data, template, size - 1 - sleepers.length)));
  } finally {
    await installation.stop();
  }
  await noteEvents(data, sleepers);
}

/** Measures a separate installation at each size, and draws the plots. */
export async function measureGrowth(log: (line: string) => void): Promise<Figure[]> {
  await using mirror = await startMirror();
  const home = await createFolder();
  const run = await mkdtemp(join(tmpdir(), "sw-run-"));
  const settings = {
    SITEWRIGHT_RUN: run,
    SITEWRIGHT_IDLE_SECONDS: "10",
    // Backups are planned and measured separately. With 10,000 environments, seven would start each minute.
    SITEWRIGHT_BACKUP_HOURS: "0",
    SITEWRIGHT_WPORG_URL: mirror.url,
  };
  const growing = { folder: home.folder, run, settings };
  const measured: Size[] = [];
  const sleepers: Sleeper[] = [];
  try {
    const template = await makeFirst(growing);
    for (const size of sizes) {
      log(`  ${size} environments …`);
      await grow(growing, template, sleepers, size);
      measured.push(await measureSize(growing, sleepers));
    }
  } finally {
    await home.remove();
    await rm(run, { recursive: true, force: true });
  }
  await drawGrowth(measured);
  return measured.flatMap((size) => figuresOf(size, measured[0] ?? size));
}

/** The reconcilers with the most work, with the rows that one pass reads. */
function mostCostly(passes: Passes["passes"]): string {
  const order = passes.toSorted((one, other) => secondsPerHour(other) - secondsPerHour(one));
  const shown = order.slice(0, 5);
  return shown
    .map((cost) => `${cost.name} ${secondsPerHour(cost).toFixed(1)} s (${cost.rows.toFixed(0)} rows)`)
    .join(", ");
}

function figuresOf(size: Size, smallest: Size): Figure[] {
  const { environments, start, startWork, control, edge, publishing, planning, choosing, passes } = size;
  const none = Number.POSITIVE_INFINITY;
  const isTarget = environments === 1_000;
  const sum = passes.reduce((total, cost) => total + secondsPerHour(cost), 0);
  const name = (what: string) => `${environments} sleeping environments: ${what}`;
  return [
    atMost(name(`npm start, median of ${starts}`), start, isTarget ? smallest.start + 2_000 : none),
    atMost(name("processor time of control until it is idle"), startWork, none),
    atMostBytes(name("memory of control and edge"), control + edge, isTarget ? 700e6 : none, ""),
    atMost(name("publishing the routing table"), publishing.milliseconds, none),
    {
      name: name("processor time of all reconcilers per hour"),
      measured: `${sum.toFixed(1)} s`,
      target: "–",
      isMet: true,
      reference: mostCostly(passes),
    },
    atMost(name("planning all backups"), planning, none, `choosing one of all: ${duration(choosing)}`),
  ];
}
