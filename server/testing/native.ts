/** The native runtime for a world: php-fpm of this machine, which stands for every PHP version. */
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "@sitewright/runtimes/assets/store.ts";
import { createNativeRuntime } from "@sitewright/runtimes/native/runtime.ts";
import { createNativeServing } from "@sitewright/runtimes/native/serving.ts";
import { createTemplateStore } from "@sitewright/runtimes/playground/templates/template.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import { findProgram } from "../../tools/programs.ts";
import { preparePlayground } from "./playground.ts";
import { makeWorld, type World } from "./world.ts";

/** What both sides of the native runtime need. Its sandboxes have no network. */
export function nativePhp(dataFolder: string) {
  const environments = join(dataFolder, "environments");
  mkdirSync(environments, { recursive: true });
  const fpm = findProgram("php-fpm", process.env) ?? "php-fpm";
  const program = { root: "/", fpm, php: "/usr/bin/php8.2", extensions: [] };
  return {
    assets: sharedAssets,
    environments,
    phpOf: () => program,
    packageSource: null,
    layers: join(dataFolder, "layers"),
    network: null,
  };
}

/** For the edge, whose failures of PHP tests see as failures of pages. */
export const nativeLogs = {
  onLog: () => undefined,
  onFailure: (error: unknown) => {
    throw error;
  },
};

interface Folders {
  readonly dataFolder: string;
  /** Folder for sockets. */
  readonly run: string;
}

/** Also called by processes that work in the world. */
export function createWorldRuntime({ dataFolder, run }: Folders): Runtime {
  return createNativeRuntime({
    ...nativePhp(dataFolder),
    run,
    templates: createTemplateStore(createAssetStore({ folder: sharedAssets })),
    phpVersions: ["8.3", "8.4"],
    defaultPhpVersion: "8.3",
  });
}

/** A new, empty world of WordPress on native PHP. The caller disposes of it. */
export async function makeNativeWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const run = await mkdtemp(join(tmpdir(), "swnative-"));
  stack.defer(() => rm(run, { recursive: true, force: true }));
  const world = stack.use(
    await makeWorld((dataFolder) => {
      const options = { dataFolder, run: join(run, "control") };
      return {
        runtime: createWorldRuntime(options),
        parameter: { module: "@sitewright/server/testing/native.ts", factory: "createWorldRuntime", options },
        makeServing: () =>
          createNativeServing({
            ...nativePhp(dataFolder),
            ...nativeLogs,
            run: join(run, "edge"),
            maxWorkers: 4,
            requestDeadlineSeconds: 60,
            idleSeconds: 300,
          }),
      };
    }),
  );
  await preparePlayground(world);
  const owned = stack.move();
  return { ...world, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
