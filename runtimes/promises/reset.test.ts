/** A reset: a fresh WordPress is built next to the site from the site's settings, and switched to. */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { passwordDigest } from "../password.ts";
import type { MultisiteKind } from "../runtime.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
beforeAll(async () => {
  world = await openWorld({ maxWorkers: 3 });
}, 120_000);
afterAll(() => world?.close());

async function reset(site: Site, password: string): Promise<Site> {
  const { runtime, serving } = world;
  const { environment, phpVersion } = site;
  const scratch = { id: randomUUID(), number: environment.number + 1_000 };
  const facts = await runtime.wordpress(environment);
  if (facts === null) throw new Error("The site has no WordPress.");
  const wordpress = { ...facts, address: site.wordpress.address, adminPasswordDigest: passwordDigest(password) };
  await runtime.provision({ environment: scratch, phpVersion, wordpress });
  const token = randomUUID();
  await runtime.stage({ environment, source: scratch, token, files: "all", database: "all", addresses: [] });
  await runtime.switchTo(environment, token);
  await runtime.destroy(scratch);
  await runtime.prune(environment);
  const layout = await runtime.layout(environment);
  if (layout === null) throw new Error("The site has no layout.");
  await serving.setEnvironments([{ ...environment, ...layout, phpVersion }]);
  return { ...site, documentRoot: layout.documentRoot };
}

const titled = `Tom & "Jerry" <b>`;
const spoil = `require __DIR__ . '/wp-load.php';
  update_option('blogdescription', 'Spoilt'); update_option('blog_public', '0');
  wp_insert_post(array('post_title' => 'Spoilt post', 'post_status' => 'publish'));
  wp_set_password('forgotten', 1); mkdir(WP_CONTENT_DIR . '/uploads/spoilt', 0755, true);
  file_put_contents(ABSPATH . 'wp-config.php', "\\n// spoilt", FILE_APPEND); echo 'spoilt';`;

describe.each<[string, MultisiteKind | null]>([
  ["a single site", null],
  ["a network", "subdirectory"],
])("%s", (_, multisite) => {
  test("keeps only its title, address and administrator in a reset", async () => {
    const site = await world.site({ title: titled, adminUser: "Ada L.", multisite });
    expect(await runPhp(world.serving, site, spoil)).toContain("spoilt");
    const fresh = await reset(site, "a new password");
    const page = (await visitorOf(world.serving, fresh).get("/")).text;
    expect(page).toContain("<title>Tom &amp; &quot;Jerry&quot; &lt;b&gt;</title>");
    expect(page).toContain("Hello world!");
    expect(page).not.toContain("Spoilt");
    expect(await visitorOf(world.serving, fresh).logIn("Ada L.", "forgotten")).toBe(false);
    expect(await visitorOf(world.serving, fresh).logIn("Ada L.", "a new password")).toBe(true);
    const code = `require __DIR__ . '/wp-load.php';
      echo json_encode(array(home_url(), get_option('admin_email'), is_multisite(), get_option('blog_public')));`;
    const { address, adminEmail } = fresh.wordpress;
    expect(JSON.parse(await runPhp(world.serving, fresh, code))).toEqual([
      address,
      adminEmail,
      multisite !== null,
      "1",
    ]);
    const files = await readdir(path.join(fresh.documentRoot, "wp-content"), { recursive: true });
    expect(files).toContain("plugins/index.php");
    expect(files).not.toContain("uploads/spoilt");
  }, 120_000);
});
