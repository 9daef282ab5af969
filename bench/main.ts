/**
 * `npm run bench`: starts an installation from a clean clone, measures it from outside, and prints every figure
 * beside its target and its reference. Ends with 1 where a target was missed. `npm run bench -- backups` measures that
 * part alone; `parts` lists all of them.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { cloneRepository, type Installation, start } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { measureBackups } from "./backups.ts";
import { measureCache } from "./cache.ts";
import { type Creation, measureCreation, untilSparesAreWarm } from "./creation.ts";
import { measureDns } from "./dns.ts";
import { measureDnsRecords } from "./dnsRecords.ts";
import { measureDomains } from "./domains.ts";
import { measureEnvironments } from "./environments.ts";
import { measureImports } from "./imports.ts";
import { untilAtRest, withStolenShare } from "./machine.ts";
import { measureNeighbours } from "./neighbours.ts";
import { measureOperations } from "./operations.ts";
import { measurePackages } from "./packages.ts";
import { measureUpdates, startMirror } from "./packagesUpdate.ts";
import { measurePage } from "./page.ts";
import { untilVersionsAreCompiled } from "./ready.ts";
import { measureRedirects } from "./redirects.ts";
import { atMost, duration, type Figure, table } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";
import { measureTls } from "./tls.ts";

const sites = 20;
const laterStarts = 5;
const parts = [
  "imports",
  "starts",
  "creation",
  "environments",
  "backups",
  "packages",
  "operations",
  "neighbours",
  "page",
  "cache",
  "dns",
  "domains",
  "redirects",
  "tls",
];
const say = (line: string): boolean => process.stderr.write(`${line}\n`);

async function measureStarts(folder: string, settings: Record<string, string>): Promise<[Figure[], Installation]> {
  say("first start of a clean clone …");
  const first = await timed(() => start(folder, settings));
  const later: number[] = [];
  let installation = first.value;
  for (let count = 1; count <= laterStarts; count += 1) {
    await installation.stop();
    say(`later start ${count} …`);
    const again = await timed(() => start(folder, settings));
    later.push(again.milliseconds);
    installation = again.value;
  }
  return [
    [
      atMost("first npm start of a clean clone, packages in npm's cache", first.milliseconds, 60_000),
      atMost(`later npm start, median of ${laterStarts}`, median(later), 3_000),
    ],
    installation,
  ];
}

async function createInTurn(installation: Installation, name: string, ready: () => Promise<void>): Promise<Creation[]> {
  const creations: Creation[] = [];
  for (let index = 1; index <= sites; index += 1) {
    await ready();
    creations.push(await measureCreation(installation, `${name} ${index}`));
  }
  return creations;
}

async function creationFigures(when: string, create: () => Promise<Creation[]>): Promise<Figure[]> {
  const { value: creations, stolen } = await withStolenShare(create);
  const accepted = creations.map(({ acceptedMilliseconds }) => acceptedMilliseconds);
  const pages = creations.map(({ firstPageMilliseconds }) => firstPageMilliseconds);
  return [
    atMost(`POST /sites → 202, p50 of ${sites}, ${when}`, median(accepted), 30),
    atMost(`POST /sites → front page, p50, ${when}`, median(pages), 500, stolen),
    atMost(`POST /sites → front page, p95, ${when}`, percentile(pages, 0.95), 1_500),
  ];
}

async function measureTenAtOnce(installation: Installation): Promise<Figure> {
  const names = Array.from({ length: 10 }, (_, index) => `Crowd ${index + 1}`);
  const { milliseconds, value } = await timed(() =>
    Promise.allSettled(names.map((name) => measureCreation(installation, name))),
  );
  const whole = value.filter(({ status }) => status === "fulfilled").length;
  return {
    name: "ten sites at once: front pages that come",
    measured: `${whole} of ${names.length} in ${duration(milliseconds)}`,
    target: `${names.length}`,
    isMet: whole === names.length,
  };
}

async function measureUncachedPage(installation: Installation): Promise<Figure> {
  const site = await createSite(installation, { display_name: "Page", site_title: "Page" });
  const { edgeMilliseconds, directMilliseconds } = await measurePage(installation, site);
  const ratio = (edgeMilliseconds / directMilliseconds) * 100;
  return {
    name: "front page again, through the edge, against the worker",
    measured: `${ratio.toFixed(0)} % (${duration(edgeMilliseconds)})`,
    target: "≤ 130 %",
    isMet: ratio <= 130,
    reference: `worker called directly: ${duration(directMilliseconds)}`,
  };
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((part) => !parts.includes(part));
if (unknown.length > 0) {
  say(`There is no part ${unknown.join(", ")}: there are ${parts.join(", ")}, and all where none is named.`);
  process.exit(2);
}
const isWanted = (part: string) => chosen.length === 0 || chosen.includes(part);

if (isWanted("imports")) {
  say("modules of each process …");
  const imports = await measureImports();
  process.stdout.write(`${table(imports)}\n`);
  if (chosen.length === 1) process.exit();
}

const clone = await cloneRepository();
const run = await mkdtemp(join(tmpdir(), "sw-run-"));
await using mirror = await startMirror();
// As on a server on which many sites are created at a time.
const settings = { SITEWRIGHT_RUN: run, SITEWRIGHT_WPORG_URL: mirror.url, SITEWRIGHT_SPARE_WORKERS: "20" };
const [figures, installation]: [Figure[], Installation] = isWanted("starts")
  ? await measureStarts(clone.folder, settings)
  : [[], await start(clone.folder, settings)];
try {
  const adminSocket = join(run, "edge.sock");
  const { spareWorkers } = loadConfig(settings);
  const untilQuiet = async () => {
    await untilSparesAreWarm(adminSocket, spareWorkers);
    await untilAtRest();
  };
  if (isWanted("creation")) {
    say(`${sites} sites, each when the machine is quiet again …`);
    figures.push(...(await creationFigures("quiet machine", () => createInTurn(installation, "Spaced", untilQuiet))));
    say(`${sites} sites, one after the other without a pause …`);
    await untilQuiet();
    figures.push(
      ...(await creationFigures(`no pause, ${spareWorkers} spares`, () =>
        createInTurn(installation, "Rapid", async () => undefined),
      )),
    );
    say("ten at once …");
    await untilQuiet();
    figures.push(await measureTenAtOnce(installation));
  }
  const untilCompiled = () => untilVersionsAreCompiled(adminSocket);
  if (isWanted("environments")) {
    say("environments, pushes and versions of PHP, under visitors …");
    await untilQuiet();
    figures.push(...(await measureEnvironments(installation, untilQuiet, untilCompiled)));
  }
  if (isWanted("backups")) {
    say("backups, beside restic …");
    await untilCompiled();
    await untilQuiet();
    say(
      `load average of the machine: ${loadavg()
        .map((load) => load.toFixed(2))
        .join(", ")}`,
    );
    figures.push(...(await measureBackups(installation, untilQuiet)));
  }
  if (isWanted("packages")) {
    say("plugins and themes of a fleet …");
    await untilQuiet();
    figures.push(...(await measureUpdates(installation, mirror, untilQuiet)));
    figures.push(...(await measurePackages(installation, untilQuiet)));
  }
  if (isWanted("operations")) {
    say("the engine of operations by itself …");
    await untilQuiet();
    figures.push(...(await measureOperations()));
  }
  if (isWanted("neighbours")) {
    say("a quiet site beside a loud one …");
    figures.push(...(await measureNeighbours(installation, untilQuiet, say)));
  }
  if (isWanted("page")) {
    say("the front page again …");
    figures.push(await measureUncachedPage(installation));
  }
  if (isWanted("cache")) {
    say("a cached page, beside a bare server and nginx …");
    await untilQuiet();
    figures.push(...(await measureCache(installation, adminSocket)));
  }
  if (isWanted("dns")) {
    say("DNS with ten thousand zones, beside knot …");
    await untilQuiet();
    figures.push(await measureDnsRecords(installation));
    figures.push(...(await measureDns(say)));
  }
  if (isWanted("domains")) {
    say("domains that point here already, by TLS …");
    figures.push(...(await measureDomains(clone.folder, installation.data)));
  }
  if (isWanted("tls")) {
    say("TLS handshakes, beside a bare server and nginx …");
    await untilQuiet();
    figures.push(...(await measureTls()));
  }
  if (isWanted("redirects")) {
    say("redirect rules at the edge …");
    await untilQuiet();
    figures.push(...(await measureRedirects()));
  }
} finally {
  await installation.stop();
  await clone.remove();
  await rm(run, { recursive: true, force: true });
}
process.stdout.write(`${table(figures)}\n`);
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1;
