/** A native runtime for a test, with the machine's PHP and the asset store that all tests share. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAssetStore } from "../../assets/store.ts";
import type { World } from "../../conformance/conformance.ts";
import { createTemplateStore } from "../../playground/templates/template.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import type { UploadLimits } from "../../serving.ts";
import { createSites, type Sites } from "../../testing/sites.ts";
import { createNativeRuntime } from "../runtime.ts";
import { createNativeServing, type NativeServing, type NativeServingOptions } from "../serving.ts";
import { inspectRoots, machineRoot } from "../versions/discovery.ts";

export interface NativeWorld extends World, Sites {
  readonly serving: NativeServing;
  readonly environments: string;
  readonly phpVersion: string;
  /** What php-fpm has logged about itself. */
  readonly log: readonly string[];
}

interface Changes extends Partial<Omit<NativeServingOptions, "uploads">> {
  readonly uploads?: UploadLimits;
  /** How much of the disk must stay free. */
  readonly diskReserveBytes?: number;
  /** Whether sites are on a disk, where what they write is measured. Absent: they may be in memory. */
  readonly isOnDisk?: boolean;
}

/** Opens a native runtime without network. `close` also removes its folder. */
export async function openNative({
  uploads,
  diskReserveBytes,
  isOnDisk = false,
  ...changes
}: Changes = {}): Promise<NativeWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "native-"));
  const disk = isOnDisk ? await mkdtemp(path.join(process.env.SITEWRIGHT_TEST_DISK ?? tmpdir(), "native-")) : folder;
  const environments = path.join(disk, "environments");
  const run = path.join(folder, "run");
  await mkdir(run, { mode: 0o700 });
  const log: string[] = [];
  const { offered, refused } = await inspectRoots([machineRoot]);
  const [php] = offered;
  if (php === undefined) throw new Error(`This machine has no PHP for tests. ${refused.join(" ")}`);
  const onlyPhp = (version: string) => {
    if (version !== php.version) throw new Error(`There is no PHP ${version}.`);
    return php;
  };
  const { acceptMail, packageSource = "https://api.wordpress.org", phpOf = onlyPhp } = changes;
  const common = {
    assets: sharedAssets,
    environments,
    phpOf,
    network: null,
    packageSource,
    layers: path.join(disk, "layers"),
    uploads,
    ...(diskReserveBytes !== undefined && { diskReserveBytes }),
  };
  const runtime = createNativeRuntime({
    ...common,
    run: path.join(run, "w"),
    templates: createTemplateStore(createAssetStore({ folder: sharedAssets })),
    phpVersions: [php.version],
    defaultPhpVersion: php.version,
    acceptMail,
  });
  await runtime.prepare(() => undefined);
  const serving = createNativeServing({
    ...common,
    run: path.join(run, "p"),
    maxWorkers: 4,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
    onLog: (line) => log.push(line),
    onFailure: (error) => {
      throw error;
    },
    ...changes,
  });
  return {
    runtime,
    serving,
    environments,
    phpVersion: php.version,
    log,
    ...createSites(runtime, serving, php.version),
    close: async () => {
      await serving.close();
      for (const each of new Set([folder, disk])) await rm(each, { recursive: true, force: true });
    },
  };
}
