/** The real runtime for a world, with the asset store that all tests share. */
import { join } from "node:path";
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import { createPlaygroundServing, type PlaygroundServingOptions } from "@sitewright/runtimes/playground/serving.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import { credentials } from "./edge.ts";
import { makeRuntime } from "./services.ts";
import { makeWorld, type World, type WorldRuntime } from "./world.ts";

const defaultDeadlineSeconds = 60;

/** A new, empty world of real WordPress. The caller disposes of it. */
export async function makePlaygroundWorld(requestDeadlineSeconds?: number): Promise<World> {
  const world = await makeWorld((dataFolder) => playground(dataFolder, requestDeadlineSeconds));
  await preparePlayground(world);
  return world;
}

/** Prepares the runtime of a world that has the real one. */
export async function preparePlayground(world: World): Promise<void> {
  const runtime = await makeRuntime(world.runtime);
  await runtime.prepare(() => undefined);
}

export function playground(dataFolder: string, requestDeadlineSeconds = defaultDeadlineSeconds): WorldRuntime {
  const options = { assets: sharedAssets, environments: join(dataFolder, "environments") };
  return {
    runtime: createPlaygroundRuntime(options),
    parameter: {
      module: "@sitewright/runtimes/playground/runtime.ts",
      factory: "createPlaygroundRuntime",
      options,
    },
    makeServing: (run, edgePort) =>
      createPlaygroundServing({ ...playgroundServing(dataFolder, run, edgePort), requestDeadlineSeconds }),
  };
}

/** `run` is a folder for sockets. */
export function playgroundServing(dataFolder: string, run: string, edgePort: () => number): PlaygroundServingOptions {
  return {
    assets: sharedAssets,
    environments: join(dataFolder, "environments"),
    run,
    credentialOf: credentials.of,
    edgePort,
    siteSuffix: "localhost",
    preparedWorkers: 0,
    maxWorkers: 4,
    requestDeadlineSeconds: defaultDeadlineSeconds,
    idleSeconds: 300,
  };
}
