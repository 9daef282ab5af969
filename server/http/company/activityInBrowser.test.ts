/** The activity log in the console, in Chromium. */
import { expect, it } from "vitest";
import { useConsolePages } from "../testing/consolePages.ts";
import { peopleOf } from "../testing/people.ts";

const pages = useConsolePages();

it("saves the entries of the kind that is shown", async () => {
  const { server, open, origin } = pages.current;
  await server.addSite();
  await server.addKey({ name: "Deploy" });
  const page = await open(await peopleOf({ current: server }).add({ role: "owner" }), "/activity");
  const typesIn = async (): Promise<readonly string[]> => {
    const address = await page.getByRole("link", { name: "Save as JSON lines" }).getAttribute("href");
    const answer = await page.request.get(`${origin}${address}`);
    return (await answer.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type);
  };
  expect(await typesIn()).toEqual(expect.arrayContaining(["addSite", "createApiKey"]));
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "People and keys" }).click();
  await page.waitForURL(/category=userManagement/);
  const types = await typesIn();
  expect(types).toContain("createApiKey");
  expect(types).not.toContain("addSite");
  await page.context().close();
});
