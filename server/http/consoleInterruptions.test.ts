/** The console in Chromium while something gets in the way: limits, faults, another tab, another role, and names that are scripts. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { useConsolePages } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";

const pages = useConsolePages();

/** A new owner's page with the form for a new site, of which the name is filled in. */
async function openForm(name = "Bakery"): Promise<{ readonly email: string; readonly page: Page }> {
  const email = await peopleOf({ current: pages.current.server }).add({ role: "owner" });
  const page = await pages.current.open(email, "/sites/new");
  await page.getByLabel("Name of the site").fill(name);
  return { email, page };
}

/** Fills in the rest and sends the form. */
async function send(page: Page): Promise<void> {
  await page.getByLabel("Title", { exact: true }).fill("The best bakery");
  await page.getByLabel("User name").fill("baker");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Create the site" }).click();
}

it.each([
  [429, "Too many requests. Try again in 30 seconds."],
  [500, "Something went wrong here. Please try again."],
])("shows the sentence of a response with status %i, and keeps the form", async (status, message) => {
  const name = `Bakery ${status}`;
  const { page } = await openForm(name);
  await page.route(/\/v2\/sites$/, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status, headers: { "retry-after": "30" }, json: { message, status, data: null } })
      : route.continue(),
  );
  await send(page);
  await page.getByRole("alert").getByText(message).waitFor();
  expect(await page.getByLabel("Name of the site").inputValue()).toBe(name);
  await page.unroute(/\/v2\/sites$/);
  await page.getByRole("button", { name: "Create the site" }).click();
  await page.getByRole("heading", { name: "Creating a site" }).waitFor();
  await page.context().close();
});

it("wants the password in every tab after signing out in one", async () => {
  const { page } = await openForm();
  const other = await page.context().newPage();
  await other.goto(new URL("/account", page.url()).href);
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("dialog").getByLabel("E-mail address").waitFor();
  expect(await page.getByLabel("Name of the site").inputValue()).toBe("Bakery");
  await page.context().close();
});

it("says what a role may not do as soon as somebody changes it", async () => {
  const { email, page } = await openForm();
  const { server } = pages.current;
  const users = `/v2/company/${server.company.company_id}/users`;
  const { body } = await server.call("GET", users);
  const { user } = body.company.users.find((each: { user: { email: string } }) => each.user.email === email);
  await server.call("PUT", `${users}/${user.id}`, { body: { role: "viewer", site_ids: null } });
  const create = page.getByRole("button", { name: "Create the site" });
  await expect.poll(() => create.getAttribute("aria-disabled"), { timeout: 30_000 }).toBe("true");
  await page.context().close();
});

it("shows names that are scripts as text", async () => {
  const name = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
  const { page } = await openForm();
  const siteId = await pages.current.server.addSite({ display_name: name });
  for (const path of ["/sites", `/sites/${siteId}`, "/activity"]) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByText(name).first().waitFor();
    expect(await page.title()).not.toBe("owned");
  }
  await page.context().close();
});
