/** The API reference at `/docs` in Chromium, with its Content-Security-Policy. */
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();
const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
let browser: Browser;
/** Shared, so that the scripts are loaded once. */
let context: BrowserContext;
let origin: string;

beforeAll(async () => {
  origin = `http://127.0.0.1:${await test.current.listen()}`;
  browser = await launchBrowser();
  context = await browser.newContext();
});

afterAll(async () => {
  await browser?.close();
});

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, uncaught errors, violations of the policy, and requests that left the server or failed. */
  readonly problems: readonly string[];
}

async function open(path: string, viewport = wide): Promise<Opened> {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  page.setDefaultTimeout(60_000);
  const problems: string[] = [];
  // Chromium reports violations of the policy as console errors.
  page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("requestfailed", (request) => problems.push(`${request.url()} failed`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`${request.url()} is not on this server`);
  });
  await page.goto(origin + path);
  return { page, problems, [Symbol.asyncDispose]: () => page.close() };
}

/** Waits until the text is visible. */
const see = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor();

/** The row of a field in a table of fields, or of a parameter. */
const rowOf = (page: Page, name: string) =>
  page
    .locator(".tr, .m-table tr")
    .filter({ has: page.getByText(name, { exact: true }) })
    .filter({ visible: true });

describe.each([
  ["1440", wide],
  ["390", narrow],
])("in a window of %s pixels, the address of an endpoint shows", (_, viewport) => {
  it("its parameters with types, allowed values and descriptions", async () => {
    await using opened = await open("/docs#?route=get-/sites/environments/-env_id-/logs", viewport);
    const { page, problems } = opened;
    await page.getByText("Read an environment's log").filter({ visible: true }).first().waitFor();
    const file = rowOf(page, "file_name");
    await file.waitFor();
    expect(await file.innerText()).toContain("The log to read.");
    expect(await file.getByRole("option").allInnerTexts()).toEqual(
      ["-", "error", "access", "cache-perf"].map((value) => expect.stringContaining(value)),
    );
    expect(await rowOf(page, "lines").innerText()).toMatch(/integer.*Maximum number of lines\..*20000/s);
    expect(problems).toEqual([]);
  });

  it("the fields of its body, its error codes, and examples of both", async () => {
    await using opened = await open("/docs#?route=post-/sites", viewport);
    const { page, problems } = opened;
    const field = rowOf(page, "install_mode");
    await field.waitFor();
    expect(await field.innerText()).toMatch(/string enum.*Default: plain.*Allowed: new ┃ plain ┃ clone/s);
    await see(page, '"admin_password": "correct horse battery staple"');
    await page.getByRole("button", { name: "400", exact: true }).click();
    await see(page, "site_name_taken");
    await see(page, "Another site of the company has this display name");
    await page
      .getByRole("button", { name: /^example$/i })
      .filter({ visible: true })
      .click();
    await page.getByLabel("response body example").filter({ visible: true }).selectOption("The request is refused.");
    await see(page, /"code":\s*"site_name_taken"/);
    expect(problems).toEqual([]);
  });
});

describe("endpoints", () => {
  it("can be searched for and opened with the keyboard, which continues in the endpoint", async () => {
    await using opened = await open("/docs");
    const { page, problems } = opened;
    await page.getByPlaceholder("Filter").focus();
    await page.keyboard.type("search-and-replace");
    await page.getByRole("link", { name: "Create a site", exact: true }).waitFor({ state: "hidden" });
    const found = page.getByRole("link", { name: "Search and replace in the database" });
    const focused = found.and(page.locator(":focus"));
    for (let presses = 0; presses < 10 && (await focused.count()) === 0; presses += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/docs#?route=post-/sites/tools/search-and-replace`);
    await rowOf(page, "perform_replacement").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.locator("#operations-root :focus").count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it("are in the menu of a narrow window, which closes when one is chosen", async () => {
    await using opened = await open("/docs", narrow);
    const { page, problems } = opened;
    await see(page, "Sitewright creates, serves and deletes WordPress sites for companies.");
    const filter = page.getByPlaceholder("Filter");
    expect(await filter.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Menu" }).click();
    await filter.fill("Restart PHP");
    await page.getByRole("link", { name: "Restart PHP" }).click();
    await filter.waitFor({ state: "hidden" });
    await rowOf(page, "environment_id").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(narrow.width);
    expect(problems).toEqual([]);
  });

  it("can be called with a key, which is sent only to this server and not stored by the browser", async () => {
    await using opened = await open("/docs");
    const { page, problems } = opened;
    await page.getByRole("link", { name: "API key", exact: true }).click();
    const field = page.getByPlaceholder("api-token");
    await field.fill(test.current.company.api_key);
    expect(await field.getAttribute("autocomplete")).toBe("off");
    await page.getByRole("button", { name: "Set" }).click();
    await see(page, "Key Applied");
    await page.goto(`${origin}/docs#?route=get-/validate`);
    const called = page.waitForResponse(`${origin}/v2/validate`);
    await page.getByRole("button", { name: "Execute" }).click();
    expect((await called).status()).toBe(200);
    await see(page, test.current.company.company_id);
    const stored = "[localStorage.length, sessionStorage.length, document.cookie]";
    expect(await page.evaluate(stored)).toEqual([0, 0, ""]);
    expect(problems).toEqual([]);
  });

  it("are listed without JavaScript", async () => {
    const plain = await browser.newContext({ viewport: narrow, javaScriptEnabled: false });
    const page = await plain.newPage();
    await page.goto(`${origin}/docs`);
    expect(await page.locator("noscript p").innerText()).toMatch(/^This page needs JavaScript\..* openapi\.json\.$/);
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await page.getByRole("listitem").filter({ visible: true }).count()).toBe(Object.keys(endpoints).length);
    await plain.close();
  });
});
