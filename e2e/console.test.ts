/** The console of a started installation, as its owner meets it: from the password in `first-run.json` to a site, and out again. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { signInFirst, untilConsoleIsSent } from "./consoleSignIn.ts";
import { send } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { kill } from "./processes.ts";
import { createSite, succeed } from "./sites.ts";

let folder: TestFolder;
let installation: Installation;
let browser: Browser;
let page: Page;
let siteAddress: string;

beforeAll(async () => {
  folder = await createFolder();
  installation = await startHere(folder.folder);
  browser = await launchBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(60_000);
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await folder?.remove();
});

/** Changes the environment that the page of the site shows. */
const chooseEnvironment = (name: string) =>
  page.getByRole("radiogroup", { name: "Environment" }).getByText(name, { exact: true }).click();

async function titleOfTheSite(): Promise<string> {
  const { text } = await send("GET", siteAddress);
  return /<title>(.*?)<\/title>/.exec(text)?.[1] ?? "";
}

test("the console is built at the start, and the owner has to choose a password first", async () => {
  await signInFirst(page, installation, "sites/new");
});

test("the owner creates a site, watches until it opens, and logs in to its administration without a password", async () => {
  await page.getByLabel("Name of the site").fill("Bakery");
  await page.getByLabel("Title", { exact: true }).fill("The best bakery");
  await page.getByLabel("User name").fill("baker");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Create the site" }).click();
  const open = page.getByRole("link", { name: "Open the site" });
  const [site] = await Promise.all([page.context().waitForEvent("page"), open.click()]);
  await site.getByText("The best bakery").first().waitFor();
  siteAddress = site.url();
  await page.getByRole("link", { name: "Manage the site" }).click();
  const logIn = page.getByRole("button", { name: "Log in to WordPress" });
  const [administration] = await Promise.all([page.context().waitForEvent("page"), logIn.click()]);
  // Previews of links would use the link up, so it asks once more.
  await administration.getByRole("button", { name: "Log in" }).click();
  await administration.waitForURL(/\/wp-admin\//);
  await administration.locator("#wpadminbar").waitFor();
});

test("a text is replaced only after this replacement has been previewed", async () => {
  await page.getByRole("tab", { name: "Tools" }).click();
  const perform = page.getByRole("button", { name: "Replace", exact: true });
  await page.getByLabel("Search for").fill("Hello world!");
  await page.getByLabel("Replace with").fill("Good morning!");
  expect(await perform.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByRole("cell", { name: "post_title" }).waitFor();
  await page.getByLabel("Replace with").fill("Good evening!");
  expect(await perform.getAttribute("aria-disabled")).toBe("true");
  await page.getByLabel("Replace with").fill("Good morning!");
  await perform.click();
  await page.getByText("The text has been replaced.").waitFor();
});

test("what was typed outlasts a restart of control, and can be sent then", async () => {
  await page.getByRole("tab", { name: "Environments" }).click();
  const name = page.getByLabel("Name of the copy");
  await name.fill("Staging");
  await kill(installation.supervisor.pid ?? 0, "control");
  await untilConsoleIsSent(installation);
  expect(await name.inputValue()).toBe("Staging");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("The copy is ready.").waitFor();
});

test("a copy is pushed back only after its changes have been reviewed", async () => {
  await chooseEnvironment("Staging");
  const staging = new URL(page.url()).searchParams.get("environment");
  const wp_command = "wp option update blogname 'The finest bakery'";
  await succeed(installation, "POST", `/sites/environments/${staging}/run-wp-cli-command`, { wp_command });
  const push = page.getByRole("button", { name: "Push", exact: true });
  expect(await push.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Review the changes" }).click();
  await page.getByText(/No rows of the target's database are lost|Rows that exist only in the target/).waitFor();
  await push.click();
  await page.getByText("Pushed. The state before is a backup.").waitFor();
  expect(await titleOfTheSite()).toContain("The finest bakery");
});

test("the backup made before the push brings the earlier state back, once the name has been typed", async () => {
  await chooseEnvironment("Live");
  await page.getByRole("tab", { name: "Backups" }).click();
  const newest = page.getByRole("table", { name: "Backups" }).getByRole("row").nth(1);
  await newest.getByRole("button", { name: /^Restore the backup of/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Show what would change" }).click();
  await dialog
    .getByText(/No rows of the present database are lost|Rows of the present database that are lost/)
    .waitFor();
  const restore = dialog.getByRole("button", { name: "Restore", exact: true });
  expect(await restore.getAttribute("aria-disabled")).toBe("true");
  await dialog.getByLabel("Type Bakery to confirm").fill("Bakery");
  await restore.click();
  await page.getByRole("main").getByText("Done", { exact: true }).waitFor();
  expect(await titleOfTheSite()).toContain("The best bakery");
});

test("a domain is added, and the records that it needs are shown", async () => {
  await page.getByRole("link", { name: "Manage the site" }).click();
  await page.getByRole("tab", { name: "Domains" }).click();
  await page.getByLabel("Name", { exact: true }).fill("bakery.example");
  await page.getByRole("button", { name: "Add a domain" }).click();
  await page.getByText("The domain has been added. Set it up in the list above.").waitFor();
  await page.getByRole("button", { name: "Set up bakery.example" }).click();
  const records = page.getByRole("dialog").getByRole("table", { name: "DNS records" });
  await records.getByText("bakery.example").first().waitFor();
  await page.keyboard.press("Escape");
});

test("an API key works until it is revoked", async () => {
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Purpose").fill("Deploy");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const shown = page.getByRole("status").filter({ hasText: "Your new API key" });
  const token = (await shown.textContent())?.match(/sk_[0-9a-f]{32}_[\w-]{43}/)?.[0] ?? "";
  const validate = () => send("GET", `${installation.firstRun.api_url}/validate`, { key: token });
  expect((await validate()).status).toBe(200);
  await page.getByRole("button", { name: "Revoke Deploy" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type Deploy to confirm").fill("Deploy");
  await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "Deploy" }).getByText("Revoked").waitFor();
  expect((await validate()).status).toBe(401);
});

test("an open page continues when the API is started again, and shows what happened meanwhile", async () => {
  await page.getByRole("link", { name: "Sites" }).click();
  await page.getByText("Bakery").first().waitFor();
  const { pid } = installation.supervisor;
  if (pid === undefined) throw new Error("The supervisor is not running");
  await kill(pid, "control");
  await untilConsoleIsSent(installation);
  await createSite(installation, { display_name: "Florist" });
  await page.getByText("Florist").first().waitFor();
});

test("after signing out, the page wants a password and the old cookie is refused", async () => {
  const { console_url: address, api_url: api } = installation.firstRun;
  const cookies = await page.context().cookies(address);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const session = () => fetch(`${api}/session`, { headers: { cookie } });
  expect((await session()).status).toBe(200);
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("E-mail address").waitFor();
  expect((await session()).status).toBe(401);
});
