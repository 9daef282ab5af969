/** The console in Chromium, with its Content-Security-Policy. */
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { Secret, TOTP } from "otpauth";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtConsole } from "./testing/console.ts";
import { problemsOf, signIn } from "./testing/consolePages.ts";
import { chosen, peopleOf } from "./testing/people.ts";
import { startTestServer, type TestServer } from "./testing/server.ts";

let server: TestServer & AsyncDisposable;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  server = await startTestServer({ console: await builtConsole() });
  origin = `http://127.0.0.1:${await server.listen()}`;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

const everyPage = {
  "the company": [
    "/",
    "/sites",
    "/sites/new",
    "/deleted-sites",
    "/usage",
    "/fleet?tab=vulnerabilities",
    "/fleet?tab=plugins",
    "/fleet?tab=rollouts",
    "/dns",
    "/people",
    "/activity",
    "/account",
    "/api-keys",
    "/nothing",
  ],
  "a site": [
    "overview",
    "analytics",
    "updates",
    "backups",
    "domains",
    "environments",
    "redirects",
    "tools",
    "mail",
    "settings",
    "logs",
  ],
};

it.each(["the company", "a site"] as const)(
  "has no page about %s that axe objects to, in light and dark colours and at 390 pixels",
  async (subject) => {
    const email = await peopleOf({ current: server }).add({ role: "owner" });
    const { siteId, liveId } = await server.addSiteWithEnvironment();
    await server.addBackup(liveId);
    const context = await browser.newContext({
      colorScheme: "light",
      reducedMotion: "reduce",
      viewport: { width: 390, height: 844 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    // A stream never ends, so the network would never be idle.
    await page.route(/\/events(\?|$)/, (route) => route.fulfill({ status: 429, body: "" }));
    const refused: string[] = [];
    page.on("console", (message) => message.text().includes("Content Security") && refused.push(message.text()));
    await page.goto(`${origin}/sites?search=nothing-like-it`);
    await page.getByLabel("E-mail address").waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await signIn(page, email);
    await page.getByText("No site's name contains").waitFor();
    expect(page.url()).toBe(`${origin}/sites?search=nothing-like-it`);
    const found: unknown[] = [];
    for (const name of everyPage[subject]) {
      const path = subject === "a site" ? `/sites/${siteId}?tab=${name}` : name;
      await page.goto(origin + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      const problems = [path, await problemsOf(page), await page.evaluate("document.documentElement.scrollWidth")];
      await page.emulateMedia({ colorScheme: "dark" });
      found.push([...problems, await problemsOf(page, { rule: "color-contrast" })]);
      await page.emulateMedia({ colorScheme: "light" });
    }
    expect(found).toEqual(found.map((row) => [Object(row)[0], [], 390, []]));
    expect(refused).toEqual([]);
    await context.close();
  },
);

it("shows the API's errors next to their fields, and follows an accepted site", async () => {
  const email = await peopleOf({ current: server }).add({ role: "owner" });
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/sites/new`);
  await signIn(page, email);
  await page.getByRole("button", { name: "Create the site" }).click();
  const name = page.getByLabel("Name of the site");
  await page.getByText("Must not be empty").first().waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await name.fill("A new one");
  await page.getByLabel("Title", { exact: true }).fill("Hello");
  await page.getByLabel("User name").fill("ada");
  await page.getByLabel("E-mail address").fill("ada@example.com");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Create the site" }).click();
  await page.waitForURL(/\/operations\//);
  const operationId = decodeURIComponent(page.url().split("/operations/")[1] ?? "");
  await server.succeed(operationId);
  await page.getByRole("link", { name: "Open the site" }).waitFor();
  await context.close();
});

it("adds, tests and removes a redirect, and shows the API's errors next to its fields", async () => {
  const email = await peopleOf({ current: server }).add({ role: "developer" });
  const siteId = await server.addSite();
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/sites/${siteId}?tab=redirects`);
  await signIn(page, email);
  await page.getByRole("button", { name: "Add a redirect" }).click();
  const from = page.getByRole("textbox", { name: "From" });
  await page.getByText("Must have 1 to 1000 characters").waitFor();
  expect(await from.getAttribute("aria-invalid")).toBe("true");
  await from.fill("/old");
  await page.getByRole("textbox", { name: "To", exact: true }).fill("/new");
  await page.getByRole("button", { name: "Add a redirect" }).click();
  await page.getByRole("cell", { name: "/new" }).waitFor();
  await page.getByRole("textbox", { name: "Address" }).fill("/old");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("Redirected with status 301 to /new").waitFor();
  await page.getByRole("button", { name: "Remove the redirect from /old" }).click();
  await page.getByText("There are no redirects yet").waitFor();
  await context.close();
});

it("asks for the password again when the session has ended, and keeps what was typed", async () => {
  const email = await peopleOf({ current: server }).add({ role: "owner" });
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/sites/new`);
  await signIn(page, email);
  await page.getByLabel("Name of the site").fill("Half typed");
  await context.clearCookies();
  await page.getByRole("button", { name: "Create the site" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail address").fill(email);
  await dialog.getByLabel("Password", { exact: true }).fill(chosen);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.getByLabel("Name of the site").inputValue()).toBe("Half typed");
  await context.close();
});

it("lets an invited person choose a password, and then shows the only site that they have", async () => {
  const siteId = await server.addSite({ display_name: "Theirs" });
  await server.addSite({ display_name: "Somebody else's" });
  const body = { email: "client@example.com", role: "viewer", site_ids: [siteId] };
  const invited = await server.call("POST", `/v2/company/${server.company.company_id}/invitations`, { body });
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/invitation#${String(invited.body.url).split("#")[1]}`);
  await page.getByText("Ours invites client@example.com").waitFor();
  expect(await problemsOf(page)).toEqual([]);
  await page.getByLabel("Your full name").fill("Grace Hopper");
  const password = page.getByLabel("Choose a password of at least 12 characters");
  await password.fill("password1234");
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByText("This password is easy to guess.").waitFor();
  await password.fill(chosen);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByRole("heading", { name: "Hello Grace" }).waitFor();
  await page.goto(`${origin}/sites`);
  await page.getByText("Theirs", { exact: true }).first().waitFor();
  expect(await page.getByText("Somebody else's").count()).toBe(0);
  await context.close();
});

it("invites a person to one site, shows the link once, changes what they may do, and removes them", async () => {
  const people = peopleOf({ current: server });
  const email = await people.add({ role: "owner" });
  await server.addSite({ display_name: "Garden" });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/people`);
  await signIn(page, email);
  await page.getByRole("button", { name: "Invite somebody" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create the link" }).click();
  await dialog.getByText("Must be an e-mail address").waitFor();
  expect(await problemsOf(page)).toEqual([]);
  await dialog.getByLabel("E-mail address").fill("gardener@example.com");
  await dialog.getByRole("checkbox", { name: "All sites" }).uncheck();
  await dialog.getByRole("combobox", { name: "Only these sites" }).fill("gard");
  await page.getByRole("option", { name: "Garden" }).click();
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: "Create the link" }).click();
  await dialog.getByText("/invitation#si_").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  const invitations = page.getByRole("region", { name: "Open invitations" });
  await invitations.getByText("gardener@example.com").waitFor();
  await invitations.getByRole("button", { name: "Withdraw the invitation of gardener@example.com" }).click();
  await invitations.getByText("gardener@example.com").waitFor({ state: "hidden" });

  const viewer = await people.add({ role: "viewer" });
  await page.reload();
  const row = page.getByRole("listitem").filter({ hasText: viewer });
  await row.getByRole("button", { name: "Change the role and sites" }).click();
  await dialog.getByRole("combobox", { name: "Role" }).click();
  await page.getByRole("option", { name: "Developer" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Developer", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Remove" }).click();
  await dialog.getByLabel("Type Grace Hopper to confirm").fill("Grace Hopper");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "hidden" });
  await context.close();
});

/** Adds a second factor with the form on the page. Returns the secret that it shows. */
async function addSecondFactor(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Add an authenticator app" }).click();
  await page.getByLabel("Current password", { exact: true }).first().fill(chosen);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  const secret = (await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? "";
  await page.getByLabel("Code", { exact: true }).fill(codeOf(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("Your recovery codes").waitFor();
  return secret;
}

/** `steps`: how many steps of 30 seconds from now. Each code is accepted once. */
const codeOf = (secret: string, steps = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });

it("adds a second factor, which the next sign-in needs, and requires one of everybody", async () => {
  const people = peopleOf({ current: server });
  const [owner, viewer] = [await people.add({ role: "owner" }), await people.add({ role: "viewer" })];
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/account`);
  await signIn(page, owner);
  const secret = await addSecondFactor(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByText("10 recovery codes are left.").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, owner);
  await page.getByLabel("Code", { exact: true }).fill("000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The code is wrong").waitFor();
  await page.getByLabel("Code", { exact: true }).fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Hello Grace" }).waitFor();
  await page.goto(`${origin}/people`);
  await page.getByRole("button", { name: "Require a second factor" }).click();
  await page.getByText("Everybody needs a second factor.").waitFor();

  const other = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
  const theirs = await other.newPage();
  theirs.setDefaultTimeout(60_000);
  await theirs.goto(`${origin}/sites`);
  await signIn(theirs, viewer);
  await theirs.getByRole("heading", { name: "Second factor" }).waitFor();
  await addSecondFactor(theirs);
  expect([await problemsOf(theirs), await theirs.evaluate("document.documentElement.scrollWidth")]).toEqual([[], 390]);
  await theirs.getByRole("button", { name: "I have saved them" }).click();
  await theirs.waitForURL(`${origin}/sites`);
  await page.reload();
  await page.getByRole("button", { name: "Make it optional" }).click();
  await page.getByText("A second factor is optional.").waitFor();
  await Promise.all([context.close(), other.close()]);
});
