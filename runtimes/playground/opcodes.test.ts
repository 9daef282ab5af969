import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { exampleRequest } from "../conformance.ts";
import type { ServedEnvironment } from "../runtime.ts";
import { createAssetStore } from "./assets/store.ts";
import { createOpcodeStore, type OpcodeStore } from "./templates/opcodes.ts";
import { createTemplateStore } from "./templates/template.ts";
import { servedAs } from "./testing/handMade.ts";
import { runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

function openStore(folder: string): OpcodeStore {
  const assets = createAssetStore({ folder });
  return createOpcodeStore(assets, createTemplateStore(assets));
}

let world: Playground;
let shared: string;
beforeAll(async () => {
  shared = await openStore(sharedAssets).get("8.3");
  world = await openPlayground();
}, 120_000);
afterAll(() => world?.close());

/** An asset store of this test's own that has everything but opcodes. */
async function openAssets(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "assets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(sharedAssets)) {
    if (name !== "opcodes") await symlink(path.join(sharedAssets, name), path.join(folder, name));
  }
  return folder;
}

/** The same with those of the usual version. */
async function openUsualAssets(): Promise<string> {
  const folder = await openAssets();
  await mkdir(path.join(folder, "opcodes"));
  await cp(shared, path.join(folder, "opcodes", path.basename(shared)), { recursive: true });
  return folder;
}

async function scriptsBelow(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".php.bin")).toSorted();
}

async function phpFilesOfWordPress(): Promise<number> {
  const { core } = await createAssetStore({ folder: sharedAssets }).files();
  const shown = (await readdir(core, { recursive: true })).filter((name) => name.endsWith(".php"));
  return shown.filter((name) => name.startsWith("wp-includes/") || name.startsWith("wp-admin/")).length;
}

interface Compiled {
  readonly scripts: number;
  readonly misses: number;
}

/** How much of the front page's code a new worker of the site has, and how much of that it had to compile. */
async function compiledFor(serving: Playground["serving"], site: Site): Promise<Compiled> {
  for (const { pid, environmentId } of serving.status().workers) {
    if (environmentId === site.environment.id) process.kill(pid, "SIGKILL");
  }
  expect((await visitorOf(serving, site).get("/")).status).toBe(200);
  const counts = "$s = opcache_get_status()['opcache_statistics'];";
  const asked = `${counts} echo json_encode(['scripts' => $s['num_cached_scripts'], 'misses' => $s['misses']]);`;
  return JSON.parse(await runPhp(serving, site, asked));
}

