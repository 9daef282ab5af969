/** Signing in at the console in Chromium through a real provider. */
import { randomUUID } from "node:crypto";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import { makeSignInProvider } from "@sitewright/server/openid/signInProvider.ts";
import { startProvider, type TestProvider } from "@sitewright/server/openid/testing/provider.ts";
import { silentLog } from "@sitewright/server/testing/engine.ts";
import { Secret, TOTP } from "otpauth";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtConsole } from "./testing/console.ts";
import { problemsInBothSchemes } from "./testing/consolePages.ts";
import { chosen, peopleOf } from "./testing/people.ts";
import { startTestServer, type TestServer } from "./testing/server.ts";

let provider: TestProvider;
let server: TestServer & AsyncDisposable;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  provider = await startProvider([]);
  const signInProvider = makeSignInProvider(provider.settings, silentLog);
  server = await startTestServer({ console: await builtConsole(), signInProvider });
  origin = `http://localhost:${await server.listen()}`;
  await provider.tell({ kind: "redirect", uris: [`${origin}/sign-in/provider`] });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

async function openPage(path: string) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}${path}`);
  return { page, [Symbol.asyncDispose]: () => context.close() };
}

/** Axe finds nothing at both widths and in both colour schemes, and the page is as wide as its window. */
async function expectNoProblems(page: Page): Promise<void> {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await problemsInBothSchemes(page)).toEqual([]);
    expect(await page.evaluate(`document.documentElement.scrollWidth - ${width}`)).toBe(0);
  }
}

const openProvider = (page: Page) => page.getByRole("button", { name: "Sign in with Example Login" }).click();

/** Fills in the forms of the provider, which remembers the person. */
async function signInThere(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("anything");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

it("links an account with the password, signs in with it alone, unlinks it, and links it again", async () => {
  const email = await peopleOf({ current: server }).add({ role: "developer" });
  await using opened = await openPage("/account");
  const { page } = opened;
  await page.getByRole("button", { name: "Sign in with Example Login" }).waitFor();
  await expectNoProblems(page);
  await openProvider(page);
  await signInThere(page, email);
  await page.getByText("is not linked to your user here yet").waitFor();
  await expectNoProblems(page);
  await page.getByLabel("Your password here").fill("wrong");
  await page.getByRole("button", { name: "Link and sign in" }).click();
  await page.getByText("The e-mail address or the password is wrong.").waitFor();
  await page.getByLabel("Your password here").fill(chosen);
  await page.getByRole("button", { name: "Link and sign in" }).click();

  await page.getByText(`Example Login: ${email}`).waitFor();
  expect(new URL(page.url()).pathname).toBe("/account");
  await expectNoProblems(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await openProvider(page);
  await page.getByText("Hello Grace").waitFor();

  await page.goto(`${origin}/account`);
  await page.getByRole("button", { name: "Unlink Example Login" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It will no longer sign you in.").waitFor();
  await expectNoProblems(page);
  await dialog.getByLabel("Current password", { exact: true }).fill(chosen);
  await dialog.getByRole("button", { name: "Unlink Example Login" }).click();
  await page.getByRole("button", { name: "Link your account at Example Login" }).click();
  await page.getByText(`Sign in here with ${email} from now on.`).waitFor();
  await expectNoProblems(page);
  await page.getByLabel("Current password", { exact: true }).fill(chosen);
  await page.getByRole("button", { name: "Link the account" }).click();
  await page.getByText(`Example Login: ${email}`).waitFor();
});

it("asks for a second factor", async () => {
  const people = peopleOf({ current: server });
  const email = await people.add({ role: "viewer" });
  const cookie = await people.signIn(email);
  const factor = "/session/second-factor";
  const { secret } = (await people.call(cookie, "POST", factor, { body: { current_password: chosen } })).body;
  const code = (steps: number) =>
    TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });
  expect((await people.call(cookie, "PUT", factor, { body: { code: code(0) } })).status).toBe(200);
  await using opened = await openPage("/activity");
  const { page } = opened;
  await openProvider(page);
  await signInThere(page, email);
  await page.getByLabel("Your password here").fill(chosen);
  await page.getByRole("button", { name: "Link and sign in" }).click();
  await page.getByText("Enter a code of your authenticator app").waitFor();
  await expectNoProblems(page);
  await page.getByLabel("Code", { exact: true }).fill(code(1));
  await page.getByRole("button", { name: "Link and sign in" }).click();
  await page.getByRole("heading", { name: "Activity" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/activity");
});

it("accepts an invitation, and makes nobody else a user", async () => {
  const email = `${randomUUID()}@example.com`;
  await using opened = await openPage("/sign-in");
  const { page } = opened;
  await openProvider(page);
  await signInThere(page, email);
  await page.getByText(`Nobody here has the e-mail address ${email}`).waitFor();
  await expectNoProblems(page);
  const path = `/v2/company/${server.company.company_id}/invitations`;
  expect((await server.call("POST", path, { body: { email, role: "viewer" } })).status).toBe(201);
  await page.getByRole("link", { name: "Back to signing in" }).click();
  await openProvider(page);
  await page.getByText(`You are invited as ${email}.`).waitFor();
  await expectNoProblems(page);
  await page.getByLabel("Your full name").fill("Grace Hopper");
  const password = page.getByLabel("Choose a password of at least 12 characters");
  await password.fill("password1234");
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByText("This password is easy to guess.").waitFor();
  await password.fill("green umbrella whispers loudly");
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByText("Hello Grace").waitFor();
});

it("says that an answer was used before, and that the provider does not answer", async () => {
  await using opened = await openPage("/sign-in/provider?code=1e5&state=another");
  const { page } = opened;
  await page
    .getByText("This sign-in has expired, was used before, or has begun in another browser or session.")
    .waitFor();
  await expectNoProblems(page);
  await page.getByRole("link", { name: "Back to signing in" }).click();
  const stopped = await startProvider([]);
  await stopped[Symbol.asyncDispose]();
  const signInProvider = makeSignInProvider(stopped.settings, silentLog);
  await using other = await startTestServer({ console: await builtConsole(), signInProvider });
  await page.goto(`http://localhost:${await other.listen()}/sign-in`);
  await openProvider(page);
  await page.getByText("Example Login does not answer. Sign in with your password, or try again later.").waitFor();
  await expectNoProblems(page);
});
