/**
 * `npm run bench` starts an installation from a clean clone, measures it from outside, and prints each figure with its
 * target and a reference. The exit code is 1 if a target was missed. `npm run bench -- backups` runs only that part;
 * `parts` lists them all.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cloneRepository, type Installation, start } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { measureActivity } from "./activity.ts";
import { measureBackups } from "./backups.ts";
import { measureCache } from "./cache.ts";
import { type Creation, measureCreation, untilWorkersArePrepared } from "./creation.ts";
import { measureDailyUse } from "./dailyUse.ts";
import { measureDns } from "./dns.ts";
import { measureDnsRecords } from "./dnsRecords.ts";
import { measureDomains } from "./domains.ts";
import { measureEnvironments } from "./environments.ts";
import { rounds as fairnessRounds, measureFairness } from "./fairness.ts";
import { measureGrowth } from "./growth.ts";
import { measureImports } from "./imports.ts";
import { measureLists } from "./lists.ts";
import { untilIdle, withStealTime } from "./machine.ts";
import { measureNative } from "./native.ts";
import { measureNeighbours } from "./neighbours.ts";
import { measureOperations } from "./operations.ts";
import { measurePackages } from "./packages.ts";
import { measureUpdates, startMirror } from "./packagesUpdate.ts";
import { measurePage } from "./page.ts";
import { measurePowerCuts } from "./powerCuts.ts";
import { measureReads } from "./reads.ts";
import { untilVersionsAreCompiled } from "./ready.ts";
import { measureRedirects } from "./redirects.ts";
import { atMost, duration, type Figure, table } from "./report.ts";
import { measureSqlLayer } from "./sqlLayer.ts";
import { median, percentile, timed } from "./statistics.ts";
import { measureTls } from "./tls.ts";
import { measureWaits } from "./waits.ts";

const sites = 20;
const laterStarts = 5;
const parts = [
  "imports",
  "reads",
  "waits",
  "lists",
  "activity",
  "growth",
  "daily",
  "native",
  "power-cuts",
  "starts",
  "creation",
  "environments",
  "backups",
  "packages",
  "operations",
  "neighbours",
  "fairness",
  "page",
  "sql",
  "cache",
  "dns",
  "domains",
  "redirects",
  "tls",
];
const log = (line: string): boolean => process.stderr.write(`${line}\n`);

async function measureStarts(folder: string, settings: Record<string, string>): Promise<[Figure[], Installation]> {
  log("first start of a clean clone …");
  const first = await timed(() => start(folder, settings));
  const later: number[] = [];
  let installation = first.value;
  for (let count = 1; count <= laterStarts; count += 1) {
    await installation.stop();
    log(`later start ${count} …`);
    const restart = await timed(() => start(folder, settings));
    later.push(restart.milliseconds);
    installation = restart.value;
  }
  return [
    [
      atMost("first npm start of a clean clone, with packages in npm's cache", first.milliseconds, 60_000),
      atMost(`later npm start, median of ${laterStarts}`, median(later), 3_000),
    ],
    installation,
  ];
}

async function createSequentially(
  installation: Installation,
  name: string,
  ready: () => Promise<void>,
): Promise<Creation[]> {
  const creations: Creation[] = [];
  for (let index = 1; index <= sites; index += 1) {
    await ready();
    creations.push(await measureCreation(installation, `${name} ${index}`));
  }
  return creations;
}

async function creationFigures(when: string, create: () => Promise<Creation[]>): Promise<Figure[]> {
  const { value: creations, stealTime } = await withStealTime(create);
  const accepted = creations.map(({ acceptedMilliseconds }) => acceptedMilliseconds);
  const pages = creations.map(({ firstPageMilliseconds }) => firstPageMilliseconds);
  return [
    atMost(`POST /sites → 202, p50 of ${sites}, ${when}`, median(accepted), 30),
    atMost(`POST /sites → front page, p50, ${when}`, median(pages), 500, stealTime),
    atMost(`POST /sites → front page, p95, ${when}`, percentile(pages, 0.95), 1_500),
  ];
}

async function measureTenAtOnce(installation: Installation): Promise<Figure> {
  const names = Array.from({ length: 10 }, (_, index) => `Crowd ${index + 1}`);
  const { milliseconds, value } = await timed(() =>
    Promise.allSettled(names.map((name) => measureCreation(installation, name))),
  );
  const loaded = value.filter(({ status }) => status === "fulfilled").length;
  return {
    name: "ten sites at once: front pages that loaded",
    measured: `${loaded} of ${names.length} in ${duration(milliseconds)}`,
    target: `${names.length}`,
    isMet: loaded === names.length,
  };
}

async function measureUncachedPage(installation: Installation): Promise<Figure> {
  const site = await createSite(installation, { display_name: "Page", site_title: "Page" });
  const { edgeMilliseconds, directMilliseconds } = await measurePage(installation, site);
  const ratio = (edgeMilliseconds / directMilliseconds) * 100;
  return {
    name: "uncached front page through the edge, compared with the worker alone",
    measured: `${ratio.toFixed(0)} % (${duration(edgeMilliseconds)})`,
    target: "≤ 130 %",
    isMet: ratio <= 130,
    reference: `worker called directly: ${duration(directMilliseconds)}`,
  };
}

const { positionals: chosen, values: options } = parseArgs({
  allowPositionals: true,
  options: { attack: { type: "string", multiple: true, default: [] } },
});

/** Ends this process if a name is unknown. */
function checkNames(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  log(`Unknown ${what}: ${unknown.join(", ")}. Choose from ${known.join(", ")}, or name none to run all.`);
  process.exit(2);
}

