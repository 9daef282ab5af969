/** How workers of several sites share the memory, with real PHP. */
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let greedy: Site;
let modest: Site;

beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 6, allWorkersMemoryBytes: 900e6 });
  greedy = await world.site({}, "greedy");
  modest = await world.site({}, "modest");
}, 120_000);
afterAll(() => world.close());

const timeout = 60_000;
const killed = () =>
  world.serving.usage().find(({ environmentId }) => environmentId === greedy.environment.id)?.killedForMemory ?? 0;

test.runIf(process.platform === "linux")(
  "a worker may use free memory beyond its allocation, and is killed when another site needs it",
  { timeout },
  async () => {
    const useMemory = `ini_set('memory_limit', '900M'); $used = str_repeat('x', 350 << 20); touch('/site/grown');
      while (!file_exists('/site/go')) usleep(10000); echo 'done';`;
    await addScript(greedy, "grow.php", useMemory);
    const growing = outcomeOf(visitorOf(world.serving, greedy).get("/grow.php"));
    await vi.waitUntil(() => existsSync(path.join(greedy.documentRoot, "grown")), { timeout });
    const largest = () => Math.max(...world.serving.status().workers.map(({ rssBytes }) => rssBytes));
    await vi.waitUntil(() => largest() > 620e6, { timeout });
    expect(killed()).toBe(0);
    expect(await runPhp(world.serving, modest, "echo 'modest';")).toBe("modest");
    expect(await growing).toBe("crashed");
    expect(killed()).toBe(1);
  },
);

test("an idle worker is ended for another site's, and none within its allocation is killed", { timeout }, async () => {
  const sites = [greedy, modest, await world.site({}, "third")];
  for (const site of sites) expect(await runPhp(world.serving, site, "echo 'here';")).toBe("here");
  expect(world.serving.status().workers.length).toBeLessThan(3);
  expect(killed()).toBe(1);
});
