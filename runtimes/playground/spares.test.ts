import { chmod, copyFile, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAssetStore } from "./assets/store.ts";
import { createPlaygroundServing } from "./serving.ts";
import { createTemplateStore } from "./templates/template.ts";
import { leaveScript, runPhp, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let world: Playground;

async function untilSpares(count: number): Promise<void> {
  for (let tries = 0; world.serving.status().spares < count; tries += 1) {
    if (tries > 3000) throw new Error("There is still no spare.");
    await delay(10);
  }
}

beforeAll(async () => {
  world = await openPlayground({ spareWorkers: 1, maxWorkers: 2 });
}, 120_000);
afterAll(() => world.close());

describe("a warm spare", () => {
  test("serves its environment without a trace of the template that warmed it", async () => {
    await untilSpares(1);
    const site = await world.site({ title: "Own title" });
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.text).toContain("<title>Own title");
    expect(page.text).not.toMatch(/placeholder/i);
    const cached = await runPhp(
      world.serving,
      site,
      "echo json_encode(array_keys(opcache_get_status()['scripts'])); echo count(opcache_get_status()['scripts']);",
    );
    expect(cached).not.toContain("wp-config.php");
    expect(Number(/\d+$/.exec(cached)?.[0])).toBeGreaterThan(300);
    const places = "echo json_encode([glob('/database/*'), glob('/sessions/*'), file_exists('/site/wp-config.php')]);";
    expect(JSON.parse(await runPhp(world.serving, site, places))).toEqual([
      ["/database/index.php", "/database/wordpress.sqlite"],
      [],
      true,
    ]);
  }, 60_000);

  test("has a low priority before it gets a site and after its first page", async () => {
    await untilSpares(1);
    const site = await world.site();
    await leaveScript(site, "slow.php", "sleep(1); echo 'slow';");
    const priorityAtFirst = process.getuid?.() === 0 ? 0 : 5;
    const priorities = () =>
      world.serving
        .status()
        .workers.filter(({ environmentId }) => environmentId === site.environment.id)
        .map(({ pid }) => getPriority(pid) - getPriority());
    const answer = visitorOf(world.serving, site).get("/slow.php");
    await expect.poll(priorities).toEqual([priorityAtFirst]);
    expect((await answer).text).toBe("slow");
    await expect.poll(priorities).toEqual([5]);
  }, 60_000);

  test("runs the environment's own files where they differ from the template's", async () => {
    await untilSpares(1);
    const site = await world.site();
    const theme = path.join(site.documentRoot, "wp-content/themes/twentytwentyfive/functions.php");
    await chmod(theme, 0o666);
    await writeFile(theme, "<?php add_action( 'wp_head', function () { echo '<!-- changed theme -->'; } );");
    const config = path.join(site.documentRoot, "wp-config.php");
    const template = await createTemplateStore(createAssetStore({ folder: sharedAssets })).get({
      locale: "en_US",
      multisite: null,
    });
    const { mtime } = await stat(path.join(template.folder, "public/wp-config.php"));
    await utimes(config, mtime, mtime);
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.text).toContain("<!-- changed theme -->");
    expect(page.text).toContain(site.wordpress.title);
    const salt = "require '/site/wp-config.php'; echo AUTH_KEY;";
    const own = await runPhp(world.serving, site, salt);
    const templateConfig = await readFile(path.join(template.folder, "public/wp-config.php"), "utf8");
    expect(own).toHaveLength(64);
    expect(templateConfig).not.toContain(own);
  }, 60_000);

  test("sees the environment's own additional files", async () => {
    await untilSpares(1);
    const site = await world.site();
    const plugin = path.join(site.documentRoot, "wp-content/mu-plugins");
    await mkdir(plugin, { recursive: true });
    await writeFile(
      path.join(plugin, "own.php"),
      "<?php add_action( 'wp_head', function () { echo '<!-- own plugin -->'; } );",
    );
    await copyFile(path.join(site.documentRoot, "license.txt"), path.join(site.documentRoot, "new.txt"));
    expect((await visitorOf(world.serving, site).get("/")).text).toContain("<!-- own plugin -->");
    expect(await runPhp(world.serving, site, "var_dump(file_exists('/site/new.txt'));")).toBe("bool(true)\n");
  }, 60_000);

  test("is replaced after it was taken", async () => {
    await untilSpares(1);
    const site = await world.site();
    await leaveScript(site, "a.php", "echo 1;");
    await visitorOf(world.serving, site).get("/a.php");
    expect(world.serving.status().spares).toBe(0);
    await untilSpares(1);
  }, 60_000);

  test("is not used for another version of PHP", async () => {
    await untilSpares(1);
    const site = await world.site();
    const layout = await world.runtime.layout(site.environment);
    if (layout === null) throw new Error("no layout");
    await world.serving.setEnvironments([{ ...site.environment, ...layout, phpVersion: "8.4" }]);
    expect(await runPhp(world.serving, site, "echo PHP_VERSION;")).toMatch(/^8\.4\./);
    expect(world.serving.status().spares).toBe(1);
  }, 60_000);
});

test("failures to create spares are reported, and sites are served without spares", async () => {
  const failures: unknown[] = [];
  const empty = path.join(world.folder, "no-assets");
  const broken = createPlaygroundServing({
    assets: empty,
    environments: world.environments,
    run: world.run,
    edgePort: () => 8081,
    siteSuffix: "localhost",
    spareWorkers: 1,
    maxWorkers: 1,
    requestDeadlineSeconds: 30,
    idleSeconds: 60,
    onWarmUpFailure: (error) => failures.push(error),
  });
  try {
    for (let tries = 0; failures.length === 0 && tries < 500; tries += 1) await delay(10);
    expect(String(failures[0])).toContain("not been unpacked");
    const site = await world.site();
    const layout = await world.runtime.layout(site.environment);
    if (layout === null) throw new Error("no layout");
    await broken.setEnvironments([{ ...site.environment, ...layout, phpVersion: "8.3" }]);
    expect(await runPhp(broken, site, "echo 'served';")).toBe("served");
  } finally {
    await broken.close();
  }
}, 60_000);
