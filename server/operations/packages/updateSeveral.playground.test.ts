/** Updates of several plugins or themes at once with real WordPress: writes of visitors, and restores. */
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pluginZip, themeZip } from "../../packages/testing/zips.ts";
import { post, visit } from "../../testing/edge.ts";
import { putZip } from "../../testing/packageUpdates.ts";
import { openShopSite, type ShopSite, shows } from "../../testing/shopSite.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { RestoreBackupInput } from "../backups/restoreBackup.ts";

const timeout = 400_000;

let world: World;
let shopSite: ShopSite;
beforeAll(async () => {
  shopSite = await openShopSite();
  world = shopSite.world;
  await shopSite.addPlugin("cart", "1.0");
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const plugin = (name: string, to: string) => ({ name, slug: name, file: `${name}/${name}.php`, from: "1.0", to });

/** The versions of Shop and Cart on the front page. */
async function shown(): Promise<readonly (string | undefined)[]> {
  const body = await shopSite.front();
  return ["shop", "cart"].map((name) => new RegExp(`<i>${name} (\\S+)</i>`).exec(body)?.[1]);
}

const both = (to: string) => shopSite.update([plugin("shop", to), plugin("cart", to)]);

test("several plugins are updated together, or none if one is broken", { timeout }, async () => {
  expect(await shown()).toEqual(["1.0", "1.0"]);
  await putZip(world, "shop-6.0.zip", await pluginZip("shop", "6.0", shows("6.0")));
  await putZip(world, "cart-6.0.zip", await pluginZip("cart", "6.0", "add_action('init', fn () => nothing_there());"));
  const row = await withEngine(world, (harness) => harness.submit(both("6.0")));
  expect(row).toMatchObject({ kind: "updatePlugins", state: "failed" });
  expect(row.public_error).toMatch(/front page has the status 500: .*nothing_there/);
  expect(await shown()).toEqual(["1.0", "1.0"]);
  const versions = ["shop", "cart"].map((name) => shopSite.versionOf(`plugins/${name}/${name}.php`));
  expect(await Promise.all(versions)).toEqual(["1.0", "1.0"]);
});

const writes = `<?php
require __DIR__ . '/wp-load.php';
echo add_option( 'written_' . $_POST['n'], '1', '', false ) ? 'saved' : 'not saved';
`;

test("writes during an update are saved, or refused for a moment, and never lost", {
  timeout,
}, async () => {
  for (const name of ["shop", "cart"]) {
    await putZip(world, `${name}-6.1.zip`, await pluginZip(name, "6.1", shows("6.1", name)));
  }
  await writeFile(join(await shopSite.content(), "../write.php"), writes);
  const { address } = shopSite.site;
  const write = (n: number) => post(world.facts.edgePort, address, "/write.php", `n=${n}`);
  let isOver = false;
  const answers: Awaited<ReturnType<typeof write>>[] = [];
  const writing = (async () => {
    while (!isOver) answers.push(await write(answers.length));
  })();
  // No writes may be accepted during the trial.
  const midway: typeof answers = [];
  const { runTrial } = world.services;
  const services: World["services"] = {
    ...world.services,
    runTrial: async (...candidate) => {
      midway.push(await write(1_000_000 + midway.length));
      return runTrial(...candidate);
    },
  };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(both("6.1")));
  isOver = true;
  await writing;
  const updated = [
    { name: "shop", from: "1.0", to: "6.1" },
    { name: "cart", from: "1.0", to: "6.1" },
  ];
  expect(row).toMatchObject({ state: "succeeded", result: { updated } });
  expect(await shown()).toEqual(["6.1", "6.1"]);
  expect(midway.length).toBeGreaterThan(0);
  for (const each of midway) expect(each).toMatchObject({ status: 503, retryAfter: "3" });
  const unexpected = answers.filter(({ status, body }) => (status === 200 ? body !== "saved" : status !== 503));
  expect(unexpected).toEqual([]);
  const saved = answers.flatMap(({ status }, n) => (status === 200 ? [`written_${n}`] : []));
  expect(saved.length).toBeGreaterThan(0);
  expect(await Promise.all(saved.map(shopSite.option))).toEqual(saved.map(() => "1"));
});

test("a site that an update has broken can be restored from the backup before it", {
  timeout,
}, async () => {
  const { environment: target, address } = shopSite.site;
  await writeFile(join(await shopSite.content(), "plugins/shop/shop.php"), "<?php\nthis is no PHP\n");
  // A page that is not cached.
  expect((await visit(world.facts.edgePort, address, "/?fresh")).status).toBe(500);
  const backups = world.own.database.selectFrom("backups").select(["id", "name"]);
  const { id: backupId, name: backupName } = await backups.executeTakeFirstOrThrow();
  expect(backupName).toBe("Before an update of shop to 6.1, cart to 6.1");
  const input: RestoreBackupInput = {
    token: "undone",
    backupId,
    backupName,
    target,
    address,
    only: null,
    withoutBackup: false,
  };
  const row = await withEngine(world, (harness) => harness.submit(shopSite.request("restoreBackup", input)));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(await shown()).toEqual(["1.0", "1.0"]);
});

test("several themes are updated together", { timeout }, async () => {
  const names = ["leaf", "twig"];
  const themes = join(await shopSite.content(), "themes");
  for (const name of names) {
    await cp(join(themes, "twentytwentythree"), join(themes, name), {
      recursive: true,
    });
    await putZip(world, `${name}.zip`, await themeZip(name, "99.0"));
  }
  const updates = names.map((name) => ({ name, slug: name, file: name, from: "1.0", to: "99.0" }));
  const row = await withEngine(world, (harness) => harness.submit(shopSite.update(updates, "theme")));
  expect(row).toMatchObject({ kind: "updateThemes", state: "succeeded" });
  const versions = names.map((name) => shopSite.versionOf(`themes/${name}/style.css`));
  expect(await Promise.all(versions)).toEqual(["99.0", "99.0"]);
});

test("a queued update does not bring back a plugin that WP-CLI has deleted", { timeout }, async () => {
  await shopSite.wpCli("plugin", "uninstall", "--deactivate", "cart");
  const row = await withEngine(world, (harness) => harness.submit(shopSite.update([plugin("cart", "6.1")])));
  expect(row).toMatchObject({ state: "failed", public_error: "The environment no longer has the plugin cart." });
});
