import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { exampleRequest } from "../conformance.ts";
import type { ServedEnvironment } from "../serving.ts";
import { createAssetStore } from "./assets/store.ts";
import { type CompiledStore, createCompiledStore } from "./templates/compiled.ts";
import { createTemplateStore } from "./templates/template.ts";
import { servedAs } from "./testing/handMade.ts";
import { runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

function openStore(folder: string): CompiledStore {
  const assets = createAssetStore({ folder });
  return createCompiledStore(assets, createTemplateStore(assets));
}

let world: Playground;
/** Folder of the compiled code of the default PHP version. */
let shared: string;
beforeAll(async () => {
  shared = path.dirname((await openStore(sharedAssets).get("8.3")).opcodes);
  world = await openPlayground();
}, 400_000);
afterAll(() => world?.close());

/** Creates a separate asset store with everything except compiled code. */
async function openAssets(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "assets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(sharedAssets)) {
    if (name !== "compiled") await symlink(path.join(sharedAssets, name), path.join(folder, name));
  }
  return folder;
}

/** Does the same with the compiled code of the default PHP version and of `others`. */
async function openCompiledAssets(...others: readonly string[]): Promise<string> {
  const folder = await openAssets();
  for (const compiled of [shared, ...others]) {
    await cp(compiled, path.join(folder, "compiled", path.basename(compiled)), { recursive: true });
  }
  return folder;
}

async function scriptsBelow(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".php.bin")).toSorted();
}

async function phpFilesOfWordPress(): Promise<readonly string[]> {
  const { core } = await createAssetStore({ folder: sharedAssets }).files();
  const shown = (await readdir(core, { recursive: true })).filter((name) => name.endsWith(".php"));
  return shown.filter((name) => name.startsWith("wp-includes/") || name.startsWith("wp-admin/"));
}

interface Counts {
  readonly scripts: number;
  readonly misses: number;
}

/** Counts the scripts of the front page that a new worker of the site uses, and those that it had to compile. */
async function compiledFor(serving: Playground["serving"], site: Site): Promise<Counts> {
  for (const { pid, environmentId } of serving.status().workers) {
    if (environmentId === site.environment.id) process.kill(pid, "SIGKILL");
  }
  expect((await visitorOf(serving, site).get("/")).status).toBe(200);
  const statistics = "$s = opcache_get_status()['opcache_statistics'];";
  const code = `${statistics} echo json_encode(['scripts' => $s['num_cached_scripts'], 'misses' => $s['misses']]);`;
  return JSON.parse(await runPhp(serving, site, code));
}

/** Returns the value of a PHP expression in a WP-CLI command. */
async function evaluated({ runtime }: Playground, { environment, phpVersion }: Site, code: string): Promise<string> {
  const command = { phpVersion, argv: ["eval", `echo ${code};`], seconds: 120 };
  const { signal } = new AbortController();
  return (await runtime.runWpCli(environment, command, async () => undefined, signal)).stdout.text;
}

