/** The built demo in Chromium, served by a server that has nothing but its files. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { builtConsole } from "@sitewright/server/http/testing/console.ts";
import { problemsInBothSchemes } from "@sitewright/server/http/testing/consolePages.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildDemo } from "../build/buildDemo.ts";
import { type ServedDemo, serveDemo } from "./testing/serve.ts";
import { idOf } from "./world/ids.ts";

let folder: string;
let served: ServedDemo;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sitewright-demo-"));
  await buildDemo(folder);
  served = await serveDemo(folder);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the demo in a new tab. `query`: of the address, such as `?answers=500`. */
async function open(path: string, { query = "", width = 1440 } = {}): Promise<Page> {
  const viewport = { width, height: 900 };
  const page = await (await browser.newContext({ reducedMotion: "reduce", viewport })).newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${served.address}${query}#${path}`);
  return page;
}

const harbour = `/sites/${idOf("site harbour-cafe")}`;

const textOf = async (where: string): Promise<string> => {
  const names = (await readdir(where)).filter((name) => /\.(js|html)$/.test(name));
  return (await Promise.all(names.map((name) => readFile(join(where, name), "utf8")))).join("\n");
};

it("is not a part of the product's console", async () => {
  const product = await textOf((await builtConsole()).folder);
  const demo = await textOf(folder);
  for (const word of ["Meadow Web Studio", "sitewrightDemo", "demo-note"]) {
    expect(demo).toContain(word);
    expect(product).not.toContain(word);
  }
});

it("says that it is one, and needs nothing but its files in any folder", async () => {
  const page = await open("/");
  await page.getByRole("heading", { name: "Hello Ada" }).waitFor();
  await page.getByText("Demo: everything here is invented").first().waitFor();
  await page.goto(`${served.address}#${harbour}?tab=backups`);
  await page.reload();
  await page.getByRole("heading", { name: "Harbour Café" }).waitFor();
  expect(served.missing).toEqual([]);
  await page.context().close();
});

it.each([390, 1440])("has nothing that axe objects to, at %i pixels", async (width) => {
  const page = await open("/", { width });
  const found: unknown[] = [];
  const pages = {
    "#/": "Hello Ada",
    "#/sites": "Sites",
    [`#${harbour}?tab=analytics`]: "Harbour Café",
    "#/people": "People",
    "#/usage": "Usage and limits",
    "#/fleet?tab=plugins": "Plugins and themes",
    "nothing-here.html": "Not in the demo",
  };
  for (const [address, name] of Object.entries(pages)) {
    await page.goto(served.address + address);
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "hidden" });
    found.push([
      address,
      await problemsInBothSchemes(page),
      await page.evaluate("document.documentElement.scrollWidth"),
    ]);
  }
  expect(found).toEqual(found.map((row) => [Object(row)[0], [], width]));
  await page.context().close();
});

it("shows what the contract rejects next to the fields, and follows a new site until it is there", async () => {
  const page = await open("/sites/new");
  await page.getByRole("button", { name: "Create the site" }).click();
  const name = page.getByLabel("Name of the site");
  await page.getByText("Must not be empty").first().waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await name.fill("Harbour Café");
  await page.getByLabel("Title", { exact: true }).fill("Hello");
  await page.getByLabel("User name").fill("ada");
  await page.getByLabel("E-mail address").fill("ada@meadow.example");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Create the site" }).click();
  await page.getByText("There is already a site with the name “Harbour Café”").waitFor();
  await name.fill("A new one");
  await page.getByRole("button", { name: "Create the site" }).click();
  await page.waitForURL(/#\/operations\//);
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Open the site" }).click();
  await (await opened).getByRole("heading", { name: "Not in the demo" }).waitFor();
  await page.evaluate(`location.hash = "#/sites"`);
  await page.getByText("A new one", { exact: true }).waitFor();
  await page.context().close();
});

it("adds a domain, and shows that it points here as soon as the demo has seen its records", async () => {
  const page = await open(`${harbour}?tab=domains`);
  const [name, add] = [page.getByLabel("Name", { exact: true }), page.getByRole("button", { name: "Add a domain" })];
  await name.fill("http://shop");
  await add.click();
  await page.getByText("Write a domain name such as shop.example.com").waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await name.fill("shop.meadow.example");
  await add.click();
  const row = page.getByRole("row", { name: /shop\.meadow\.example/ });
  await row.getByText("Does not point here yet").waitFor();
  await row.getByText("Points here").waitFor();
  await page.context().close();
});

it("asks for the password again when the session has ended, and keeps what was typed", async () => {
  const page = await open("/sites/new", { query: "?answers=expired" });
  await page.getByLabel("Name of the site").fill("Half typed");
  await page.getByRole("button", { name: "Create the site" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail address").fill("nobody@meadow.example");
  await dialog.getByLabel("Password", { exact: true }).fill("whatever it is");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("Nobody of the demo has this address").waitFor();
  await dialog.getByLabel("E-mail address").fill("ada@meadow.example");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.getByLabel("Name of the site").inputValue()).toBe("Half typed");
  await page.context().close();
});

it("shows an internal error and too many requests for what they are", async () => {
  const page = await open("/sites/new");
  const button = page.getByRole("button", { name: "Create the site" });
  // The regions, whose failure would be another alert.
  await page.locator('input[value="This machine"]').first().waitFor({ state: "attached" });
  await page.evaluate(`sitewrightDemo.behave("500")`);
  await button.click();
  await page.getByRole("alert").getByText("Error occurred while processing your request").waitFor();
  await page.evaluate(`sitewrightDemo.behave("429")`);
  await button.click();
  await page.getByRole("alert").getByText("Too many requests, please try again later.").waitFor();
  await page.context().close();
});

it("shows a lost connection until it is back", async () => {
  const page = await open("/sites");
  await page.getByText("Harbour Café").first().waitFor();
  await page.evaluate(`sitewrightDemo.behave("offline")`);
  await page.getByLabel("Search by name").fill("meadow");
  const note = page.getByRole("status").filter({ hasText: "Sitewright can't be reached" });
  await note.waitFor();
  await page.evaluate(`sitewrightDemo.behave("normal")`);
  await page.getByText("Meadow School").first().waitFor();
  await note.waitFor({ state: "hidden" });
  await page.context().close();
});

it("opens no other website", async () => {
  const page = await open(`/sites/${idOf("site old-mill-museum")}?tab=updates`);
  const opened = page.context().waitForEvent("page");
  const notes = page.getByRole("link", { name: /^What is new in/ }).first();
  await notes.click();
  await (await opened).getByRole("heading", { name: "Not in the demo" }).waitFor();
  await page.context().close();
});

it("signs out and in again, and undoes that when the page is loaded again", async () => {
  const page = await open("/account");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("The demo has no passkeys").first().waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Hello Ada" }).waitFor();
  await page.goto(`${served.address}#/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("E-mail address").fill("bruno@meadow.example");
  await page.getByLabel("Password", { exact: true }).fill("whatever it is");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Hello Bruno" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Hello Ada" }).waitFor();
  expect(served.missing).toEqual([]);
  await page.context().close();
});
