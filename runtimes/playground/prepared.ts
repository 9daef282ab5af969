/** Whether there is anything to prepare: asked at every start, so it loads next to nothing. */
import { existsSync } from "node:fs";
import { filesFolder, readManifest } from "./assets/manifest.ts";
import { assetPackage } from "./assets/package.ts";
import { descriptionOf, templateFolder, usualTemplate } from "./templates/folder.ts";

/** Whether the runtime's `prepare` would find everything in this asset store. */
export function isPrepared(assets: string): boolean {
  const manifest = readManifest(filesFolder(assets, assetPackage));
  return (
    manifest !== null && existsSync(descriptionOf(templateFolder(assets, manifest.wordpressVersion, usualTemplate)))
  );
}
