import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createAssetStore } from "../assets/store.ts";
import { exampleRequest, exampleSpec } from "../conformance/conformance.ts";
import { addPlain } from "../testing/handMade.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { buildOf } from "./php/build.ts";
import { type CompiledStore, createCompiledStore } from "./templates/compiled.ts";
import { createTemplateStore } from "./templates/template.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

function openStore(folder: string): CompiledStore {
  const assets = createAssetStore({ folder });
  return createCompiledStore(assets, createTemplateStore(assets));
}

let world: Playground;
/** Folder of the compiled code of the default PHP version. */
let shared: string;
/** A site with a theme of its own, whose worker has the compiled code. */
let site: Site;
let firstPage: string;
let atFirstPage: Counts;
beforeAll(async () => {
  shared = path.dirname((await openStore(sharedAssets).get("8.3")).opcodes);
  world = await openPlayground();
  site = await world.site();
  const theme = path.join(site.documentRoot, "wp-content/themes/twentytwentyfive/functions.php");
  await writeFile(theme, "<?php add_action( 'wp_head', function () { echo '<!-- changed theme -->'; } );");
  firstPage = (await visitorOf(world.serving, site).get("/")).text;
  atFirstPage = await countScripts(world.serving, site);
}, 400_000);
afterAll(() => world?.close());

/** Creates a separate asset store, without compiled code or with the default PHP version's. */
async function openAssets(compiled: "none" | "linked" | "copied"): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "assets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(sharedAssets)) {
    if (name !== "compiled") await symlink(path.join(sharedAssets, name), path.join(folder, name));
  }
  if (compiled === "none") return folder;
  await mkdir(path.join(folder, "compiled"));
  if (compiled === "linked") await symlink(shared, compiledIn(folder, "8.3"));
  else await cp(shared, compiledIn(folder, "8.3"), { recursive: true });
  return folder;
}

/** Returns the folder of the compiled code of a PHP version. It counts as compiled if the folder exists. */
function compiledIn(assets: string, phpVersion: string): string {
  return path.join(assets, "compiled", path.basename(shared).replace(buildOf("8.3"), buildOf(phpVersion)));
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
  /** Scripts of the platform, outside of WordPress. */
  readonly own: number;
}

/** Counts the scripts that a worker of the site has used, and those that it had to compile. */
async function countScripts(serving: Playground["serving"], of: Site): Promise<Counts> {
  const code = `$status = opcache_get_status(); $statistics = $status['opcache_statistics'];
    $own = array_filter(get_included_files(), fn($path) => str_starts_with($path, '/internal/'));
    echo json_encode(['scripts' => $statistics['num_cached_scripts'], 'misses' => $statistics['misses'], 'own' => count($own)]);`;
  return JSON.parse(await runPhp(serving, of, code));
}

/** Counts them for the front page in a new worker of the site. */
async function compiledFor(serving: Playground["serving"], of: Site): Promise<Counts> {
  for (const { pid } of serving.status().workers) process.kill(pid, "SIGKILL");
  expect((await visitorOf(serving, of).get("/")).status).toBe(200);
  return countScripts(serving, of);
}

/**
 * The misses of WordPress's scripts. The platform's own scripts are new files in each worker, which PHP doesn't cache at once:
 * the page misses them, and the script that counts misses them again.
 */
