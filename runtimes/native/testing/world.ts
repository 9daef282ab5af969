/** A native runtime for a test, with the asset store that all tests share. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findProgram } from "../../../tools/programs.ts";
import { createAssetStore } from "../../assets/store.ts";
import { exampleSpec, type World } from "../../conformance/conformance.ts";
import { createTemplateStore } from "../../playground/templates/template.ts";
import type { Site } from "../../playground/testing/visitor.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import type { WordPressInstall } from "../../runtime.ts";
import type { ServedEnvironment, ServedLimits } from "../../serving.ts";
import { createNativeRuntime } from "../runtime.ts";
import { createNativeServing, type NativeServing, type NativeServingOptions } from "../serving.ts";

export interface NativeWorld extends World {
  readonly serving: NativeServing;
  readonly environments: string;
  readonly log: readonly string[];
  site(wordpress?: Partial<WordPressInstall>): Promise<Site>;
  limit(site: Site, limits: Partial<ServedLimits>): Promise<void>;
}

export async function openNative(changes: Partial<NativeServingOptions> = {}): Promise<NativeWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "native-"));
  const environments = path.join(folder, "environments");
  const run = path.join(folder, "run");
  await mkdir(run, { mode: 0o700 });
  const log: string[] = [];
  const fpm = findProgram("php-fpm", process.env) ?? "php-fpm";
  const acceptMail = changes.acceptMail;
  const php = {
    assets: sharedAssets,
    environments,
    phpOf: (version: string) => {
      if (version !== "8.2" && version !== "8.3") throw new Error(`There is no PHP ${version}.`);
      return { root: "/", fpm, php: "/usr/bin/php8.2" };
    },
    packageSource: null,
    network: null,
  };
  const runtime = createNativeRuntime({
    ...php,
    run: path.join(run, "w"),
    templates: createTemplateStore(createAssetStore({ folder: sharedAssets })),
    phpVersions: ["8.2"],
    defaultPhpVersion: "8.2",
    acceptMail,
    ...(changes.uploads && { uploads: changes.uploads }),
  });
  await runtime.prepare(() => undefined);
  const serving = createNativeServing({
    ...php,
    run: path.join(run, "p"),
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
      served = [...served, { ...spec.environment, ...layout, phpVersion: spec.phpVersion }];
      await serving.setEnvironments(served);
      return { ...spec, documentRoot: layout.documentRoot };
    },
    limit: async ({ environment: { id } }, changes) => {
      const limits = { threads: 2, memoryMb: 256, requestSeconds: null, disk: null, ...changes };
      served = served.map((each) => (each.id === id ? { ...each, limits } : each));
      await serving.setEnvironments(served);
    },
    close: async () => {
      await serving.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
