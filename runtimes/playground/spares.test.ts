import { copyFile, mkdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAssetStore } from "../assets/store.ts";
import type { Template } from "../site/template.ts";
import { defaultTemplate } from "../site/template.ts";
import { servedAs } from "../testing/handMade.ts";
import { addScript, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { createPlaygroundServing } from "./serving.ts";
import { createTemplateStore } from "./templates/template.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let world: Playground;

async function untilSpares(count: number): Promise<void> {
  for (let tries = 0; world.serving.status().preparedWorkers < count; tries += 1) {
    if (tries > 3000) throw new Error("There is still no spare.");
    await delay(10);
  }
}

function template(): Promise<Template> {
  return createTemplateStore(createAssetStore({ folder: sharedAssets })).get(defaultTemplate);
}

beforeAll(async () => {
  world = await openPlayground({ preparedWorkers: 1, maxWorkers: 2 });
}, 120_000);
afterAll(() => world.close());

describe("a warm spare", () => {
  let site: Site;
  beforeAll(async () => {
    site = await world.site({ title: "Own title" });
    const content = path.join(site.documentRoot, "wp-content");
    const prints = (word: string) => `<?php add_action( 'wp_head', function () { echo '<!-- ${word} -->'; } );`;
    await writeFile(path.join(content, "themes/twentytwentyfive/functions.php"), prints("changed theme"));
    await mkdir(path.join(content, "mu-plugins"), { recursive: true });
    await writeFile(path.join(content, "mu-plugins/own.php"), prints("own plugin"));
    await copyFile(path.join(site.documentRoot, "license.txt"), path.join(site.documentRoot, "new.txt"));
    const { mtime } = await stat(path.join((await template()).folder, "public/wp-config.php"));
    await utimes(path.join(site.documentRoot, "wp-config.php"), mtime, mtime);
    await untilSpares(1);
  }, 120_000);

  const frontPage = async () => (await visitorOf(world.serving, site).get("/")).text;

  test("has a low priority before it gets a site and after its first page, and is replaced", async () => {
    await addScript(site, "slow.php", "sleep(1); echo 'slow';");
    const priorityAtFirst = process.getuid?.() === 0 ? 0 : 5;
    const priorities = () => world.serving.status().workers.map(({ pid }) => getPriority(pid) - getPriority());
    const answer = visitorOf(world.serving, site).get("/slow.php");
    await expect.poll(priorities).toEqual([priorityAtFirst]);
    expect(world.serving.status().preparedWorkers).toBe(0);
    expect((await answer).text).toBe("slow");
    await expect.poll(priorities).toEqual([5]);
    await untilSpares(1);
  }, 60_000);

  test("serves its environment without a trace of the template that warmed it", async () => {
    const page = await frontPage();
    expect(page).toContain("<title>Own title");
    expect(page).not.toMatch(/placeholder/i);
    const cached: string[] = JSON.parse(
      await runPhp(world.serving, site, "echo json_encode(array_keys(opcache_get_status()['scripts']));"),
    );
    expect(cached.filter((script) => script.includes("wp-config.php"))).toEqual([]);
    expect(cached.length).toBeGreaterThan(300);
    const places = "echo json_encode([glob('/database/*'), glob('/sessions/*'), file_exists('/site/wp-config.php')]);";
    expect(JSON.parse(await runPhp(world.serving, site, places))).toEqual([["/database/wordpress.sqlite"], [], true]);
  }, 60_000);

  test("runs the environment's own files where they differ from the template's", async () => {
    expect(await frontPage()).toContain("<!-- changed theme -->");
    const own = await runPhp(world.serving, site, "require '/site/wp-config.php'; echo AUTH_KEY;");
    const templateConfig = await readFile(path.join((await template()).folder, "public/wp-config.php"), "utf8");
    expect(own).toHaveLength(64);
    expect(templateConfig).not.toContain(own);
  });

  test("sees the environment's own additional files", async () => {
    expect(await frontPage()).toContain("<!-- own plugin -->");
    expect(await runPhp(world.serving, site, "var_dump(file_exists('/site/new.txt'));")).toBe("bool(true)\n");
  });

  test("is not used for another version of PHP", async () => {
    await world.serving.setEnvironments([{ ...(await servedAs(world, site)), phpVersion: "8.4" }]);
    expect(await runPhp(world.serving, site, "echo PHP_VERSION;")).toMatch(/^8\.4\./);
    expect(world.serving.status().preparedWorkers).toBe(1);
  }, 60_000);
});

test("failures to create spares are reported, and sites are served without spares", async () => {
  const failures: unknown[] = [];
  // The templates of spares are missing here, but not the driver of each site's database.
  const empty = path.join(world.folder, "no-assets");
  await mkdir(empty);
  await symlink(path.join(sharedAssets, "drivers"), path.join(empty, "drivers"));
  const broken = createPlaygroundServing({
    assets: empty,
    environments: world.environments,
    run: world.run,
    credentialOf: () => "",
    edgePort: () => 8081,
    siteSuffix: "localhost",
    preparedWorkers: 1,
    maxWorkers: 1,
    requestDeadlineSeconds: 30,
    idleSeconds: 60,
    onWarmUpFailure: (error) => failures.push(error),
  });
  try {
    for (let tries = 0; failures.length === 0 && tries < 500; tries += 1) await delay(10);
    expect(String(failures[0])).toContain("not been unpacked");
    const site = await world.site();
    await broken.setEnvironments([await servedAs(world, site)]);
    expect(await runPhp(broken, site, "echo 'served';")).toBe("served");
  } finally {
    await broken.close();
  }
}, 60_000);
