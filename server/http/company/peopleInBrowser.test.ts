/** People and invitations in the console, in Chromium. */
import { expect, it } from "vitest";
import { problemsOf, useConsolePages } from "../testing/consolePages.ts";
import { chosen, peopleOf } from "../testing/people.ts";

const pages = useConsolePages();

it("lets an invited person choose a password, and then shows the only site that they have", async () => {
  const { server, origin, openPage } = pages.current;
  const siteId = await server.addSite({ display_name: "Theirs" });
  await server.addSite({ display_name: "Somebody else's" });
  const body = { email: "client@example.com", role: "viewer", site_ids: [siteId] };
  const invited = await server.call("POST", `/v2/company/${server.company.company_id}/invitations`, { body });
  const page = await openPage(`/invitation#${String(invited.body.url).split("#")[1]}`);
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
  await page.context().close();
});

it("invites a person to one site, shows the link once, changes what they may do, and removes them", async () => {
  const { server, open } = pages.current;
  const people = peopleOf({ current: server });
  await server.addSite({ display_name: "Garden" });
  const page = await open(await people.add({ role: "owner" }), "/people");
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
  await page.context().close();
});

it("keeps that somebody has no sites when only their role is changed", async () => {
  const { server, open } = pages.current;
  await server.addSite({ display_name: "Not theirs" });
  const people = peopleOf({ current: server });
  const email = await people.add({ role: "viewer", siteIds: [] });
  const page = await open(await people.add({ role: "owner" }), "/people");
  const row = page.getByRole("listitem").filter({ hasText: email });
  await row.getByText("No site").waitFor();
  await row.getByRole("button", { name: "Change the role and sites" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Role" }).click();
  await page.getByRole("option", { name: "Developer" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Developer", { exact: true }).waitFor();
  await row.getByText("No site").waitFor();
  const session = await people.signIn(email);
  expect((await people.call(session, "GET", "/sites")).body.company.sites).toEqual([]);
  await page.context().close();
});

it("keeps the labels of somebody who has no other sites when only their role is changed", async () => {
  const { server, open } = pages.current;
  const path = `/v2/company/${server.company.company_id}/labels`;
  const { label } = (await server.call("POST", path, { body: { name: "Client A" } })).body;
  const people = peopleOf({ current: server });
  const email = await people.add({ role: "viewer", siteIds: [], labelIds: [label.id] });
  const page = await open(await people.add({ role: "owner" }), "/people");
  const row = page.getByRole("listitem").filter({ hasText: email });
  await row.getByRole("button", { name: "Change the role and sites" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Role" }).click();
  await page.getByRole("option", { name: "Developer" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Developer", { exact: true }).waitFor();
  await row.getByText("Only sites labelled Client A").waitFor();
  await page.context().close();
});
