/**
 * What the SQL layer costs a page: the processor time of two PHP workers that serve the same environment, one with the layer
 * over WordPress's SQLite driver, the other with the driver alone. They take turns, so that changes in the machine's speed
 * affect both.
 */
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import type { CreatedSite } from "@sitewright/e2e/sites.ts";
import { createAssetStore } from "@sitewright/runtimes/assets/store.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";
import { driverFolder } from "@sitewright/runtimes/sqlite/driver.ts";
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
      const spent = new Map<Serving, number>();
      for (const serving of order) spent.set(serving, await takeTurn(serving, installation, site));
      if (round < warmUp) continue;
      const [mine = 0, theirs = 0] = [spent.get(withLayer), spent.get(without)];
      ratios.push(mine / theirs);
      costs.push(theirs / turn);
    }
  } finally {
    await Promise.all([withLayer.close(), without.close()]);
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
): Promise<Serving> {
  await mkdir(run);
  const serving = await serveDirectly(installation, site, run, assets);
  await loadPage(serving, site);
  return serving;
}

/** The processes below this one that don't belong to the installation. */
async function ownProcesses({ supervisor }: Installation): Promise<readonly number[]> {
  const { pid } = supervisor;
  const others = new Set(pid === undefined ? [] : [pid, ...(await descendants(pid)).map(({ id }) => id)]);
  return (await descendants(process.pid)).map(({ id }) => id).filter((id) => !others.has(id));
}

/**
 * Returns the seconds of processor time that the pages of a turn took. All processes are counted: those of the other serving are idle,
 * and a worker may be replaced.
 */
async function takeTurn(serving: Serving, installation: Installation, site: CreatedSite): Promise<number> {
  const spent = async () => spentByProcesses(await ownProcesses(installation));
  const before = await spent();
  for (let request = 0; request < turn; request += 1) {
    await loadPage(serving, site, pages[request % pages.length]);
  }
  return secondsBetween(before, await spent());
}