describe("code that is compiled once for all workers", () => {
  test("has the opcodes of almost all shared scripts, even if some declare the same functions", async () => {
    const scripts = await scriptsBelow(shared);
    const left = (await phpFilesOfWordPress()).filter(
      (file) => !scripts.some((name) => name.endsWith(`/site/${file}.bin`)),
    );
    // The uncompiled scripts use a class above its declaration.
    expect(left).toContain("wp-includes/SimplePie/autoloader.php");
    expect(left.length).toBeLessThan(30);
    expect(scripts.some((name) => name.endsWith("/site/wp-includes/functions.php.bin"))).toBe(true);
    expect(scripts.some((name) => name.endsWith("/site/wp-admin/includes/noop.php.bin"))).toBe(true);
    expect(scripts.some((name) => name.endsWith("/site/wp-config.php.bin"))).toBe(false);
  });

  test("works if a script uses a class that it declares further down: feeds can be read", async () => {
    const site = await world.site();
    expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
    const code = `require 'wp-load.php'; require_once ABSPATH . WPINC . '/class-simplepie.php';
      $feed = new SimplePie\\SimplePie(); $feed->set_raw_data('<rss version="2.0"><channel><title>News</title></channel></rss>');
      $feed->init(); echo $feed->get_title();`;
    expect(await runPhp(world.serving, site, code)).toBe("News");
  });

  test("can be read by every environment's user and written by no one", async () => {
    for (const entry of await readdir(shared, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(path.join(entry.parentPath, entry.name));
      expect(mode & 0o777).toBe(entry.isDirectory() ? 0o755 : 0o444);
    }
  });

  test("is compiled once for concurrent callers, and replaces outdated and interrupted compilations", async () => {
    const folder = await openAssets();
    const compiled = path.join(folder, "compiled");
    const killed = `${path.basename(shared)}.new`;
    const [outdated, ...others] = [
      "7.0.0-1-5b919467-8.3-3.1.56",
      "7.0.0-1-5b91946-8.3-3.1.56.new",
      "7.0.0-1-5b919467-8.4-3.1.56",
    ];
    for (const name of [outdated, ...others])
      await mkdir(path.join(compiled, `${name}`, "opcodes"), { recursive: true });
    await mkdir(path.join(compiled, killed), { recursive: true });
    await writeFile(path.join(compiled, killed, "left"), "half");
    const [one, other] = [openStore(folder), openStore(folder)];
    expect(one.find("8.3")).toBeNull();
    const [made, same] = await Promise.all([one.get("8.3"), other.get("8.3")]);
    expect(same).toEqual(made);
    expect([one.find("8.3"), other.find("8.3")]).toEqual([made, made]);
    const left = (await readdir(compiled)).filter((name) => !name.endsWith(".lock"));
    expect(left.toSorted()).toEqual([...others, path.basename(shared)].toSorted());
    expect((await readdir(path.dirname(made.opcodes))).toSorted()).toEqual(["machine-code", "opcodes"]);
    // Which of the platform's scripts are compiled depends on what WordPress does on its first pages.
    const ofWordPress = async (each: string) => (await scriptsBelow(each)).filter((name) => name.includes("/site/"));
    expect(await ofWordPress(path.dirname(made.opcodes))).toEqual(await ofWordPress(shared));
  }, 400_000);

  test.each([
    [
      "tried",
      async ({ serving }: Playground, next: ServedEnvironment) => {
        const { body } = await serving.runTrial(next, exampleRequest("http://example.localhost"));
        body.resume();
      },
    ],
    ["served", ({ serving }: Playground, next: ServedEnvironment) => serving.setEnvironments([next])],
  ])(
    "is compiled if needed when another PHP version is %s",
    async (_what, use) => {
      const other = path.dirname((await openStore(sharedAssets).get("8.2")).opcodes);
      const own = await openPlayground({ assets: await openCompiledAssets(other) });
      onTestFinished(() => own.close());
      const site = await own.site();
      expect(own.serving.status().compiledPhpVersions).not.toContain("8.2");
      await use(own, { ...(await servedAs(own, site)), phpVersion: "8.2" });
      await vi.waitUntil(() => own.serving.status().compiledPhpVersions.includes("8.2"), { timeout: 60_000 });
    },
    400_000,
  );

  test("is compiled in advance after a quiet period, and existing code is found at once", async () => {
    const folder = await openCompiledAssets();
    const own = await openPlayground({ assets: folder, precompilePhpVersions: ["8.3", "8.4"], aheadSeconds: 1 });
    onTestFinished(() => own.close());
    const site = await own.site();
    // Three times the required quiet period.
    expect(await runPhp(own.serving, site, "sleep(3); echo 'done';")).toBe("done");
    expect((await readdir(path.join(folder, "compiled"))).filter((name) => name.includes("-8.4-"))).toEqual([]);
    expect(own.serving.status().compiledPhpVersions).toEqual(["8.3"]);
    const begun = async () =>
      (await readdir(path.join(folder, "compiled"))).some((name) => /-8\.4-.*\.new$/.test(name));
    await vi.waitUntil(begun, { timeout: 60_000 });
  }, 120_000);

  test("is not required: if it can't be compiled, each worker compiles for itself", async () => {
    const failures: unknown[] = [];
    const folder = await openAssets();
    await writeFile(path.join(folder, "compiled"), "a file where a folder should be");
    const without = await openPlayground({ assets: folder, onWarmUpFailure: (error) => failures.push(error) });
    onTestFinished(() => without.close());
    const site = await without.site();
    const { scripts, misses } = await compiledFor(without.serving, site);
    expect(scripts).toBeGreaterThan(400);
    expect(misses).toBeGreaterThan(400);
    expect(failures).toHaveLength(1);
    expect(await evaluated(without, site, "get_option('blogname')")).toBe(site.wordpress.title);
  }, 400_000);
});

describe("a worker with precompiled code", () => {
  test("compiles almost nothing of WordPress for its first page", async () => {
    const site = await world.site();
    const { scripts, misses } = await compiledFor(world.serving, site);
    expect(scripts).toBeGreaterThan(400);
    expect(misses).toBeLessThan(20);
  });

  test("shares that code with WP-CLI commands", async () => {
    const site = await world.site();
    const own = "ini_get('opcache.file_cache') . ' ' . (int) ini_get('opcache.file_cache_only')";
    expect(await evaluated(world, site, own)).toBe("/opcodes 1");
    expect((await scriptsBelow(shared)).filter((name) => name.includes("wp-cli.phar")).length).toBeGreaterThan(50);
  });

  test("runs an environment's own version of a WordPress file", async () => {
    const site = await world.site();
    const theme = path.join(site.documentRoot, "wp-content/themes/twentytwentyfive/functions.php");
    await writeFile(theme, "<?php add_action( 'wp_head', function () { echo '<!-- changed theme -->'; } );");
    expect((await visitorOf(world.serving, site).get("/")).text).toContain("<!-- changed theme -->");
  });

  test("ignores damaged opcodes", async () => {
    const folder = await openCompiledAssets();
    const opcodes = path.join(folder, "compiled", path.basename(shared), "opcodes");
    const [build = ""] = await readdir(opcodes);
    const file = path.join(opcodes, build, "site/wp-includes/functions.php.bin");
    const content = await readFile(file);
    const damaged = [content.subarray(0, 40), content.fill(7, content.length / 2), Buffer.alloc(0)];
    const broken = await openPlayground({ assets: folder });
    onTestFinished(() => broken.close());
    const site = await broken.site();
    for (const bytes of damaged) {
      await rm(file, { force: true });
      await writeFile(file, bytes, { mode: 0o444 });
      const { misses } = await compiledFor(broken.serving, site);
      expect(misses).toBeGreaterThan(0);
      expect(misses).toBeLessThan(25);
    }
  }, 400_000);

  test("works after another process has removed the opcodes", async () => {
    const folder = await openCompiledAssets();
    const left = await openPlayground({ assets: folder });
    onTestFinished(() => left.close());
    const site = await left.site();
    await vi.waitUntil(() => left.serving.status().compiledPhpVersions.includes("8.3"), { timeout: 10_000 });
    await rm(path.join(folder, "compiled", path.basename(shared)), { recursive: true });
    const { misses } = await compiledFor(left.serving, site);
    expect(misses).toBeGreaterThan(400);
  });

  test("ignores damaged machine code", async () => {
    const folder = await openCompiledAssets();
    const file = path.join(folder, "compiled", path.basename(shared), "machine-code");
    await chmod(file, 0o644);
    await truncate(file, 1000);
    const broken = await openPlayground({ assets: folder });
    onTestFinished(() => broken.close());
    const site = await broken.site();
    expect((await visitorOf(broken.serving, site).get("/")).status).toBe(200);
  });

  test.each([
    ["write", "file_put_contents('/opcodes/new', 'x')"],
    ["remove", "unlink(glob('/opcodes/*/site/index.php.bin')[0])"],
    ["move away", "rename('/opcodes', '/gone')"],
    ["change", "fopen(glob('/opcodes/*/site/index.php.bin')[0], 'r+')"],
  ])("can't %s the opcodes", async (_name, expression) => {
    const site = await world.site();
    expect(await runPhp(world.serving, site, `var_dump((bool) @${expression});`)).toBe("bool(false)\n");
    expect(await runPhp(world.serving, site, "echo count(glob('/opcodes/*/site/index.php.bin'));")).toBe("1");
  });
});