checkNames("part", chosen, parts);
checkNames("attack", options.attack, fairnessRounds);
const isSelected = (part: string) => chosen.length === 0 || chosen.includes(part);

if (isSelected("imports")) {
  log("modules of each process …");
  const imports = await measureImports();
  process.stdout.write(`${table(imports)}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("reads")) {
  log("reads of the API, compared with bare Fastify …");
  process.stdout.write(`${table(await measureReads(log))}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("waits")) {
  log("thousands of clients that wait for an operation …");
  process.stdout.write(`${table(await measureWaits())}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("lists")) {
  log("long lists …");
  process.stdout.write(`${table(await measureLists(log))}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("activity")) {
  log("an activity log of a million entries …");
  process.stdout.write(`${table(await measureActivity(log))}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("growth")) {
  log("up to 10,000 sleeping environments …");
  process.stdout.write(`${table(await measureGrowth(log))}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("daily")) {
  log("daily use with default settings …");
  process.stdout.write(`${table(await measureDailyUse())}\n`);
  if (chosen.length === 1) process.exit();
}

if (isSelected("native")) {
  log("sites with php-fpm …");
  const figures = await measureNative(log);
  process.stdout.write(`${table(figures)}\n`);
  if (chosen.length === 1) process.exit(figures.every(({ isMet }) => isMet) ? 0 : 1);
}

if (isSelected("power-cuts")) {
  log("power cuts while WordPress writes …");
  const figures = await measurePowerCuts(log);
  process.stdout.write(`${table(figures)}\n`);
  if (chosen.length === 1) process.exit(figures.every(({ isMet }) => isMet) ? 0 : 1);
}

const clone = await cloneRepository();
const run = await mkdtemp(join(tmpdir(), "sw-run-"));
await using mirror = await startMirror();
// As on a server where many sites are created at once.
const settings = { SITEWRIGHT_RUN: run, SITEWRIGHT_WPORG_URL: mirror.url, SITEWRIGHT_PREPARED_WORKERS: "20" };
const [figures, installation]: [Figure[], Installation] = isSelected("starts")
  ? await measureStarts(clone.folder, settings)
  : [[], await start(clone.folder, settings)];
try {
  const adminSocket = join(run, "edge.sock");
  const { preparedWorkers } = loadConfig(settings);
  const untilReady = async () => {
    await untilWorkersArePrepared(adminSocket, preparedWorkers);
    await untilIdle();
  };
  if (isSelected("creation")) {
    log(`${sites} sites, each when the machine is idle …`);
    figures.push(
      ...(await creationFigures("idle machine", () => createSequentially(installation, "Spaced", untilReady))),
    );
    log(`${sites} sites, one after the other without a pause …`);
    await untilReady();
    figures.push(
      ...(await creationFigures(`no pause, ${preparedWorkers} prepared workers`, () =>
        createSequentially(installation, "Rapid", async () => undefined),
      )),
    );
    log("ten at once …");
    await untilReady();
    figures.push(await measureTenAtOnce(installation));
  }
  const untilCompiled = () => untilVersionsAreCompiled(adminSocket);
  if (isSelected("environments")) {
    log("environments, pushes and PHP versions, with visitors …");
    await untilReady();
    figures.push(...(await measureEnvironments(installation, untilReady, untilCompiled)));
  }
  if (isSelected("backups")) {
    log("backups, compared with restic …");
    await untilCompiled();
    await untilReady();
    log(
      `load average of the machine: ${loadavg()
        .map((load) => load.toFixed(2))
        .join(", ")}`,
    );
    figures.push(...(await measureBackups(installation, untilReady)));
  }
  if (isSelected("packages")) {
    log("plugins and themes of many sites …");
    await untilReady();
    figures.push(...(await measureUpdates(installation, mirror, untilReady)));
    figures.push(...(await measurePackages(installation, untilReady)));
  }
  if (isSelected("operations")) {
    log("the operations engine alone …");
    await untilReady();
    figures.push(...(await measureOperations()));
  }
  if (isSelected("neighbours")) {
    log("a quiet site next to a busy one …");
    figures.push(...(await measureNeighbours(installation, untilReady, log)));
  }
  if (isSelected("fairness")) {
    log("a company next to a hostile one …");
    const { attack: chosenRounds } = options;
    const { folder } = clone;
    figures.push(...(await measureFairness(installation, { folder, ready: untilReady, chosen: chosenRounds, log })));
  }
  if (isSelected("page")) {
    log("an uncached page …");
    figures.push(await measureUncachedPage(installation));
  }
  if (isSelected("sql")) {
    log("pages with and without the SQL layer …");
    await untilReady();
    const site = await createSite(installation, { display_name: "SQL", site_title: "SQL" });
    figures.push(await measureSqlLayer(installation, site));
  }
  if (isSelected("cache")) {
    log("a cached page, compared with bare Node and nginx …");
    await untilReady();
    figures.push(...(await measureCache(installation, adminSocket)));
  }
  if (isSelected("dns")) {
    log("DNS with ten thousand zones, compared with Knot …");
    await untilReady();
    figures.push(await measureDnsRecords(installation));
    figures.push(...(await measureDns(log)));
  }
  if (isSelected("domains")) {
    log("new domains over TLS …");
    figures.push(...(await measureDomains(clone.folder, installation.data)));
  }
  if (isSelected("tls")) {
    log("TLS handshakes, compared with bare Node and nginx …");
    await untilReady();
    figures.push(...(await measureTls()));
  }
  if (isSelected("redirects")) {
    log("redirect rules at the edge …");
    await untilReady();
    figures.push(...(await measureRedirects()));
  }
} finally {
  await installation.stop();
  await clone.remove();
  await rm(run, { recursive: true, force: true });
}
process.stdout.write(`${table(figures)}\n`);
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1;
