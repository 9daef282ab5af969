/**
 * Clones and releases that are killed at any moment: the next attempt completes, whatever the killed one has left
 * behind.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exampleSpec } from "../conformance/conformance.ts";
import type { Site } from "../testing/visitor.ts";
import type { RuntimeCall } from "./testing/runtimeChild.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

let world: Playground;
let source: Site;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 1 });
  source = await world.site();
  await writeFile(path.join(source.documentRoot, "last.txt"), "whole");
}, 120_000);
afterAll(() => world.close());

async function killDuring(call: Omit<RuntimeCall, "options">, milliseconds: number): Promise<void> {
  const module = fileURLToPath(new URL("./testing/runtimeChild.ts", import.meta.url));
  const child: ChildProcess = fork(module, { execArgv: [] });
  const ended = once(child, "exit");
  const options = { assets: sharedAssets, environments: world.environments };
  child.send({ options, ...call } satisfies RuntimeCall);
  await once(child, "message");
  await delay(milliseconds);
  child.kill("SIGKILL");
  await ended;
}

/** Milliseconds after which the two copies, made at the same time, are killed. They take some 250 ms. */
const killDelays = [0, 10, 25, 50, 90, 140, 200, 260];
const addresses = (to: string) => [{ from: source.wordpress.address, to }];

async function expectComplete(documentRoot: string, address: string): Promise<void> {
  expect(await readFile(path.join(documentRoot, "last.txt"), "utf8")).toBe("whole");
  expect(await readFile(path.join(documentRoot, "wp-config.php"), "utf8")).toContain("require_once");
  const database = new DatabaseSync(path.join(documentRoot, "../database/wordpress.sqlite"), { readOnly: true });
  const option = database.prepare("SELECT option_value AS value FROM wp_options WHERE option_name = 'siteurl'").get();
  database.close();
  expect(option).toEqual({ value: address });
}

test.each(killDelays)(
  "a clone and a staged release killed after %i milliseconds are completed by the next attempt, and nothing else is left",
  async (milliseconds) => {
    const copy = exampleSpec();
    const target = await world.site();
    const from = { source: source.environment };
    const clone = { ...from, environment: copy.environment, addresses: addresses(copy.wordpress.address) };
    const { environment } = target;
    const stage = {
      ...from,
      environment,
      token: "one",
      files: "all",
      database: "all",
      addresses: addresses(target.wordpress.address),
    } as const;
    await killDuring({ clone, stage }, milliseconds);

    const found = await world.runtime.layout(copy.environment);
    if (found !== null) await expectComplete(found.documentRoot, copy.wordpress.address);
    await world.runtime.clone(clone);
    const layout = await world.runtime.layout(copy.environment);
    await expectComplete(layout?.documentRoot ?? "", copy.wordpress.address);
    const names = await readdir(world.environments);
    expect(names.filter((name) => name.startsWith(copy.environment.id))).toEqual([copy.environment.id]);

    await world.runtime.stage(stage);
    const staged = await world.runtime.staged(environment, "one");
    await expectComplete(staged?.documentRoot ?? "", target.wordpress.address);
    const releases = path.join(world.environments, environment.id, "releases");
    expect(await readdir(releases)).toEqual(["1", String(staged?.release)]);
  },
);
