/** Signing in at the console in Chromium: with passkeys of a virtual authenticator, and with a link for a lost password. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { makeToken, readToken } from "@sitewright/server/app/company/token.ts";
import { insertResetLink } from "@sitewright/server/store/company/accountMails.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtConsole } from "./testing/console.ts";
import { chosen, peopleOf } from "./testing/people.ts";
import { startTestServer, type TestServer } from "./testing/server.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server: TestServer & AsyncDisposable;
let browser: Browser;
let port: number;

beforeAll(async () => {
  server = await startTestServer({ console: await builtConsole() });
  port = await server.listen();
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

/** Passkeys work at names, and not at addresses. */
const origin = () => `http://localhost:${port}`;

async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return page;
}

const newContext = () => browser.newContext({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });

/** The problems that axe finds at both widths and in both colour schemes, and how much wider the page is than its window. */
async function problemsOf(page: Page): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const script =
    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))";
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(await page.evaluate(`${axe}; ${script}`));
    }
    found.push(await page.evaluate(`document.documentElement.scrollWidth - ${width}`));
  }
  return found;
}

const none = [[], [], 0, [], [], 0];

async function signIn(page: Page, email: string, password = chosen): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** An authenticator of the browser's machine that checks its user. `isUserVerified`: whether it recognises them. */
async function addAuthenticator(context: BrowserContext, page: Page) {
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    recognise: (isUserVerified: boolean) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    passkeys: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Create the passkey" }) });
  await form.getByLabel("Current password", { exact: true }).fill(chosen);
  await form.getByRole("button", { name: "Create the passkey" }).click();
}

const hello = (page: Page) => page.getByRole("heading", { name: "Hello Grace" }).waitFor();

it("adds a passkey, signs in with it after the password and alone, and removes it", async () => {
  const email = await peopleOf({ current: server }).add({ role: "owner" });
  await using context = await newContext();
  const page = await newPage(context);
  const authenticator = await addAuthenticator(context, page);
  await page.goto(`${origin()}/account`);
  await page.getByText("Use a passkey").waitFor();
  expect(await problemsOf(page)).toEqual(none);
  await signIn(page, email);

  await addPasskey(page, "My laptop");
  await page.getByText("Your recovery codes").waitFor();
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByText("My laptop").waitFor();
  await page.getByText("10 recovery codes are left.").waitFor();
  expect(await authenticator.passkeys()).toMatchObject([{ rpId: "localhost", isResidentCredential: true }]);
  expect(await problemsOf(page)).toEqual(none);

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, email);
  await page.getByRole("button", { name: "Use your passkey" }).waitFor();
  expect(await problemsOf(page)).toEqual(none);
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await hello(page);

  await page.goto(`${origin()}/account`);
  await page
    .getByText(/last used/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await authenticator.recognise(false);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("No passkey was used.").waitFor();
  await authenticator.recognise(true);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await hello(page);

  await page.goto(`${origin()}/account`);
  await page.getByRole("button", { name: "Remove My laptop" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Your password alone will be enough").waitFor();
  expect(await problemsOf(page)).toEqual(none);
  await dialog.getByLabel("Current password", { exact: true }).fill(chosen);
  await dialog.getByRole("button", { name: "Remove My laptop" }).click();
  await page.getByText("Your password alone is enough to sign in.").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("The passkey was not accepted. It is unknown here").waitFor();
});

it("adds no passkey twice, says what the API says about a wrong password, and why there is none without a name", async () => {
  const email = await peopleOf({ current: server }).add({ role: "viewer" });
  await using context = await newContext();
  const page = await newPage(context);
  await addAuthenticator(context, page);
  await page.goto(`${origin()}/account`);
  await signIn(page, email);
  await addPasskey(page, "First");
  await page.getByRole("button", { name: "I have saved them" }).click();
  await addPasskey(page, "Second");
  await page.getByText("has a passkey of yours already").waitFor();
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Create the passkey" }) });
  await form.getByLabel("Current password", { exact: true }).fill("wrong");
  await form.getByRole("button", { name: "Create the passkey" }).click();
  await form.getByText("is wrong").waitFor();
  expect(await problemsOf(page)).toEqual(none);

  await page.goto(`http://127.0.0.1:${port}/sign-in`);
  const button = page.getByRole("button", { name: "Use a passkey" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  await expect.poll(() => page.getByText(`Open the console at ${origin()}.`).count()).toBeGreaterThan(0);
});

it("asks for a link, and lets its reader choose a password once", async () => {
  const email = await peopleOf({ current: server }).add({ role: "viewer" });
  await using context = await newContext();
  const page = await newPage(context);
  await page.goto(`${origin()}/sign-in`);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("E-mail address").waitFor();
  expect(await problemsOf(page)).toEqual(none);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText(`If somebody has the address ${email} here`).waitFor();
  expect(await problemsOf(page)).toEqual(none);

  const token = makeToken("reset");
  await insertResetLink(server.database, readToken(token, "reset"), { email, minutes: 30 });
  await page.goto(`${origin()}/password-reset#${token}`);
  const field = page.getByLabel("New password of at least 12 characters");
  await field.fill("password1234");
  await page.getByRole("button", { name: "Save the password" }).click();
  await page.getByText("This password is easy to guess.").waitFor();
  expect(await problemsOf(page)).toEqual(none);
  await field.fill("green umbrella whispers loudly");
  await page.getByRole("button", { name: "Save the password" }).click();
  await page.getByText("Your password has been changed.").waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await signIn(page, email, "green umbrella whispers loudly");
  await hello(page);

  const other = await newPage(context);
  await other.goto(`${origin()}/password-reset#${token}`);
  await other.getByText("This link is unknown, has expired, or was used.").waitFor();
  expect(await problemsOf(other)).toEqual(none);
});
