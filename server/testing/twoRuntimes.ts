/** A world of real WordPress with both runtimes, the playground and the native one. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssetStore } from "@sitewright/runtimes/assets/store.ts";
import { withMoves } from "@sitewright/runtimes/movingServing.ts";
import { createNativeRuntime } from "@sitewright/runtimes/native/runtime.ts";
import { createNativeEngine } from "@sitewright/runtimes/native/serving.ts";
import { createPlaygroundEngine } from "@sitewright/runtimes/playground/serving.ts";
import { createTemplateStore } from "@sitewright/runtimes/playground/templates/template.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import { combineEngines } from "@sitewright/runtimes/pool/engine.ts";
import { createPoolServing } from "@sitewright/runtimes/pool/serving.ts";
import { combineRuntimes } from "@sitewright/runtimes/severalRuntimes.ts";
import { findRuntimes } from "../store/sites/environmentStates.ts";
import { nativeLogs, nativePhp } from "./native.ts";
import { playground, playgroundServing, preparePlayground } from "./playground.ts";
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
        makeServing: (phpFolder, edgePort) => {
          const options = playgroundServing(dataFolder, phpFolder, edgePort);
          const pool = createPoolServing(options, (members) =>
            combineEngines({
              playground: createPlaygroundEngine(options, members),
              native: createNativeEngine({ ...options, ...php, run: join(run, "edge"), ...nativeLogs }),
            }),
          );
          return withMoves(pool, { runtimes: ["playground", "native"] });
        },
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
