/** A native runtime for a test, with the asset store that all tests share. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findProgram } from "../../../tools/programs.ts";
import { exampleSpec, type World } from "../../conformance/conformance.ts";
import { createPlaygroundRuntime } from "../../playground/runtime.ts";
import type { Site } from "../../playground/testing/visitor.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import type { WordPressInstall } from "../../runtime.ts";
import type { ServedEnvironment } from "../../serving.ts";
import { createNativeServing, type NativeServing, type NativeServingOptions } from "../serving.ts";

export interface NativeWorld extends World {
  readonly serving: NativeServing;
  readonly environments: string;
  readonly log: readonly string[];
  site(wordpress?: Partial<WordPressInstall>): Promise<Site>;
}

export async function openNative(changes: Partial<NativeServingOptions> = {}): Promise<NativeWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "native-"));
  const environments = path.join(folder, "environments");
  const run = path.join(folder, "run");
  await mkdir(run, { mode: 0o700 });
  const log: string[] = [];
  const fpm = findProgram("php-fpm", process.env) ?? "php-fpm";
  const runtime = createPlaygroundRuntime({ assets: sharedAssets, environments });
  await runtime.prepare(() => undefined);
  const serving = createNativeServing({
    assets: sharedAssets,
    environments,
    run,
    phpOf: () => ({ root: "/", fpm, php: "/usr/bin/php8.2" }),
    packageSource: null,
    maxWorkers: 4,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
    onLog: (line) => log.push(line),
    ...changes,
  });
  let served: readonly ServedEnvironment[] = [];
  return {
    runtime,
    serving,
    environments,
    log,
    site: async (wordpress) => {
      const spec = exampleSpec(wordpress);
      await runtime.provision(spec);
      const layout = await runtime.layout(spec.environment);
      if (layout === null) throw new Error("The environment has no layout.");
      served = [...served, { ...spec.environment, ...layout, phpVersion: "8.2" }];
      await serving.setEnvironments(served);
      return { ...spec, documentRoot: layout.documentRoot };
    },
    close: async () => {
      await serving.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
