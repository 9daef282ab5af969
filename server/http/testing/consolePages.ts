/** The console in Chromium, for tests. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { builtConsole } from "./console.ts";
import { chosen } from "./people.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface PageOptions extends BrowserContextOptions {
  /** Runs before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

interface ConsolePages {
  readonly server: TestServer;
  readonly origin: string;
  /** Opens a page in a new context, in which nobody has signed in. */
  openPage(path: string, options?: PageOptions): Promise<Page>;
  /** Opens a page in a new context and signs in there. */
  open(email: string, path: string, options?: PageOptions): Promise<Page>;
}

/** One server and one browser for all tests of a file. */
export function useConsolePages(options: TestServerOptions = {}): { readonly current: ConsolePages } {
  let server: (TestServer & AsyncDisposable) | undefined;
  let browser: Browser | undefined;
  let made: ConsolePages | undefined;
  beforeAll(async () => {
    const started = await startTestServer({ console: await builtConsole(), ...options });
    server = started;
    const origin = `http://127.0.0.1:${await started.listen()}`;
    const launched = await launchBrowser();
    browser = launched;
    const openPage: ConsolePages["openPage"] = async (path, { prepare, ...contextOptions } = {}) => {
      const page = await (await launched.newContext({ reducedMotion: "reduce", ...contextOptions })).newPage();
      page.setDefaultTimeout(60_000);
      await prepare?.(page);
      await page.goto(origin + path);
      return page;
    };
    made = {
      server: started,
      origin,
      openPage,
      open: async (email, path, pageOptions) => {
        const page = await openPage(path, pageOptions);
        await signIn(page, email);
        await page.getByRole("navigation", { name: "Main navigation" }).waitFor({ state: "attached" });
        return page;
      },
    };
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  return {
    get current() {
      if (!made) throw new Error("The pages exist only while tests run");
      return made;
    },
  };
}

/** Signs in with the form that the page shows. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(chosen);
  await page.getByRole("button", { name: "Sign in" }).click();
}

interface AxeChoice {
  /** Only this rule. Absent: all. */
  readonly rule?: string;
  /** Only what is in the first element that this selector finds. Absent: the page. */
  readonly within?: string;
}

/** Goes to another page of the console as its links do, without loading the console again. */
export const goTo = (page: Page, path: string): Promise<void> =>
  page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`);

/** The problems that axe finds, with the elements. */
export async function problemsOf(page: Page, { rule, within }: AxeChoice = {}): Promise<unknown> {
  const runOnly = rule === undefined ? {} : { runOnly: [rule] };
  const options = JSON.stringify({ ...runOnly, resultTypes: ["violations"] });
  const root = within === undefined ? "document" : `document.querySelector(${JSON.stringify(within)})`;
  // Half a megabyte, and hence sent only once for each document.
  if (await page.evaluate("window.axe === undefined")) await page.evaluate(`(() => { ${axe} })()`);
  return await page.evaluate(
    `axe.run(${root}, ${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
  );
}

/** The problems that axe finds in light colours, and those of contrast in dark ones. */
export async function problemsInBothSchemes(page: Page): Promise<unknown> {
  await page.emulateMedia({ colorScheme: "light" });
  const inLight = await problemsOf(page);
  await page.emulateMedia({ colorScheme: "dark" });
  return [inLight, await problemsOf(page, { rule: "color-contrast" })].flat();
}
