/** The operations through real kills with the real runtime: what the fake can't show is what PHP leaves half done. */
import { join } from "node:path";
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import { createPlaygroundServing } from "@sitewright/runtimes/playground/serving.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { creatingSite, deletingSite } from "../testing/sites.ts";
import { makeWorld, type World, type WorldRuntime } from "../testing/world.ts";
import { type Case, killCases, runKills } from "./crashHarness.ts";
import { operationDefinitions } from "./definitions.ts";

/** Kills come at any moment of a step: making a site takes some 50 ms, its first page some 150. */
const longestWorkMilliseconds = 100;

let world: World;
beforeAll(async () => {
  world = await makeWorld(playground);
  await world.services.runtime.prepare(() => undefined);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

function playground(dataFolder: string): WorldRuntime {
  const options = { assets: sharedAssets, environments: join(dataFolder, "environments") };
  return {
    runtime: createPlaygroundRuntime(options),
    parameter: {
      module: "@sitewright/runtimes/playground/runtime.ts",
      factory: "createPlaygroundRuntime",
      options,
    },
    makeServing: (run, edgePort) =>
      createPlaygroundServing({
        ...options,
        run,
        edgePort,
        siteSuffix: "localhost",
        spareWorkers: 1,
        maxWorkers: 2,
        requestDeadlineSeconds: 60,
        idleSeconds: 300,
      }),
  };
}

const amidWork = ({ fault }: Case) => fault.killAt?.endsWith(":in") ?? false;
const subjects = { "creating a site": creatingSite, "deleting a site": deletingSite };

describe.each(Object.entries(subjects))("%s with real PHP is finished or never happened", (_, subject) => {
  test("when its process is killed amid any of its work", async () => {
    const { forward, back } = killCases(operationDefinitions(world.services)[subject.kind]);
    const cases = [...forward, ...back].filter(amidWork);
    expect(cases.length).toBeGreaterThan(3);
    expect(await runKills(subject, { worlds: [world], longestWorkMilliseconds }, cases)).toEqual([]);
  });
});
