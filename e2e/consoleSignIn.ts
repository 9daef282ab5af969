/** The owner's first sign-in at the console. */
import type { Page } from "playwright-core";
import { send } from "./http.ts";
import type { Installation } from "./installation.ts";
import { until } from "./until.ts";

/** The build gives way to everything else. */
const buildLimits = { deadlineSeconds: 60, intervalMilliseconds: 100 };

/** The password that the owner chooses. */
const password = "seven purple tractors sing";

/** Waits until the console is sent: it is built after the start, and not sent while control starts again. */
export function untilConsoleIsSent({ firstRun }: Installation): Promise<void> {
  return until(async () => {
    const { status } = await send("GET", firstRun.console_url);
    if (status !== 200) throw new Error(`The console answers ${status}`);
  }, buildLimits);
}

/** Opens a page of the console, signs in with the password of `first-run.json`, and chooses another one. */
export async function signInFirst(page: Page, installation: Installation, path: string): Promise<void> {
  await untilConsoleIsSent(installation);
  const { console_url: address, admin_email: email, admin_password: given } = installation.firstRun;
  await page.goto(`${address}${path}`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(given);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Current password").fill(given);
  await page.getByLabel("New password", { exact: true }).fill(password);
  await page.getByLabel("New password, once more").fill(password);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.waitForURL(`${address}${path}`);
}
