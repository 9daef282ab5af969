/** The console in Chromium, with its Content-Security-Policy. */
import type { Role } from "@sitewright/server/store/database.ts";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { problemsOf, signIn, useConsolePages } from "./testing/consolePages.ts";
import { chosen, peopleOf } from "./testing/people.ts";

const pages = useConsolePages();

const personOf = (role: Role) => peopleOf({ current: pages.current.server }).add({ role });

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
    const { server, origin, openPage } = pages.current;
    const email = await personOf("owner");
    const { siteId, liveId } = await server.addSiteWithEnvironment();
    await server.addBackup(liveId);
    const refused: string[] = [];
    const page = await openPage("/sites?search=nothing-like-it", {
      colorScheme: "light",
      viewport: { width: 390, height: 844 },
      prepare: async (opened) => {
        // A stream never ends, so the network would never be idle.
        await opened.route(/\/events(\?|$)/, (route) => route.fulfill({ status: 429, body: "" }));
        opened.on("console", (message) => message.text().includes("Content Security") && refused.push(message.text()));
      },
    });
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
    await page.context().close();
  },
);

it("shows the API's errors next to their fields, and follows an accepted site", async () => {
  const page = await pages.current.open(await personOf("owner"), "/sites/new");
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
  await pages.current.server.succeed(operationId);
  await page.getByRole("link", { name: "Open the site" }).waitFor();
  await page.context().close();
});

it("says why a link for a new password, or passkeys, can't be used now, and tries again", async () => {
  const broken = { status: 500, json: { message: "This answer is broken." } };
  const page = await pages.current.openPage("/password-reset#sp_nothing", {
    prepare: (opened) => opened.route(/password-resets\/check|sign-in-options/, (route) => route.fulfill(broken)),
  });
  await page.getByText("This answer is broken.").waitFor();
  await page.goto(`${pages.current.origin}/sign-in`);
  await page.getByRole("alert").getByText("This answer is broken.").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("This answer is broken.").first().waitFor({ state: "detached" });
  await page.goto(`${pages.current.origin}/password-reset#sp_nothing`);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.getByRole("link", { name: "Ask for a new link" }).waitFor();
  await page.context().close();
});

it("adds, tests and removes a redirect, and shows the API's errors next to its fields", async () => {
  const siteId = await pages.current.server.addSite();
  const page = await pages.current.open(await personOf("developer"), `/sites/${siteId}?tab=redirects`);
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
  await page.context().close();
});

it("asks for the password again when the session has ended, and keeps what was typed", async () => {
  const email = await personOf("owner");
  const page = await pages.current.open(email, "/sites/new");
  await page.getByLabel("Name of the site").fill("Half typed");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create the site" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail address").fill(email);
  await dialog.getByLabel("Password", { exact: true }).fill(chosen);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.getByLabel("Name of the site").inputValue()).toBe("Half typed");
  await page.context().close();
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
  const { origin, open, openPage } = pages.current;
  const [owner, viewer] = [await personOf("owner"), await personOf("viewer")];
  const viewport = { width: 390, height: 844 };
  const page = await open(owner, "/account", { viewport });
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

  const theirs = await openPage("/sites", { viewport });
  await signIn(theirs, viewer);
  await theirs.getByRole("heading", { name: "Second factor" }).waitFor();
  await addSecondFactor(theirs);
  expect([await problemsOf(theirs), await theirs.evaluate("document.documentElement.scrollWidth")]).toEqual([[], 390]);
  await theirs.getByRole("button", { name: "I have saved them" }).click();
  await theirs.waitForURL(`${origin}/sites`);
  await page.reload();
  await page.getByRole("button", { name: "Make it optional" }).click();
  await page.getByText("A second factor is optional.").waitFor();
  await Promise.all([page.context().close(), theirs.context().close()]);
});
