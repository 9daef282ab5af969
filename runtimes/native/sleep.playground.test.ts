/** Environments that nobody visits sleep: nothing of them is left, except on disk. */
import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sharedAssets } from "../playground/testing/world.ts";
import { type Site, visitorOf } from "../testing/visitor.ts";
import { opcodeJobOf } from "./environmentFpm.ts";
import { createOpcodeStore } from "./opcodes/store.ts";
import { commandLineOf, descendantsOf } from "./processTree.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";
import { inspectRoots, machineRoot } from "./versions/discovery.ts";

const descriptors = () => readdirSync("/proc/self/fd").length;
const sandboxes = () => descendantsOf(process.pid).filter((pid) => commandLineOf(pid).startsWith("bwrap "));

/** Compiles the shared code now. Otherwise, a sandbox would do so during the test. */
async function compileFor({ environment }: Site, world: NativeWorld): Promise<void> {
  const layout = await world.runtime.layout(environment);
  const { offered } = await inspectRoots([machineRoot]);
  const job = layout && offered[0] && opcodeJobOf(layout, offered[0], { assets: sharedAssets });
  if (!job) throw new Error("There is nothing to compile.");
  const failures: unknown[] = [];
  const store = createOpcodeStore({
    folder: path.join(sharedAssets, "opcodes"),
    run: path.join(path.dirname(world.environments), "run/o"),
    onFailure: (error) => failures.push(error),
  });
  await store.find(job);
  await store.settled();
  expect(failures).toEqual([]);
  expect(await store.find(job)).not.toBe(null);
  await store.close();
}

test("an environment that sleeps has no process, descriptor or folder for sockets, and wakes up", async () => {
  const world = await openNative({ idleSeconds: 1 });
  onTestFinished(() => world.close());
  const sites = [await world.site(), await world.site()];
  const [site] = sites;
  if (site) await compileFor(site, world);
  const run = path.join(path.dirname(world.environments), "run/p");
  const visitAll = async () => {
    for (const site of sites) expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
  };
  const untilAsleep = async () => {
    await expect.poll(sandboxes).toEqual([]);
    await expect.poll(() => readdir(run)).toEqual([]);
    expect(world.serving.status().workers).toEqual([]);
  };
  await visitAll();
  await untilAsleep();
  const before = descriptors();
  await visitAll();
  expect(descriptors()).toBeGreaterThan(before);
  await untilAsleep();
  await expect.poll(descriptors).toBeLessThanOrEqual(before);
});

test("the least recently used environment falls asleep to make room for another one", async () => {
  // For two native workers, and none of the playground.
  const world = await openNative({ allWorkersMemoryBytes: 150e6, maxWorkers: 100 });
  onTestFinished(() => world.close());
  const [first, second, third] = [await world.site(), await world.site(), await world.site()];
  const served = [first, second, third].map(async ({ environment }) => {
    const layout = await world.runtime.layout(environment);
    if (layout === null) throw new Error("The environment has no layout.");
    return { ...environment, ...layout, companyId: "company", phpVersion: world.phpVersion, runtime: "native" };
  });
  await world.serving.setEnvironments(await Promise.all(served));
  for (const site of [first, second, first, third]) await visitorOf(world.serving, site).get("/");
  const awake = () => world.serving.status().workers.map(({ environmentId }) => environmentId);
  await expect.poll(awake).toEqual([first.environment.id, third.environment.id]);
});
