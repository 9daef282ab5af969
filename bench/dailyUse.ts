/** What an agency does all day, and what an idle installation costs, with default settings. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite, followOperation } from "@sitewright/e2e/sites.ts";
import type { Page } from "playwright-core";
import { untilWorkersArePrepared } from "./creation.ts";
import { memoryAtRest, memoryOf, untilAllSleep } from "./memory.ts";
import { atMost, atMostBytes, type Figure } from "./report.ts";
import { median, timed } from "./statistics.ts";

const repetitions = 5;
const sleepingSites = 10;

/** Starts a separate installation with its own data. */
export async function measureDailyUse(): Promise<Figure[]> {
  const home = await createFolder();
  const run = await mkdtemp(join(tmpdir(), "sw-run-"));
  // Sites fall asleep sooner than by default, which changes nothing else.
  const settings = { SITEWRIGHT_RUN: run, SITEWRIGHT_IDLE_SECONDS: "20", SITEWRIGHT_PREPARED_WORKERS: "1" };
  let installation = await startHere(home.folder, settings);
  try {
    const starts: number[] = [];
    for (let count = 0; count < repetitions; count += 1) {
      await installation.stop();
      const restart = await timed(() => startHere(home.folder, settings));
      starts.push(restart.milliseconds);
      installation = restart.value;
    }
    const adminSocket = join(run, "edge.sock");
    await untilWorkersArePrepared(adminSocket, 1);
    const idleBytes = await memoryAtRest(installation);
    const site = await createSite(installation, { display_name: "Site 1" });
    const commands = await repeated(() => runWpCli(installation, site));
    const { dashboards, editors } = await measureBrowser(installation, site);
    const help = await repeated(showHelp);
    for (let count = 2; count <= sleepingSites; count += 1) {
      await createSite(installation, { display_name: `Site ${count}` });
    }
    await untilAllSleep(adminSocket);
    const asleepBytes = await memoryOf(installation);
    const times = `median of ${repetitions}`;
    return [
      atMost(`later npm start, ${times}`, median(starts), 3_000),
      atMostBytes("memory of all processes without a site", idleBytes, 600e6, "one prepared worker"),
      atMostBytes(`memory with ${sleepingSites} sleeping sites`, asleepBytes, Number.POSITIVE_INFINITY, ""),
      atMost(`wp option get, ${times}`, median(commands), 2_000),
      atMost(`dashboard through a login link, ${times}`, median(dashboards), Number.POSITIVE_INFINITY),
      atMost(`block editor, ${times}`, median(editors), Number.POSITIVE_INFINITY),
      atMost(`operator --help, ${times}`, median(help), 500),
    ];
  } finally {
    await installation.stop();
    await home.remove();
    await rm(run, { recursive: true, force: true });
  }
}

async function repeated(work: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let count = 0; count < repetitions; count += 1) durations.push((await timed(work)).milliseconds);
  return durations;
}

async function runWpCli(installation: Installation, { environmentId }: CreatedSite): Promise<void> {
  const path = `/sites/environments/${environmentId}/run-wp-cli-command`;
  const accepted = await installation.api("POST", path, { wp_command: "wp option get blogname" });
  const { operation_id } = accepted.json<{ operation_id: string }>();
  const { status } = await followOperation(installation, operation_id);
  if (status !== 200) throw new Error(`WP-CLI ended with ${status}`);
}

interface BrowserTimes {
  readonly dashboards: readonly number[];
  readonly editors: readonly number[];
}

async function measureBrowser(installation: Installation, site: CreatedSite): Promise<BrowserTimes> {
  const browser = await launchBrowser();
  try {
    const dashboards: number[] = [];
    const editors: number[] = [];
    for (let count = 0; count < repetitions; count += 1) {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      const path = `/sites/environments/${site.environmentId}/wpa-login-url`;
      const answer = await installation.api("POST", path, { email: "owner@example.com" });
      await page.goto(answer.json<{ login_link: string }>().login_link);
      dashboards.push((await timed(() => openDashboard(page))).milliseconds);
      editors.push((await timed(() => openEditor(page, site))).milliseconds);
      await page.close();
    }
    return { dashboards, editors };
  } finally {
    await browser.close();
  }
}

async function openDashboard(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/wp-admin\//);
  await page.waitForLoadState("load");
}

async function openEditor(page: Page, { address }: CreatedSite): Promise<void> {
  await page.goto(`${address}/wp-admin/post-new.php`);
  const title = page.getByRole("textbox", { name: "Add title" });
  await page
    .frameLocator('iframe[name="editor-canvas"]')
    .getByRole("textbox", { name: "Add title" })
    .or(title)
    .waitFor();
}

const run = promisify(execFile);

async function showHelp(): Promise<void> {
  await run("npm", ["run", "--silent", "operator", "--", "--help"], { cwd: join(import.meta.dirname, "..") });
}
