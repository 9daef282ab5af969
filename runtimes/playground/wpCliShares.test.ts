/** What a command of WP-CLI may take of its environment's room, memory and network. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WpCliCommand } from "../runtime.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import type { Site } from "./testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

const patience = 240_000;
let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground();
  site = await world.site();
}, patience);
afterAll(() => world.close());

/** What WordPress's PHP prints. */
async function printed(code: string, share: Partial<WpCliCommand>): Promise<string> {
  const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60, ...share };
  const { signal } = new AbortController();
  const { stdout } = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  return stdout.text;
}

test("its files grow as far as there is room, and not further; what is removed makes room", {
  timeout: patience,
}, async () => {
  await writeFile(path.join(site.documentRoot, "old.bin"), Buffer.alloc(1 << 20));
  const code = `$put = fn ($name) => @file_put_contents($name, str_repeat('x', 1 << 20)) === 1 << 20;
    $before = [$put('new.bin'), $put('more.bin')];
    @unlink('old.bin'); @unlink('more.bin');
    echo json_encode([$before, $put('more.bin')]);`;
  expect(JSON.parse(await printed(code, { diskLeftBytes: 1_500_000 }))).toEqual([[true, false], true]);
});

test("one that is too large already changes rows and removes files", { timeout: patience }, async () => {
  await writeFile(path.join(site.documentRoot, "old.bin"), "old");
  const code = `update_option('blogname', 'Meadow');
    echo json_encode([get_option('blogname'), unlink('old.bin'), @file_put_contents('new.txt', 'x')]);`;
  expect(JSON.parse(await printed(code, { diskLeftBytes: -1_000_000 }))).toEqual(["Meadow", true, false]);
});

test("PHP's own limit of memory is lifted by WP-CLI, the process's is not", { timeout: patience }, async () => {
  const options = { assets: sharedAssets, environments: world.environments, wpCliLimits: { memoryBytes: 600e6 } };
  const code = "$all = []; while (true) $all[] = str_repeat('x', 1 << 20);";
  const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60 };
  const { signal } = new AbortController();
  const begin = async () => undefined;
  const outcome = await createPlaygroundRuntime(options).runWpCli(site.environment, command, begin, signal);
  expect(outcome).toMatchObject({ exitCode: null, end: "memory" });
});
