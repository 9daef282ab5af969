/** A world of real WordPress with both runtimes, the playground and the native one. */
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "@sitewright/runtimes/assets/store.ts";
import { createNativeRuntime } from "@sitewright/runtimes/native/runtime.ts";
import { createNativeServing } from "@sitewright/runtimes/native/serving.ts";
import { createTemplateStore } from "@sitewright/runtimes/playground/templates/template.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import { combineRuntimes } from "@sitewright/runtimes/severalRuntimes.ts";
import { combineServings } from "@sitewright/runtimes/severalServings.ts";
import { findProgram } from "../../tools/programs.ts";
import { findRuntimes } from "../store/sites/environmentStates.ts";
import { playground, preparePlayground } from "./playground.ts";
import { servicesOf } from "./services.ts";
import { makeWorld, type World, type WorldRuntime } from "./world.ts";

/** The PHP version that the native runtime has. */
export const nativePhpVersion = "8.2";

/** A new, empty world, in which new environments are in the playground. The caller disposes of it. */
export async function makeWorldWithTwoRuntimes(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const run = await mkdtemp(join(tmpdir(), "swnative-"));
  stack.defer(() => rm(run, { recursive: true, force: true }));
  let native: ReturnType<typeof createNativeRuntime> | null = null;
  const world = stack.use(
    await makeWorld((dataFolder): WorldRuntime => {
      const first = playground(dataFolder);
      const php = nativePhp(dataFolder);
      native = createNativeRuntime({
        ...php,
        run: join(run, "control"),
        templates: createTemplateStore(createAssetStore({ folder: sharedAssets })),
        phpVersions: [nativePhpVersion],
        defaultPhpVersion: nativePhpVersion,
      });
      return {
        ...first,
        makeServing: (phpFolder, edgePort) =>
          combineServings({
            playground: servingOf(first)(phpFolder, edgePort),
            native: createNativeServing({
              ...php,
              run: join(run, "edge"),
              maxWorkers: 4,
              requestDeadlineSeconds: 60,
              idleSeconds: 300,
              onLog: () => undefined,
              onFailure: (error) => {
                throw error;
              },
            }),
          }),
      };
    }),
  );
  await preparePlayground(world);
  if (native === null) throw new Error("The world has no native runtime");
  const runtime = combineRuntimes({ playground: world.services.runtime, native }, (ids) =>
    findRuntimes(world.own.database, ids),
  );
  const services = servicesOf(world.facts, world.own.database, runtime);
  const owned = stack.move();
  return { ...world, services, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function servingOf({ makeServing }: WorldRuntime): NonNullable<WorldRuntime["makeServing"]> {
  if (makeServing === undefined) throw new Error("The playground serves its environments");
  return makeServing;
}

function nativePhp(dataFolder: string) {
  const environments = join(dataFolder, "environments");
  mkdirSync(environments, { recursive: true });
  const program = { root: "/", fpm: findProgram("php-fpm", process.env) ?? "php-fpm", php: "/usr/bin/php8.2" };
  return {
    assets: sharedAssets,
    environments,
    phpOf: (version: string) => {
      if (version !== nativePhpVersion) throw new Error(`There is no PHP ${version}.`);
      return program;
    },
    packageSource: null,
    layers: join(dataFolder, "layers"),
    network: null,
  };
}
