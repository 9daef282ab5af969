/** API keys in the console: what a new one is limited to, and what is revoked with one that has been rotated. */
import { expect, it } from "vitest";
import { useConsolePages } from "../testing/consolePages.ts";
import { peopleOf } from "../testing/people.ts";

const pages = useConsolePages();

const ownerOf = () => peopleOf({ current: pages.current.server }).add({ role: "owner" });

/** Adds a key and its successor. Returns the name of both, and the state of each by its id. */
async function addRotated(name: string) {
  const { addKey, call, company } = pages.current.server;
  const path = `/v2/company/${company.company_id}/api-keys`;
  const old = await addKey({ name });
  const rotated = await call("POST", `${path}/${old.id}/rotate`, { body: { overlap_hours: 24 }, key: old.token });
  const ids: readonly string[] = [old.id, rotated.body.api_key.id];
  const states = async () => {
    const keys: readonly { id: string; status: string }[] = (await call("GET", path)).body.api_keys;
    return ids.map((id) => keys.find((key) => key.id === id)?.status);
  };
  return { states };
}

it("revokes a rotated key without its successor, unless the person chooses both", async () => {
  const [one, other] = [await addRotated("Deploy"), await addRotated("Backup")];
  const page = await pages.current.open(await ownerOf(), "/api-keys");
  const dialog = page.getByRole("dialog");
  // The older of the two keys with this name is the lower one.
  const revoke = async (name: string) => {
    await page
      .getByRole("button", { name: `Revoke ${name}` })
      .last()
      .click();
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  };
  await revoke("Deploy");
  expect(await dialog.getByRole("radio", { name: "Revoke only this key" }).isChecked()).toBe(true);
  await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await one.states()).toEqual(["revoked", "active"]);
  await revoke("Backup");
  await dialog.getByRole("radio", { name: "Revoke its successor, too" }).check();
  await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await other.states()).toEqual(["revoked", "revoked"]);
  await page.context().close();
});

it("does not ask about a successor if there is none", async () => {
  await pages.current.server.addKey({ name: "Only one" });
  const page = await pages.current.open(await ownerOf(), "/api-keys");
  await page.getByRole("button", { name: "Revoke Only one" }).click();
  await page.getByLabel("Type Only one to confirm").waitFor();
  expect(await page.getByRole("radio").count()).toBe(0);
  await page.context().close();
});

it("creates a key that can only read, and only sites with a label", async () => {
  const { call, company } = pages.current.server;
  const path = `/v2/company/${company.company_id}/labels`;
  const { label } = (await call("POST", path, { body: { name: "Client A" } })).body;
  const page = await pages.current.open(await ownerOf(), "/api-keys");
  await page.getByLabel("Purpose").fill("Reports");
  await page.getByLabel("It can only read").check();
  await page.getByRole("combobox", { name: "Only sites with these labels" }).click();
  await page.getByRole("option", { name: "Client A" }).click();
  await page.keyboard.press("Escape");
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const { api_key: made } = await (await answered).json();
  expect(made).toMatchObject({ name: "Reports", scopes: ["read", `label:${label.id}`] });
  await page.getByText("Your new API key").waitFor();
  await page.context().close();
});
