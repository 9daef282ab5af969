/** The console in Chromium, with the sites of a large company: the first load, a search, and scrolling. */
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { signInFirst } from "@sitewright/e2e/consoleSignIn.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import type { Browser, Page } from "playwright-core";
import { atMost, atMostBytes, type Figure } from "./report.ts";
import { median, timed } from "./statistics.ts";

const loads = 9;
const wheelTurns = 100;
const wheelPixels = 2_000;

/** Measured in the page, in milliseconds and bytes. */
interface Load {
  readonly usable: number;
  readonly scripts: number;
}

const row = (page: Page) =>
  page
    .getByRole("main")
    .getByRole("link", { name: /^Site / })
    .first();

/** Runs in the page before its scripts: notes when the first row is shown. */
const noteFirstRow = `window.firstRow = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector("main a[href*='/sites/']:not([href$='/new'])") === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  }).observe(document, { subtree: true, childList: true });
});`;

/** Loads the list of sites with an empty cache. It is usable when its first row is shown. */
async function load(browser: Browser, signedIn: Page): Promise<Load> {
  const context = await browser.newContext({ storageState: await signedIn.context().storageState() });
  try {
    const page = await context.newPage();
    await page.addInitScript(noteFirstRow);
    await page.goto(signedIn.url(), { waitUntil: "commit" });
    return await page.evaluate(`window.firstRow.then((shown) => ({
      usable: shown - performance.getEntriesByType("navigation")[0].responseStart,
      scripts: performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    }))`);
  } finally {
    await context.close();
  }
}

/** Returns the milliseconds of the longest task of the page while it is scrolled to its end. */
async function longestTaskOfScrolling(page: Page): Promise<number> {
  await page.evaluate(`{
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: "longtask" });
  }`);
  for (let turn = 0; turn < wheelTurns; turn += 1) await page.mouse.wheel(0, wheelPixels);
  await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
  await row(page).waitFor();
  return await page.evaluate("window.longest");
}

/** The sites must have names that begin with `Site`, and one name must contain `-5000`. */
export async function measureConsolePages(installation: Installation): Promise<Figure[]> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await signInFirst(page, installation, "sites");
    await row(page).waitFor();
    const measured: Load[] = [];
    for (let count = 0; count < loads; count += 1) measured.push(await load(browser, page));
    const longest = await longestTaskOfScrolling(page);
    const search = await timed(async () => {
      await page.getByRole("searchbox", { name: "Search by name" }).fill("-5000");
      await page.locator("table[aria-rowcount='2']").waitFor();
    });
    return [
      atMostBytes(
        "the console's first load: compressed scripts",
        median(measured.map(({ scripts }) => scripts)),
        250e3,
        "",
      ),
      atMost(
        `– from the first byte until the first of 10,000 sites is shown, median of ${loads}`,
        median(measured.map(({ usable }) => usable)),
        1_000,
      ),
      atMost("– scrolling through all of them: longest task of the page", longest, 100),
      atMost("– from typing in the search field until its only match is shown", search.milliseconds, 1_000),
    ];
  } finally {
    await browser.close();
  }
}
