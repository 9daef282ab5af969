/**
 * Vitest's `globalSetup` for tests of real PHP: downloads, installs and compiles everything once, another PHP included, while the
 * first tests run. Tests that need it earlier wait for it. If it fails, those tests fail with the reason.
 */
import path from "node:path";
import { createAssetStore } from "../../assets/store.ts";
import { twoPhps } from "../../native/testing/twoPhps.ts";
import { defaultTemplate } from "../../site/template.ts";
import { driverFolder } from "../../sqlite/driver.ts";
import { createCompiledStore } from "../templates/compiled.ts";
import { createTemplateStore, templatePhpVersion } from "../templates/template.ts";
import { WorkerProcess } from "../worker/process.ts";
import { sharedAssets } from "./world.ts";

let preparing: Promise<unknown> | undefined;

async function prepare(): Promise<void> {
  const assets = createAssetStore({ folder: sharedAssets });
  await assets.prepare(() => undefined);
  const templates = createTemplateStore(assets);
  const compiled = await createCompiledStore(assets, templates).get(templatePhpVersion);
  // Only spare workers write Node's compile cache: other workers are killed first, and most tests have no spares.
  const codeCache = path.join(sharedAssets, "code");
  const spare = new WorkerProcess({ type: "boot", phpVersion: templatePhpVersion, compiled, codeCache }, 60);
  const { core } = await assets.files();
  const { folder } = await templates.get(defaultTemplate);
  await spare.warmUp({ template: folder, core, driver: driverFolder(sharedAssets) });
  spare.kill("unavailable");
}

export function setup(): void {
  preparing = Promise.allSettled([prepare(), twoPhps()]);
}

export async function teardown(): Promise<void> {
  await preparing;
}
