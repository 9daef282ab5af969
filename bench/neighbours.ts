/**
 * The effect of a busy environment on a quiet one: a visitor requests the quiet site's front page at a modest pace,
 * alone and next to each kind of load, in alternating rounds, and the p99 latencies are compared.
 *
 * The process that generates the load has the lowest priority, because real visitors have their own processors.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite } from "@sitewright/e2e/sites.ts";
import { duration, type Figure } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const loader = fileURLToPath(new URL("./neighboursLoad.ts", import.meta.url));
const rounds = 2;
const pagesPerRound = 100;
/** Between two requests to the quiet site. */
const pauseMilliseconds = 200;
/** Until the load has started and the priorities have adapted to it. */
const settleMilliseconds = 6_000;
const maxRatio = 2;

export interface Load {
  readonly name: string;
  /** Path on the busy site. `{n}` is replaced by a different number for each request. */
  readonly path: string;
  readonly visitors: number;
  /** Size of each request's body. */
  readonly uploadBytes?: number;
}

/** Needs no files. */
export const manyPages: Load = {
  name: "8 visitors without a pause, all pages different",
  path: "/?visit={n}",
  visitors: 8,
};

const loads: readonly Load[] = [
  manyPages,
  { name: "a CPU-bound plugin, 8 visitors", path: "/burn.php?visit={n}", visitors: 8 },
  { name: "static files, 100 connections", path: "/load.css", visitors: 100 },
  { name: "writes of 1 MB, 8 visitors", path: "/write.php?visit={n}", visitors: 8, uploadBytes: 1_000_000 },
];

interface Waits {
  readonly p50: number;
  readonly p99: number;
}

async function readPages(installation: Installation, site: CreatedSite): Promise<Waits> {
  const waits: number[] = [];
  for (let page = 0; page < pagesPerRound; page += 1) {
    const { milliseconds, value } = await timed(() => installation.visit(`${site.address}/?uncached=${page}`));
    if (value.status !== 200) throw new Error(`${site.address} answered ${value.status}`);
    waits.push(milliseconds);
    await delay(pauseMilliseconds);
  }
  return { p50: median(waits), p99: percentile(waits, 0.99) };
}

/** Writes the files that the loads request to the web root of the busy site. */
async function addLoadFiles(installation: Installation, { environmentId }: CreatedSite): Promise<void> {
  const root = join(installation.data, "environments", environmentId, "current/public");
  await mkdir(join(root, "wp-content/uploads"), { recursive: true });
  const files = {
    "burn.php": "<?php $end = microtime(true) + 0.5; while (microtime(true) < $end) { md5(random_bytes(64)); } echo 1;",
    "load.css": "a{}".repeat(4_000),
    "write.php": `<?php $file = __DIR__ . '/wp-content/uploads/' . (getmypid() % 4) . '.bin';
      file_put_contents($file, file_get_contents('php://input')); $db = new PDO('sqlite:/database/load.sqlite');
      $db->exec('create table if not exists t (v)'); $db->exec('insert into t values (1)'); echo 1;`,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content);
}

async function stopLoad(child: ChildProcess): Promise<number> {
  const answered = once(child, "message");
  child.send("stop");
  const [count] = await answered;
  const exited = once(child, "exit");
  child.kill();
  await exited;
  return Number(count);
}

/** Runs `work` under the load. Returns its result and the number of successful requests of the load. */
async function under<T>(load: Load, address: string, work: () => Promise<T>): Promise<[value: T, answered: number]> {
  const child = fork(loader, [JSON.stringify({ ...load, address })], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    await delay(settleMilliseconds);
    const value = await work();
    return [value, await stopLoad(child)];
  } finally {
    child.kill();
  }
}

const p99Ratio = (waits: readonly Waits[], alone: readonly Waits[]): number =>
  median(waits.map(({ p99 }) => p99)) / median(alone.map(({ p99 }) => p99));

function figureOf({ name }: Load, alone: readonly Waits[], loaded: readonly Waits[], answered: number): Figure {
  const ratio = p99Ratio(loaded, alone);
  const show = (waits: readonly Waits[]) =>
    `p50 ${duration(median(waits.map(({ p50 }) => p50)))}, p99 ${duration(median(waits.map(({ p99 }) => p99)))}`;
  return {
    name: `a neighbour's p99 next to ${name}`,
    measured: `${ratio.toFixed(2)} times`,
    target: `≤ ${maxRatio} times`,
    isMet: ratio <= maxRatio,
    reference: `alone ${show(alone)}; with load ${show(loaded)}; ${answered} requests of the load answered, sent with the lowest priority`,
  };
}

/** The first page of a sleeping neighbour, which has to wait until a worker has booted. */
async function measureSleeper(installation: Installation): Promise<Figure> {
  const busy = await createSite(installation, { display_name: "Busy again", site_title: "Busy again" });
  await addLoadFiles(installation, busy);
  const sleepers = ["One", "Two", "Three"];
  const wake = async (name: string) => {
    const site = await createSite(installation, { display_name: `Sleeper ${name} ${Date.now()}` });
    const path = "/sites/tools/restart-php";
    await installation.api("POST", path, { environment_id: site.environmentId });
    await delay(3_000);
    return (await timed(() => installation.visit(`${site.address}/?uncached`))).milliseconds;
  };
  const alone: number[] = [];
  for (const name of sleepers) alone.push(await wake(name));
  const [loaded] = await under(manyPages, busy.address, async () => {
    const waits: number[] = [];
    for (const name of sleepers) waits.push(await wake(name));
    return waits;
  });
  return {
    name: "first page of a sleeping neighbour, next to 8 visitors without a pause",
    measured: duration(median(loaded)),
    target: "–",
    isMet: true,
    reference: `alone ${duration(median(alone))}`,
  };
}

interface LoadResult {
  readonly load: Load;
  readonly waits: Waits[];
  answered: number;
}

function progressLine(condition: string, { p50, p99 }: Waits): string {
  return `  ${condition}: p50 ${duration(p50)}, p99 ${duration(p99)}`;
}

/** `ready` resolves when the machine is idle. `log` gets progress messages. */
export async function measureNeighbours(
  installation: Installation,
  ready: () => Promise<void>,
  log: (line: string) => void,
): Promise<Figure[]> {
  const quiet = await createSite(installation, { display_name: "Quiet", site_title: "Quiet" });
  const busy = await createSite(installation, { display_name: "Busy", site_title: "Busy" });
  await addLoadFiles(installation, busy);
  await ready();
  return [...(await compareLoads(installation, { quiet, busy }, loads, log)), await measureSleeper(installation)];
}

interface Neighbours {
  readonly quiet: CreatedSite;
  readonly busy: CreatedSite;
}

/** Measures the quiet site alone and next to each of these loads of the busy one. */
export async function compareLoads(
  installation: Installation,
  { quiet, busy }: Neighbours,
  compared: readonly Load[],
  log: (line: string) => void,
): Promise<readonly Figure[]> {
  const alone: Waits[] = [];
  const all = compared.map((load): LoadResult => ({ load, waits: [], answered: 0 }));
  for (let round = 0; round < rounds; round += 1) {
    const undisturbed = await readPages(installation, quiet);
    log(progressLine("alone", undisturbed));
    alone.push(undisturbed);
    for (const result of all) {
      const [waits, answered] = await under(result.load, busy.address, () => readPages(installation, quiet));
      log(progressLine(`next to ${result.load.name}`, waits));
      result.waits.push(waits);
      result.answered += answered;
    }
  }
  return all.map(({ load, waits, answered }) => figureOf(load, alone, waits, answered));
}
