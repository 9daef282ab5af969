import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
const { signal } = new AbortController();

beforeAll(async () => {
  world = await openWorld();
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

async function packagesOf(of: Site) {
  const found = (await world.runtime.packages([of.environment], signal)).get(of.environment.id);
  if (found === undefined) throw new Error("The site was not read");
  return found;
}

const wordpress = (code: string, of = site) => runPhp(world.serving, of, `require '/site/wp-load.php'; ${code}`);

async function activeIn(of: Site): Promise<readonly string[]> {
  const { packages } = await packagesOf(of);
  return packages.filter(({ isActive }) => isActive).map(({ name }) => name);
}

async function addPlugin(of: Site, name: string): Promise<void> {
  const folder = path.join(of.documentRoot, "wp-content/plugins", name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}.php`), `<?php\n/* Plugin Name: ${name}\n * Version: 1.0 */\n`);
}

test("the packages that are read match WordPress's own lists", async () => {
  await addPlugin(site, "shop");
  await wordpress("require_once ABSPATH . 'wp-admin/includes/plugin.php'; activate_plugin('shop/shop.php');");
  await wordpress(
    "update_site_option('auto_update_plugins', ['shop/shop.php']); update_site_option('auto_update_themes', [get_stylesheet()]);",
  );
  const expected: unknown = JSON.parse(
    await wordpress(
      `require_once ABSPATH . 'wp-admin/includes/plugin.php';
      $all = [];
      foreach (get_plugins() as $file => $one) $all[$file] = [$one['Name'], $one['Version'], is_plugin_active($file)];
      foreach (wp_get_themes() as $name => $one) $all[$name] = [$one->get('Name'), $one->get('Version'), get_stylesheet() === $name];
      echo json_encode($all);`,
    ),
  );
  const { packages, problem } = await packagesOf(site);
  expect(problem).toBeNull();
  const read = packages.map(({ file, title, version, isActive }) => [file, [title, version, isActive]]);
  expect(Object.fromEntries(read)).toEqual(expected);
  const autoUpdated = packages.filter(({ isAutoUpdated }) => isAutoUpdated).map(({ name }) => name);
  expect(autoUpdated).toHaveLength(2);
  expect(autoUpdated).toContain("shop");
});

test("in a network a plugin is active if it is active on one of its sites or on all of them", async () => {
  const network = await world.site({ multisite: "subdirectory" });
  for (const name of ["everywhere", "somewhere", "nowhere"]) await addPlugin(network, name);
  await wordpress(
    `require_once ABSPATH . 'wp-admin/includes/plugin.php';
    activate_plugin('everywhere/everywhere.php', '', true);
    $blog = wpmu_create_blog(get_current_site()->domain, '/two/', 'Two', 1);
    switch_to_blog($blog);
    activate_plugin('somewhere/somewhere.php');`,
    network,
  );
  const active = await activeIn(network);
  expect(active).toEqual(expect.arrayContaining(["everywhere", "somewhere"]));
  expect(active).not.toContain("nowhere");
});

test.each([
  ["a damaged option", "UPDATE wp_options SET option_value = 'nonsense' WHERE option_name = 'active_plugins'"],
  ["a missing table", "ALTER TABLE wp_options RENAME TO elsewhere"],
])("%s is reported, and plugins and themes are still listed", async (_, sql) => {
  const broken = await world.site();
  const database = new DatabaseSync(path.join(broken.documentRoot, "../database/wordpress.sqlite"));
  database.exec(sql);
  database.close();
  const { packages, problem } = await packagesOf(broken);
  expect(problem).toMatch(
    /^(WordPress's option `active_plugins` is damaged\.|The site's database has no WordPress table)/,
  );
  expect(packages.map(({ name }) => name)).toContain("akismet");
});

test("a site that is being written to is skipped for now, and other sites are read", async () => {
  const other = await world.site();
  const database = new DatabaseSync(path.join(other.documentRoot, "../database/wordpress.sqlite"));
  database.exec("BEGIN EXCLUSIVE");
  try {
    const found = await world.runtime.packages([other.environment, site.environment], signal);
    expect([...found.keys()]).toEqual([site.environment.id]);
  } finally {
    database.close();
  }
  expect((await world.runtime.packages([other.environment], signal)).size).toBe(1);
});
