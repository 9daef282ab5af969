/** New sites with plugins, with real WordPress: either all plugins are active, or nothing of the site remains. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { pluginZip } from "../../packages/testing/zips.ts";
import { putZip } from "../../testing/packageUpdates.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { creatingSite, type NewSiteInput } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import type { NewWordPress } from "../sites/createEnvironment.ts";
import type { NewPlugin } from "./addPlugins.ts";

const timeout = 240_000;
const shop: NewPlugin = { slug: "shop", file: "shop/shop.php" };

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
  await putZip(world, "old.zip", await pluginZip("shop", "1.9"));
  await putZip(world, "new.zip", await pluginZip("shop", "1.10"));
  const fails = "register_activation_hook(__FILE__, fn () => nothing_there());";
  await putZip(world, "broken.zip", await pluginZip("broken", "1.0", fails));
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

async function requestWith(plugins: readonly NewPlugin[], more: Partial<NewWordPress> = {}): Promise<OperationRequest> {
  const request = await creatingSite.prepare(world);
  const input: NewSiteInput = Object(request.input);
  return { ...request, input: { ...input, content: { ...input.content, ...more, plugins } } };
}

async function pluginsOf({ input }: OperationRequest) {
  const { environment }: NewSiteInput = Object(input);
  const found = await world.services.runtime.packages([environment], new AbortController().signal);
  return found.get(environment.id)?.packages.filter(({ kind, isActive }) => kind === "plugin" && isActive);
}

test("new sites and networks have the newest version of each plugin, activated", { timeout }, async () => {
  await withEngine(world, async (harness) => {
    for (const multisite of [null, "subdirectory"] as const) {
      const request = await requestWith([shop], { multisite });
      expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
      expect(await pluginsOf(request)).toMatchObject([{ name: "shop", version: "1.10" }]);
    }
  });
});

test.each([
  [{ slug: "unknown", file: "unknown/unknown.php" }, "The package source does not offer unknown."],
  [{ slug: "broken", file: "broken/broken.php" }, "The plugins could not be activated: "],
  [{ slug: "shop", file: "shop/other.php" }, "shop 1.10: The package is refused: its other.php has no plugin header."],
])("if %o can't be installed, nothing of the site remains", { timeout }, async (plugin, message) => {
  await withEngine(world, async (harness) => {
    const request = await requestWith([plugin]);
    const row = await harness.submit(request);
    expect(row.state).toBe("failed");
    expect(row.public_error).toContain(message);
    expect(await pluginsOf(request)).toBeUndefined();
    const { siteId }: NewSiteInput = Object(request.input);
    expect(await world.own.database.selectFrom("sites").select("id").where("id", "=", siteId).execute()).toEqual([]);
  });
});
