/**
 * What one environment under full load costs its neighbour: a visitor reads the quiet one's front page at a modest pace, alone
 * and beside each kind of load, in turns, and the slowest of his pages are compared.
 *
 * Whoever makes the load is a session of the lowest priority, because in life visitors bring processors of their own.
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
/** Between two pages of the quiet one's visitor. */
const pauseMilliseconds = 200;
/** The load is there, and what steps back for others has done so. */
const settleMilliseconds = 6_000;
const mostTimes = 2;

export interface Load {
  readonly name: string;
  /** Below the noisy one's address; `{n}` is another number each time. */
  readonly path: string;
  readonly visitors: number;
  /** Bytes that are sent with each request. */
  readonly uploadBytes?: number;
}

const loads: readonly Load[] = [
  { name: "8 visitors without a pause, each page another", path: "/?visit={n}", visitors: 8 },
  { name: "a plugin that only computes, 8 visitors", path: "/burn.php?visit={n}", visitors: 8 },
  { name: "files, 100 connections", path: "/load.css", visitors: 100 },
  { name: "writes of 1 MB, 8 visitors", path: "/write.php?visit={n}", visitors: 8, uploadBytes: 1_000_000 },
];

interface Waits {
  readonly p50: number;
  readonly p99: number;
}

async function readPages(installation: Installation, site: CreatedSite): Promise<Waits> {
  const waits: number[] = [];
  for (let page = 0; page < pagesPerRound; page += 1) {
    const { milliseconds, value } = await timed(() => installation.visit(`${site.address}/?anew=${page}`));
    if (value.status !== 200) throw new Error(`${site.address} answered ${value.status}`);
    waits.push(milliseconds);
    await delay(pauseMilliseconds);
  }
  return { p50: median(waits), p99: percentile(waits, 0.99) };
}

/** What the noisy one's owner has put into its web root. */
async function leaveFiles(installation: Installation, { environmentId }: CreatedSite): Promise<void> {
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

/** Runs `work` under the load; gives how many requests of the load were answered. */
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

const times = (waits: readonly Waits[], alone: readonly Waits[], what: keyof Waits): number =>
  median(waits.map((each) => each[what])) / median(alone.map((each) => each[what]));

function figureOf({ name }: Load, alone: readonly Waits[], beside: readonly Waits[], answered: number): Figure {
  const ratio = times(beside, alone, "p99");
  const show = (waits: readonly Waits[]) =>
    `p50 ${duration(median(waits.map(({ p50 }) => p50)))}, p99 ${duration(median(waits.map(({ p99 }) => p99)))}`;
  return {
    name: `a neighbour's p99 beside ${name}`,
    measured: `${ratio.toFixed(2)} times`,
    target: `≤ ${mostTimes} times`,
    isMet: ratio <= mostTimes,
    reference: `alone ${show(alone)}; beside ${show(beside)}; ${answered} requests of the load answered, which came from processes of the lowest priority`,
  };
}

/** The first page of a neighbour that sleeps has to wait for a worker that boots. */
async function measureSleeper(installation: Installation): Promise<Figure> {
  const noisy = await createSite(installation, { display_name: "Loud again", site_title: "Loud again" });
  await leaveFiles(installation, noisy);
  const sleepers = ["One", "Two", "Three"];
  const wake = async (name: string) => {
    const made = await createSite(installation, { display_name: `Sleeper ${name} ${Date.now()}` });
    const path = "/sites/tools/restart-php";
    await installation.api("POST", path, { environment_id: made.environmentId });
    await delay(3_000);
    return (await timed(() => installation.visit(`${made.address}/?anew`))).milliseconds;
  };
  const alone: number[] = [];
  for (const name of sleepers) alone.push(await wake(name));
  const [load] = loads;
  if (load === undefined) throw new Error("There is no load");
  const [beside] = await under(load, noisy.address, async () => {
    const waits: number[] = [];
    for (const name of sleepers) waits.push(await wake(name));
    return waits;
  });
  return {
    name: "first page of a neighbour that slept, beside 8 visitors without a pause",
    measured: duration(median(beside)),
    target: "–",
    isMet: true,
    reference: `alone ${duration(median(alone))}`,
  };
}

interface Beside {
  readonly load: Load;
  readonly waits: Waits[];
  answered: number;
}

function wordsOf(what: string, { p50, p99 }: Waits): string {
  return `  ${what}: p50 ${duration(p50)}, p99 ${duration(p99)}`;
}

/** `say` is told what comes out on the way. */
export async function measureNeighbours(
  installation: Installation,
  quiet: () => Promise<void>,
  say: (line: string) => void,
): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Quiet", site_title: "Quiet" });
  const noisy = await createSite(installation, { display_name: "Loud", site_title: "Loud" });
  await leaveFiles(installation, noisy);
  await quiet();
  const alone: Waits[] = [];
  const all = loads.map((load): Beside => ({ load, waits: [], answered: 0 }));
  for (let round = 0; round < rounds; round += 1) {
    const undisturbed = await readPages(installation, site);
    say(wordsOf("alone", undisturbed));
    alone.push(undisturbed);
    for (const beside of all) {
      const [waits, answered] = await under(beside.load, noisy.address, () => readPages(installation, site));
      say(wordsOf(`beside ${beside.load.name}`, waits));
      beside.waits.push(waits);
      beside.answered += answered;
    }
  }
  const figures = all.map(({ load, waits, answered }) => figureOf(load, alone, waits, answered));
  return [...figures, await measureSleeper(installation)];
}
