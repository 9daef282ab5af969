import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createAssetStore } from "../assets/store.ts";
import { driverFolder } from "../sqlite/driver.ts";
import { extensionsFolder } from "./extensions/extensionsFolder.ts";
import { isPrepared } from "./prepared.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import { createTemplateStore } from "./templates/template.ts";
import { sharedAssets } from "./testing/world.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "prepared-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await createPlaygroundRuntime({ assets: sharedAssets, environments: folder }).prepare(() => undefined);
}, 120_000);

/** Returns where the files and the template would be in this test's asset store. */
async function places(): Promise<{ readonly files: string; readonly template: string }> {
  const assets = createAssetStore({ folder: sharedAssets });
  const { core } = await assets.files();
  const template = await createTemplateStore(assets).get({ locale: "en_US", multisite: null });
  const below = (place: string) => path.join(folder, path.relative(sharedAssets, place));
  return { files: below(path.dirname(core)), template: below(template.folder) };
}

test("an asset store is prepared after its preparation", () => {
  expect(isPrepared(sharedAssets)).toBe(true);
});

test("an asset store is not prepared if it is empty, has no template, driver or extensions, or has a damaged manifest", async () => {
  expect(isPrepared(folder)).toBe(false);
  const { files, template } = await places();
  await mkdir(files, { recursive: true });
  await mkdir(template, { recursive: true });
  await writeFile(path.join(template, "template.json"), "{}");
  await writeFile(path.join(files, "manifest.json"), '{"wordpressVersion":"7.1.1","loc');
  expect(isPrepared(folder)).toBe(false);
  await writeFile(path.join(files, "manifest.json"), '{"wordpressVersion":"7.1.1","locales":["en_US"]}');
  expect(isPrepared(folder)).toBe(false);
  await mkdir(driverFolder(folder), { recursive: true });
  expect(isPrepared(folder)).toBe(false);
  await mkdir(extensionsFolder(folder), { recursive: true });
  expect(isPrepared(folder)).toBe(true);
  await rm(path.join(template, "template.json"));
  expect(isPrepared(folder)).toBe(false);
});
