/**
 * PHP as a program of the machine: sites with php-fpm, next to the same sites with PHP under WebAssembly, and next to nginx and php-fpm
 * as an administrator would set them up.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolder, type Installation, sharedAssets, startHere } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite } from "@sitewright/e2e/sites.ts";
import { discoverPhp } from "@sitewright/runtimes/native/versions/discovery.ts";
import { type Creation, measureCreation } from "./creation.ts";
import { environmentOf } from "./directServing.ts";
import { nginxInstallHint, startHandMadeHost } from "./handMadeHost.ts";
import { untilIdle } from "./machine.ts";
import { measureSleepers, measureWake } from "./nativeSleep.ts";
import { compareLoads, manyPages } from "./neighbours.ts";
import { comparePages, type PageRate, type PageSource } from "./pageRates.ts";
import { untilVersionsAreCompiled } from "./ready.ts";
import { atMost, duration, type Figure } from "./report.ts";
import type { ServerProcess } from "./serverProcess.ts";
import { median, percentile } from "./statistics.ts";

const playgroundRegion = "this-machine";
const nativeRegion = "native";
const manyVisitors = 8;
const creations = 20;
const maxCreationMilliseconds = 300;
const wakes = 10;
/** How long to wait for an idle machine before each site. */
const idleSeconds = 5;
/** The least share of the requests per second of nginx and php-fpm. */
const minShare = 0.9;
/** The least ratios to the playground's requests per second, by the number of visitors. */
const minRatios = new Map([
  [1, 2.3],
  [manyVisitors, 3.5],
]);

/** Starts a separate installation with its own data. `log` gets progress messages. */
export async function measureNative(log: (line: string) => void): Promise<Figure[]> {
  const home = await createFolder();
  const run = await mkdtemp(join(tmpdir(), "sw-run-"));
  const installation = await startHere(home.folder, {
    SITEWRIGHT_RUN: run,
    SITEWRIGHT_REGIONS: `${playgroundRegion},${nativeRegion}=native`,
    SITEWRIGHT_PREPARED_WORKERS: "1",
    SITEWRIGHT_CREATION_LIMIT_PER_MINUTE: "10000",
    // Sites fall asleep sooner than by default, which changes nothing else.
    SITEWRIGHT_IDLE_SECONDS: "20",
  });
  const adminSocket = join(run, "edge.sock");
  try {
    const playground = await createSite(installation, { display_name: "Playground", region: playgroundRegion });
    const native = await createSite(installation, { display_name: "Native", region: nativeRegion });
    await untilVersionsAreCompiled(adminSocket);
    log("uncached pages, compared with the playground and with nginx and php-fpm …");
    const figures = [...(await measurePages(installation, { playground, native }, log))];
    log(`${creations} native sites, each when the machine is idle …`);
    const created = await createSites(installation);
    figures.push(creationFigure(created));
    log("waking native sites …");
    figures.push(await measureWake(installation, created.slice(0, wakes), playground, adminSocket));
    log("memory of sleeping native sites …");
    figures.push(await measureSleepers(installation, nativeRegion, adminSocket));
    log("a native site next to another one …");
    const quiet = await createSite(installation, { display_name: "Quiet", region: nativeRegion });
    await untilIdle();
    figures.push(...(await compareLoads(installation, { quiet, busy: native }, [manyPages], log)));
    return figures;
  } finally {
    await installation.stop();
    await home.remove();
    await rm(run, { recursive: true, force: true });
  }
}

/** Creates sites, each when the machine is idle. */
async function createSites(installation: Installation): Promise<readonly Creation[]> {
  const created: Creation[] = [];
  for (let number = 1; number <= creations; number += 1) {
    await untilIdle(idleSeconds);
    created.push(await measureCreation(installation, `Created ${number}`, nativeRegion));
  }
  return created;
}

function creationFigure(created: readonly Creation[]): Figure {
  const pages = created.map(({ firstPageMilliseconds }) => firstPageMilliseconds);
  const accepted = created.map(({ acceptedMilliseconds }) => acceptedMilliseconds);
  return atMost(
    `POST /sites → front page of a native site, p50 of ${creations}, idle machine`,
    median(pages),
    maxCreationMilliseconds,
    `p95 ${duration(percentile(pages, 0.95))}; until the 202: p50 ${duration(median(accepted))}`,
  );
}

interface Sites {
  readonly playground: CreatedSite;
  readonly native: CreatedSite;
}

async function measurePages(
  installation: Installation,
  { playground, native }: Sites,
  log: (line: string) => void,
): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-host-"));
  const host = await startHost(installation, native, folder);
  if (host === null) log(nginxInstallHint);
  const sourceOf = ({ address }: CreatedSite): PageSource => {
    const { port, host } = new URL(address);
    return { port: Number(port), host };
  };
  const sources = [playground, native].map(sourceOf);
  // WordPress redirects visitors who use another address than its own.
  if (host !== null) sources.push({ ...sourceOf(native), port: host.port });
  try {
    await untilIdle();
    const figures: Figure[] = [];
    for (const [visitors, minRatio] of minRatios)
      figures.push(...pageFigures(visitors, minRatio, await comparePages(sources, visitors)));
    return figures;
  } finally {
    await host?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startHost(installation: Installation, site: CreatedSite, folder: string): Promise<ServerProcess | null> {
  const environment = await environmentOf(installation, site);
  const { offered } = await discoverPhp({ folder: join(installation.data, "php") });
  const php = offered.find(({ version }) => version === environment.phpVersion);
  if (php === undefined) throw new Error(`There is no PHP ${environment.phpVersion}`);
  return startHandMadeHost(environment, { assets: sharedAssets, php, folder });
}

const show = ({ perSecond, p50, p99 }: PageRate): string =>
  `${perSecond.toFixed(1)}/s, p50 ${duration(p50)}, p99 ${duration(p99)}`;

function pageFigures(
  visitors: number,
  minRatio: number,
  [playground, native, host]: readonly PageRate[],
): readonly Figure[] {
  if (playground === undefined || native === undefined) throw new Error("Expected at least two servers");
  const name = `uncached front page, ${visitors === 1 ? "one visitor" : `${visitors} visitors`}`;
  const ratio = native.perSecond / playground.perSecond;
  const toPlayground: Figure = {
    name: `${name}: native, relative to the playground`,
    measured: `${ratio.toFixed(2)} times (${show(native)})`,
    target: `≥ ${minRatio} times`,
    isMet: ratio >= minRatio,
    reference: `playground: ${show(playground)}`,
  };
  if (host === undefined) return [{ ...toPlayground, reference: `${toPlayground.reference}; ${nginxInstallHint}` }];
  const share = native.perSecond / host.perSecond;
  return [
    toPlayground,
    {
      name: `– relative to nginx and php-fpm`,
      measured: `${(100 * share).toFixed(0)} %`,
      target: `≥ ${100 * minShare} %`,
      isMet: share >= minShare,
      reference: `nginx and php-fpm: ${show(host)}`,
    },
  ];
}
