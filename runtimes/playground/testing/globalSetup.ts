/**
 * Vitest's `globalSetup` for tests of real PHP: everything is fetched, installed and compiled once, beside the first tests. Those that
 * need it earlier wait for it, and what fails here fails there, with its reason.
 */
import { createAssetStore } from "../assets/store.ts";
import { createCompiledStore } from "../templates/compiled.ts";
import { createTemplateStore, templatePhpVersion } from "../templates/template.ts";
import { sharedAssets } from "./world.ts";

let preparing: Promise<unknown> | undefined;

async function prepare(): Promise<void> {
  const assets = createAssetStore({ folder: sharedAssets });
  await assets.prepare(() => undefined);
  await createCompiledStore(assets, createTemplateStore(assets)).get(templatePhpVersion);
}

export function setup(): void {
  preparing = prepare().catch(() => undefined);
}

export async function teardown(): Promise<void> {
  await preparing;
}