function ofWordPress({ misses, own }: Counts): number {
  return misses - 2 * own;
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
    const folder = await openAssets("none");
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

  test("is compiled when another PHP version is tried or served", async () => {
    const assets = await openAssets("linked");
    const own = await openPlayground({ assets, precompilePhpVersions: ["8.1", "8.2"] });
    onTestFinished(() => own.close());
    const known = () => own.serving.status().machinery.compiledPhpVersions;
    const served = await addPlain(own, exampleSpec().environment, { "index.php": "<?php echo PHP_VERSION;" });
    await vi.waitUntil(() => known().includes("8.3"), { timeout: 60_000 });
    expect(known()).toEqual(["8.3"]);
    // As if another process had compiled them.
    for (const phpVersion of ["8.1", "8.2"]) await mkdir(compiledIn(assets, phpVersion));
    const request = exampleRequest("http://example.localhost");
    const { body } = await own.serving.runTrial({ ...served, phpVersion: "8.2" }, request);
    expect(await text(body)).toMatch(/^8\.2\./);
    await expect.poll(known).toEqual(["8.2", "8.3"]);
    await own.serving.setEnvironments([{ ...served, phpVersion: "8.1" }]);
    await expect.poll(known).toEqual(["8.1", "8.2", "8.3"]);
  });

  test("is compiled in advance after a quiet period, and existing code is found at once", async () => {
    const assets = await openAssets("linked");
    await mkdir(compiledIn(assets, "8.5"));
    const own = await openPlayground({ assets, precompilePhpVersions: ["8.5", "8.4"], aheadSeconds: 1 });
    onTestFinished(() => own.close());
    const known = () => own.serving.status().machinery.compiledPhpVersions;
    // Three times the required quiet period.
    const script = "<?php sleep(3); echo 'done';";
    const served = await addPlain(own, exampleSpec().environment, { "index.php": script });
    await own.serving.setEnvironments([served]);
    const answer = own.serving.handle(served.id, exampleRequest("http://example.localhost"));
    await expect.poll(known).toEqual(["8.3", "8.5"]);
    // As if another process had compiled it.
    await mkdir(compiledIn(assets, "8.4"));
    expect(await text((await answer).body)).toBe("done");
    expect(known()).toEqual(["8.3", "8.5"]);
    await expect.poll(known).toEqual(["8.3", "8.4", "8.5"]);
  });

  test("is not required: if it can't be compiled, each worker compiles for itself", async () => {
    const failures: unknown[] = [];
    const folder = await openAssets("none");
    await writeFile(path.join(folder, "compiled"), "a file where a folder should be");
    const without = await openPlayground({ assets: folder, onWarmUpFailure: (error) => failures.push(error) });
    onTestFinished(() => without.close());
    const own = await without.site();
    const { scripts, misses } = await compiledFor(without.serving, own);
    expect(scripts).toBeGreaterThan(400);
    expect(misses).toBeGreaterThan(400);
    expect(failures).toHaveLength(1);
    expect(await evaluated(without, own, "get_option('blogname')")).toBe(own.wordpress.title);
  }, 400_000);
});

describe("a worker with precompiled code", () => {
  test("compiles almost nothing of WordPress for its first page", () => {
    expect(atFirstPage.scripts).toBeGreaterThan(400);
    expect(ofWordPress(atFirstPage)).toBeLessThan(5);
  });

  test("shares that code with WP-CLI commands", async () => {
    const own = "ini_get('opcache.file_cache') . ' ' . (int) ini_get('opcache.file_cache_only')";
    expect(await evaluated(world, site, own)).toBe("/opcodes 1");
    expect((await scriptsBelow(shared)).filter((name) => name.includes("wp-cli.phar")).length).toBeGreaterThan(50);
  });

  test("runs an environment's own version of a WordPress file", () => {
    expect(firstPage).toContain("<!-- changed theme -->");
  });

  test("ignores damaged code, and works after another process has removed it", async () => {
    const assets = await openAssets("copied");
    const compiled = compiledIn(assets, "8.3");
    const [build = ""] = await readdir(path.join(compiled, "opcodes"));
    const damage = async (script: string, change: (content: Buffer) => Buffer) => {
      const file = path.join(compiled, "opcodes", build, `site/wp-includes/${script}.bin`);
      const content = await readFile(file);
      await rm(file);
      await writeFile(file, change(content), { mode: 0o444 });
    };
    await damage("functions.php", (content) => content.subarray(0, 40));
    await damage("post.php", (content) => content.fill(7, content.length / 2));
    await damage("option.php", () => Buffer.alloc(0));
    await chmod(path.join(compiled, "machine-code"), 0o644);
    await truncate(path.join(compiled, "machine-code"), 1000);
    const broken = await openPlayground({ assets });
    onTestFinished(() => broken.close());
    const own = await broken.site();
    await vi.waitUntil(() => broken.serving.status().machinery.compiledPhpVersions.includes("8.3"), {
      timeout: 10_000,
    });
    const misses = ofWordPress(await compiledFor(broken.serving, own));
    expect(misses).toBeGreaterThan(ofWordPress(atFirstPage));
    expect(misses).toBeLessThan(12);
    await rm(compiled, { recursive: true });
    expect((await compiledFor(broken.serving, own)).misses).toBeGreaterThan(400);
  }, 400_000);

  test.each([
    ["write", "file_put_contents('/opcodes/new', 'x')"],
    ["remove", "unlink(glob('/opcodes/*/site/index.php.bin')[0])"],
    ["move away", "rename('/opcodes', '/gone')"],
    ["change", "fopen(glob('/opcodes/*/site/index.php.bin')[0], 'r+')"],
  ])("can't %s the opcodes", async (_name, expression) => {
    expect(await runPhp(world.serving, site, `var_dump((bool) @${expression});`)).toBe("bool(false)\n");
    expect(await runPhp(world.serving, site, "echo count(glob('/opcodes/*/site/index.php.bin'));")).toBe("1");
  });
});
