/** Limits of WP-CLI commands: disk space and memory. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WpCliCommand } from "../runtime.ts";
import type { Site } from "../testing/visitor.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

const timeout = 240_000;
let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground();
  site = await world.site();
}, timeout);
afterAll(() => world.close());

/** Runs PHP code in WordPress by WP-CLI. Returns its output. */
async function printed(code: string, share: Partial<WpCliCommand>): Promise<string> {
  const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60, ...share };
  const { signal } = new AbortController();
  const { stdout } = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  return stdout.text;
}

test("files grow up to the free space, and a removed file frees space", {
  timeout,
}, async () => {
  await writeFile(path.join(site.documentRoot, "old.bin"), Buffer.alloc(1 << 20));
  const code = `$put = fn ($name) => @file_put_contents($name, str_repeat('x', 1 << 20)) === 1 << 20;
    $before = [$put('new.bin'), $put('more.bin')];
    @unlink('old.bin'); @unlink('more.bin');
    echo json_encode([$before, $put('more.bin')]);`;
  expect(JSON.parse(await printed(code, { diskLeftBytes: 1_500_000 }))).toEqual([[true, false], true]);
});

test("an environment over its quota can change rows and remove files", { timeout }, async () => {
  await writeFile(path.join(site.documentRoot, "old.bin"), "old");
  const code = `update_option('blogname', 'Meadow');
    echo json_encode([get_option('blogname'), unlink('old.bin'), @file_put_contents('new.txt', 'x')]);`;
  expect(JSON.parse(await printed(code, { diskLeftBytes: -1_000_000 }))).toEqual(["Meadow", true, false]);
});

test("WP-CLI lifts PHP's memory limit, but not the limit of the process", { timeout }, async () => {
  const options = { assets: sharedAssets, environments: world.environments, wpCliLimits: { memoryBytes: 600e6 } };
  const code = "$all = []; while (true) $all[] = str_repeat('x', 1 << 20);";
  const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60 };
  const { signal } = new AbortController();
  const begin = async () => undefined;
  const outcome = await createPlaygroundRuntime(options).runWpCli(site.environment, command, begin, signal);
  expect(outcome).toMatchObject({ exitCode: null, end: "memory" });
});
