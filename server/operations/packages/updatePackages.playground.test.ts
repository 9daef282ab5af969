/** Updates of plugins and themes with real WordPress: good ones replace the site, bad ones are rejected. */
import { cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pluginZip, zipOf } from "../../packages/testing/zips.ts";
import { compareVersions, versionKey } from "../../packages/versions.ts";
import { findChromium } from "../../screenshots/chromium.ts";
import { makeScreenshots, openScreenshotStore } from "../../screenshots/screenshots.ts";
import { putPackages } from "../../testing/packages.ts";
import { putZip } from "../../testing/packageUpdates.ts";
import { openShopSite, type ShopSite, shows } from "../../testing/shopSite.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { Harness } from "../faults/testing/crashHarness.ts";
import { comparedFrontPage, loginAndDashboard } from "../steps/trial.ts";
import type { UpdatePackagesInput } from "./updatePackages.ts";

const timeout = 400_000;

let world: World;
let shopSite: ShopSite;

/** Plugin code that changes the database when the dashboard is opened. */
const migrates = "add_action('admin_init', fn () => update_option('shop_db', '2.0'));";

beforeAll(async () => {
  shopSite = await openShopSite();
  world = shopSite.world;
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const front = () => shopSite.front();

const plugin = (name: string, from: string, to: string) => ({
  name,
  slug: name,
  file: `${name}/${name}.php`,
  from,
  to,
});
const shop = (to: string, more: Partial<UpdatePackagesInput> = {}) =>
  shopSite.update([plugin("shop", "1.0", to)], "plugin", more);

async function offer(version: string, zip: Promise<Buffer>): Promise<void> {
  await putZip(world, `shop-${version}.zip`, await zip);
}

async function rejected(harness: Harness, version: string, checks: readonly string[] = []): Promise<string> {
  const before = await front();
  const row = await harness.submit(shop(version, { checks }));
  expect(row.state).toBe("failed");
  expect(await front()).toBe(before);
  expect(await readdir(join(world.facts.dataFolder, "work")).catch(() => [])).toEqual([]);
  return row.public_error ?? "";
}

test("broken updates are rejected with the reason", { timeout }, async () => {
  await putPackages(world.own.database, shopSite.site.environment.id, [{ name: "shop" }]);
  await offer("3.1", pluginZip("shop", "3.1", "this is no PHP"));
  await offer("3.3", pluginZip("shop", "3.3", "add_action('admin_init', fn () => nothing_there());"));
  await offer("3.5", zipOf({ "shop/shop.php": "<?php\n/* Plugin Name: Shop\n * Version: 3.5 */", "other/x.php": "" }));
  await offer("3.6", pluginZip("shop", "3.6", "", { link: { content: "/etc/passwd", mode: 0o120777 } }));
  const loses = "add_action('template_redirect', fn () => ($_GET['page'] ?? '') !== 'cart' || wp_die('Gone', 404));";
  await offer("3.7", pluginZip("shop", "3.7", loses));
  await withEngine(world, async (harness) => {
    expect(await rejected(harness, "3.1")).toMatch(
      /^The site with the update failed its check: its front page has .+ Parse/,
    );
    expect(await rejected(harness, "3.3")).toMatch(/its dashboard has the status 500: .*nothing_there/);
    // The mirror omits both.
    expect(await rejected(harness, "3.5")).toBe("shop 3.5: The package source does not offer it.");
    expect(await rejected(harness, "3.6")).toBe("shop 3.6: The package source does not offer it.");
    expect(await rejected(harness, "3.7", ["/", "/?page=cart"])).toMatch(
      /its page \/\?page=cart has the status 404\.$/,
    );
    expect(await rejected(harness, "7.7")).toBe("shop 7.7: The package source does not offer it.");
  });
  const row = world.own.database.selectFrom("packages").select(["version", "update_status", "failed_version"]);
  // The last broken version. 7.7 was not offered.
  const found = { version: "1.0", update_status: "failed", failed_version: "3.7" };
  expect(await row.executeTakeFirstOrThrow()).toEqual(found);
});

/** PHP code of a plugin with all these faults. The query of a request chooses one. */
const faulty = `<?php
/* Plugin Name: Shop */
$faults = array(
  'fatal' => array('init', fn () => nothing_there()),
  'endless' => array('init', function () { while (true) sleep(1); }),
  'login' => array('login_init', fn () => nothing_there()),
  'cut' => array('wp_footer', function () { while (ob_get_level()) ob_end_flush(); nothing_there(); }),
  'exit' => array('wp_body_open', function () { exit; }),
  'flood' => array('wp_footer', function () { while (true) { print str_repeat('shop ', 20000); usleep(1000); } }),
  'language' => array('template_redirect', function () { wp_redirect('/en/?fault=fatal'); exit; }),
  'loop' => array('template_redirect', function () { wp_redirect($_SERVER['REQUEST_URI']); exit; }),
  'install' => array('template_redirect', function () { wp_redirect(admin_url('install.php')); exit; }),
);
if (isset($faults[$_GET['fault'] ?? ''])) add_action(...$faults[$_GET['fault']]);
`;

test("a broken page of a staged release is rejected with the reason", { timeout }, async () => {
  const { runtime, runTrial } = world.services;
  const { environment, address } = shopSite.site;
  await runtime.stage({
    environment,
    source: environment,
    token: "faulty",
    files: "all",
    database: "all",
    addresses: [],
  });
  const [current, staged] = [await runtime.layout(environment), await runtime.staged(environment, "faulty")];
  if (current === null || staged === null) throw new Error("There is no release");
  await writeFile(join(staged.documentRoot, "wp-content/plugins/shop/shop.php"), faulty);
  const [loginPage = comparedFrontPage] = loginAndDashboard;
  const tryOut = async (fault: string, page = comparedFrontPage) => {
    const what = "The site with the update";
    const php = { runtime: "playground", version: "8.3" };
    const release = { environment, php, layout: staged, current, address, what };
    const candidate = { ...release, isReadOnly: false, page: { ...page, url: `${page.url}?fault=${fault}` } };
    return runTrial(candidate, new AbortController().signal).catch((error: Error) => error.message);
  };
  // Takes the whole deadline. The others get a second worker meanwhile.
  const endless = tryOut("endless");
  expect(await tryOut("")).toBe(true);
  expect(await tryOut("fatal")).toMatch(
    /^The site with the update failed its check: its front page has the status 500: .*nothing_there/,
  );
  expect(await tryOut("login", loginPage)).toMatch(/its login page has the status 500: .*nothing_there/);
  expect(await tryOut("cut")).toMatch(/its front page is incomplete: .*nothing_there/);
  expect(await tryOut("exit")).toMatch(/its front page is incomplete, unlike before\.$/);
  expect(await tryOut("language")).toMatch(/its front page has the status 500: .*nothing_there/);
  expect(await tryOut("loop")).toMatch(/its front page is a redirect loop, unlike before\.$/);
  expect(await tryOut("install")).toMatch(/its front page redirects to \/wp-admin\/install\.php, unlike before\.$/);
  expect(await tryOut("flood")).toMatch(/its front page is incomplete, unlike before\.$/);
  expect(await endless).toMatch(/its front page took too long\.?$/);
  await runtime.unstage(environment, "faulty");
});

test("an update is rejected if it looks too different, and otherwise is what visitors see, with its database changes", {
  timeout,
}, async () => {
  const chromium = await findChromium(process.env.CHROMIUM ?? null);
  if (chromium === null) throw new Error("There is no Chromium: apt-get install chromium");
  const kept = join(world.facts.dataFolder, "pictures");
  const looking = {
    ...world,
    services: { ...world.services, screenshots: makeScreenshots({ chromium, folder: kept }) },
  };
  const paints = `add_action('wp_footer', fn () => print
    '<div style="position:fixed;z-index:99999;top:0;left:0;right:0;bottom:0;background:red"></div>');`;
  await offer("5.0", pluginZip("shop", "5.0", paints));
  await offer("2.0", pluginZip("shop", "2.0", `${shows("2.0")}\n${migrates}`, { "more/one.php": "<?php" }));
  const update = (to: string) => shop(to, { pictureThreshold: 20 });
  await withEngine(looking, async (harness) => {
    const refusal = await harness.submit(update("5.0"));
    expect(refusal.public_error).toMatch(
      /^The site with the update looks different: (100|9\d(\.\d)?) % of its front page differs, and the limit is 20 %\. /,
    );
    const row = world.own.database.selectFrom("packages").select("failed_version").where("name", "=", "shop");
    expect(await row.executeTakeFirstOrThrow()).toEqual({ failed_version: "5.0" });
    const [page] = await openScreenshotStore(kept).find(refusal.id.slice(-36), "/");
    expect(page?.path).toBe("/");
    expect(page?.share).toBeGreaterThan(0.9);
    expect(await front()).toContain("shop 1.0");
    const fine = await harness.submit(update("2.0"));
    expect(fine).toMatchObject({ state: "succeeded", public_error: null });
    expect(fine.result).toEqual({ updated: [{ name: "shop", from: "1.0", to: "2.0" }] });
    expect((await openScreenshotStore(kept).find(fine.id.slice(-36), null))[0]?.share).toBeLessThan(0.2);
  });
  expect(await front()).toContain("shop 2.0");
  const listed = await world.own.database.selectFrom("packages").select(["version", "version_key"]).executeTakeFirst();
  expect(listed).toEqual({ version: "2.0", version_key: versionKey("2.0") });
  expect(await shopSite.option("shop_db")).toBe("2.0");
  expect(await shopSite.option("active_plugins")).toContain('"shop/shop.php"');
  const backups = await world.own.database.selectFrom("backups").select(["name", "type"]).execute();
  expect(backups).toEqual([{ name: "Before an update of shop to 2.0", type: "system-generated" }]);
});

const theme = "twentytwentythree";
/** The Linux distribution's folder with older versions of the themes than WordPress includes. */
const olderThemes = process.env.WORDPRESS_THEMES ?? "/usr/share/wordpress/wp-content/themes";

/** Installs the older version, and moves the newer one to `<theme>.newer`. */
async function olderTheme() {
  const themes = join(await shopSite.content(), "themes");
  const versionIn = async (folder: string) =>
    /^Version: (\S+)/m.exec(await readFile(join(folder, "style.css"), "utf8"))?.[1] ?? "";
  await rename(join(themes, theme), join(themes, `${theme}.newer`));
  await cp(join(olderThemes, theme), join(themes, theme), { recursive: true, dereference: true });
  const versions = { from: await versionIn(join(themes, theme)), to: await versionIn(join(themes, `${theme}.newer`)) };
  expect(compareVersions(versions.to, versions.from)).toBeGreaterThan(0);
  return { themes, ...versions };
}

async function zipOfFolder(folder: string, name: string): Promise<Buffer> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const content = files.map(async (entry) => {
    const file = join(entry.parentPath, entry.name);
    return [`${name}${file.slice(folder.length)}`, { content: await readFile(file) }] as const;
  });
  return zipOf(Object.fromEntries(await Promise.all(content)));
}

test("a theme is updated between two real versions, and the site's changes are kept", {
  timeout,
}, async () => {
  const { themes, from, to } = await olderTheme();
  await shopSite.wpCli("theme", "activate", theme);
  await putZip(world, "theme.zip", await zipOfFolder(join(themes, `${theme}.newer`), theme));
  await shopSite.setOption("blogname", "Changed since");
  await withEngine(world, async (harness) => {
    const update = { name: theme, slug: theme, file: theme, from, to };
    const row = await harness.submit(shopSite.update([update], "theme"));
    expect(row).toMatchObject({ state: "succeeded", public_error: null });
  });
  expect(await shopSite.versionOf(`themes/${theme}/style.css`)).toBe(to);
  expect(await front()).toContain("Changed since");
  expect(await front()).toContain("shop 2.0");
});

test("a site that a drop-in has taken down can still be updated", { timeout }, async () => {
  const dropIn = async () => join(await shopSite.content(), "object-cache.php");
  await writeFile(await dropIn(), "<?php no_server_there();");
  await offer("4.0", pluginZip("shop", "4.0", shows("4.0")));
  await withEngine(world, async (harness) => {
    const row = await harness.submit(shopSite.update([plugin("shop", "2.0", "4.0")]));
    expect(row).toMatchObject({ state: "succeeded", public_error: null });
  });
  await rm(await dropIn());
  expect(await front()).toContain("shop 4.0");
});