describe("the opcodes of WordPress", () => {
  test("are those of every script that sites share, although some declare the same functions", async () => {
    const scripts = await scriptsBelow(shared);
    const ofCore = scripts.filter((name) => /\/site\/wp-(?:includes|admin)\//.test(name));
    expect(ofCore).toHaveLength(await phpFilesOfWordPress());
    expect(scripts.some((name) => name.endsWith("/site/wp-includes/functions.php.bin"))).toBe(true);
    expect(scripts.some((name) => name.endsWith("/site/wp-admin/includes/noop.php.bin"))).toBe(true);
    expect(scripts.some((name) => name.endsWith("/site/wp-config.php.bin"))).toBe(false);
  });

  test("can be read by every environment's user and written by none", async () => {
    for (const entry of await readdir(shared, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(path.join(entry.parentPath, entry.name));
      expect(mode & 0o777).toBe(entry.isDirectory() ? 0o755 : 0o444);
    }
  });

  test("are made once, whoever asks, and not known before", async () => {
    const folder = await openAssets();
    const [one, other] = [openStore(folder), openStore(folder)];
    expect(one.find("8.3")).toBeNull();
    const [made, same] = await Promise.all([one.get("8.3"), other.get("8.3")]);
    expect(same).toBe(made);
    expect([one.find("8.3"), other.find("8.3")]).toEqual([made, made]);
    expect(await scriptsBelow(made)).toEqual(await scriptsBelow(shared));
  }, 120_000);

  test("of somebody who was killed while making them are not used", async () => {
    const folder = await openAssets();
    const half = path.join(folder, "opcodes", `${path.basename(shared)}.new`);
    await mkdir(half, { recursive: true });
    await writeFile(path.join(half, "left"), "half");
    const made = await openStore(folder).get("8.3");
    expect(await readdir(path.join(folder, "opcodes"))).not.toContain(path.basename(half));
    expect(await readdir(made)).not.toContain("left");
  }, 120_000);

  test.each([
    [
      "tried out",
      async ({ serving }: Playground, next: ServedEnvironment) => {
        const { body } = await serving.tryOut(next, exampleRequest("http://example.localhost"));
        body.resume();
      },
    ],
    ["served", ({ serving }: Playground, next: ServedEnvironment) => serving.setEnvironments([next])],
  ])(
    "are made in the background for another version of PHP that is %s",
    async (_what, use) => {
      const folder = await openUsualAssets();
      const own = await openPlayground({ assets: folder });
      onTestFinished(() => own.close());
      const site = await own.site();
      await use(own, { ...(await servedAs(own, site)), phpVersion: "8.2" });
      const made = () => readdir(path.join(folder, "opcodes"));
      await vi.waitUntil(async () => (await made()).some((name) => /-8\.2-[\d.]+$/.test(name)), { timeout: 300_000 });
    },
    400_000,
  );

  test("are made ahead when no worker was busy for a while, and known to whoever comes later", async () => {
    const folder = await openUsualAssets();
    const own = await openPlayground({ assets: folder, aheadPhpVersions: ["8.4", "8.3"], aheadSeconds: 2 });
    onTestFinished(() => own.close());
    const site = await own.site();
    // Three times as long as it must have been calm.
    expect(await runPhp(own.serving, site, "sleep(6); echo 'done';")).toBe("done");
    expect((await readdir(path.join(folder, "opcodes"))).filter((name) => name.includes("-8.4-"))).toEqual([]);
    const knows = ({ serving }: Playground) => serving.status().compiledPhpVersions.includes("8.4");
    await vi.waitUntil(() => knows(own), { timeout: 300_000 });
    expect(own.serving.status().compiledPhpVersions).toEqual(["8.3", "8.4"]);

    const later = await openPlayground({ assets: folder, aheadPhpVersions: ["8.4"], aheadSeconds: 3600 });
    onTestFinished(() => later.close());
    await vi.waitUntil(() => knows(later), { timeout: 10_000 });
  }, 400_000);

  test("that can't be made are missed by nobody: the worker compiles for itself", async () => {
    const failures: unknown[] = [];
    const folder = await openAssets();
    await writeFile(path.join(folder, "opcodes"), "a file where a folder should be");
    const without = await openPlayground({ assets: folder, onSpareFailure: (error) => failures.push(error) });
    onTestFinished(() => without.close());
    const site = await without.site();
    const { scripts, misses } = await compiledFor(without.serving, site);
    expect(scripts).toBeGreaterThan(400);
    expect(misses).toBeGreaterThan(400);
    expect(failures).toHaveLength(1);
  }, 120_000);
});

describe("a worker that has opcodes", () => {
  test("compiles next to nothing of WordPress for its first page", async () => {
    const site = await world.site();
    const { scripts, misses } = await compiledFor(world.serving, site);
    expect(scripts).toBeGreaterThan(400);
    expect(misses).toBeLessThan(20);
  });

  test("runs an environment's own version of a file that WordPress brings", async () => {
    const site = await world.site();
    const theme = path.join(site.documentRoot, "wp-content/themes/twentytwentyfive/functions.php");
    await writeFile(theme, "<?php add_action( 'wp_head', function () { echo '<!-- changed theme -->'; } );");
    expect((await visitorOf(world.serving, site).get("/")).text).toContain("<!-- changed theme -->");
  });

  test("reads damaged ones as if they were not there", async () => {
    const folder = await openAssets();
    const place = path.join(folder, "opcodes", path.basename(shared));
    await cp(shared, place, { recursive: true });
    const [build = ""] = await readdir(place);
    const file = path.join(place, build, "site/wp-includes/functions.php.bin");
    const content = await readFile(file);
    const damaged = [content.subarray(0, 40), content.fill(7, content.length / 2), Buffer.alloc(0)];
    const hurt = await openPlayground({ assets: folder });
    onTestFinished(() => hurt.close());
    const site = await hurt.site();
    for (const bytes of damaged) {
      await rm(file, { force: true });
      await writeFile(file, bytes, { mode: 0o444 });
      const { misses } = await compiledFor(hurt.serving, site);
      expect(misses).toBeGreaterThan(0);
      expect(misses).toBeLessThan(25);
    }
  }, 120_000);

  test.each([
    ["write", "file_put_contents('/opcodes/new', 'x')"],
    ["remove", "unlink(glob('/opcodes/*/site/index.php.bin')[0])"],
    ["move away", "rename('/opcodes', '/gone')"],
    ["change", "fopen(glob('/opcodes/*/site/index.php.bin')[0], 'r+')"],
  ])("can't %s them", async (_name, expression) => {
    const site = await world.site();
    expect(await runPhp(world.serving, site, `var_dump((bool) @${expression});`)).toBe("bool(false)\n");
    expect(await runPhp(world.serving, site, "echo count(glob('/opcodes/*/site/index.php.bin'));")).toBe("1");
  });
});
