/**
 * What the SQL layer costs a page: the processor time of two PHP workers that serve the same environment, one with the layer
 * over WordPress's SQLite driver, the other with the driver alone. They take turns, so that changes in the machine's speed
 * affect both.
 */
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import type { CreatedSite } from "@sitewright/e2e/sites.ts";
import { driverFolder } from "@sitewright/runtimes/playground/assets/driver.ts";
import { createAssetStore } from "@sitewright/runtimes/playground/assets/store.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";
import { loadPage, serveDirectly } from "./directServing.ts";
import type { Figure } from "./report.ts";
import { secondsBetween, spentByProcesses } from "./serverProcess.ts";
import { median } from "./statistics.ts";

const rounds = 30;
const warmUp = 3;
/** Requests of a turn: long enough for processor time, which Linux counts in hundredths of a second. */
const turn = 12;
/** The front page, searches, and posts as JSON. */
const pages = ["/", "/?s=hello", "/?rest_route=/wp/v2/posts"];
const mostPercent = 3;

/** A serving with one worker, and the processes that belong to it. */
interface Worker {
  readonly serving: Serving;
  readonly processes: readonly number[];
}

/** Measures pages of an environment. The figure is the median of the rounds' ratios. */
export async function measureSqlLayer(installation: Installation, site: CreatedSite): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), "sitewright-bench-"));
  const assets = join(installation.data, "assets");
  const withLayer = await startWorker(installation, site, assets, join(folder, "with"));
  const bare = await assetsWithoutLayer(assets, join(folder, "assets"));
  const without = await startWorker(installation, site, bare, join(folder, "without"));
  const ratios: number[] = [];
  const costs: number[] = [];
  try {
    for (let round = 0; round < warmUp + rounds; round += 1) {
      // The second one may find a busier machine, so they take turns at going first.
      const order = round % 2 === 0 ? [withLayer, without] : [without, withLayer];
      const spent = new Map<Worker, number>();
      for (const worker of order) spent.set(worker, await takeTurn(worker, site));
      if (round < warmUp) continue;
      const [mine = 0, theirs = 0] = [spent.get(withLayer), spent.get(without)];
      ratios.push(mine / theirs);
      costs.push(theirs / turn);
    }
  } finally {
    await Promise.all([withLayer.serving.close(), without.serving.close()]);
    await rm(folder, { recursive: true, force: true });
  }
  const percent = (median(ratios) - 1) * 100;
  return {
    name: `processor time of a page with the SQL layer, median of ${rounds} rounds of ${2 * turn} pages`,
    measured: `${percent >= 0 ? "+" : "−"}${Math.abs(percent).toFixed(1)} %`,
    target: `≤ +${mostPercent} %`,
    isMet: percent <= mostPercent,
    reference: `driver alone: ${(median(costs) * 1000).toFixed(0)} ms`,
  };
}

/** An asset store whose driver opens the database without the layer; all else is that of another store. */
async function assetsWithoutLayer(assets: string, folder: string): Promise<string> {
  const driver = driverFolder(folder);
  await mkdir(join(folder, "drivers"), { recursive: true });
  for (const name of await readdir(assets)) {
    if (name !== "drivers") await symlink(join(assets, name), join(folder, name));
  }
  await cp(driverFolder(assets), driver, { recursive: true, preserveTimestamps: true });
  const { sqliteDriver } = await createAssetStore({ folder: assets }).prepare(() => undefined);
  const script = "wp-includes/sqlite/db.php";
  await rm(join(driver, script));
  await copyFile(join(sqliteDriver, script), join(driver, script));
  return folder;
}

async function startWorker(
  installation: Installation,
  site: CreatedSite,
  assets: string,
  run: string,
): Promise<Worker> {
  await mkdir(run);
  const before = new Set(await ownProcesses(installation));
  const serving = await serveDirectly(installation, site, run, assets);
  await loadPage(serving, site);
  const processes = (await ownProcesses(installation)).filter((id) => !before.has(id));
  if (processes.length === 0) throw new Error(`No worker was started in ${basename(run)}`);
  return { serving, processes };
}

/** The processes below this one that don't belong to the installation. */
async function ownProcesses({ supervisor }: Installation): Promise<readonly number[]> {
  const { pid } = supervisor;
  const others = new Set(pid === undefined ? [] : [pid, ...(await descendants(pid)).map(({ id }) => id)]);
  return (await descendants(process.pid)).map(({ id }) => id).filter((id) => !others.has(id));
}

/** Returns the seconds of processor time that the pages of a turn took. */
async function takeTurn({ serving, processes }: Worker, site: CreatedSite): Promise<number> {
  // Processes that only helped the worker to start may have ended.
  const before = spentByProcesses(processes);
  for (let request = 0; request < turn; request += 1) {
    await loadPage(serving, site, pages[request % pages.length]);
  }
  const seconds = secondsBetween(before, spentByProcesses(processes));
  if (seconds === 0) throw new Error("The worker has ended");
  return seconds;
}
