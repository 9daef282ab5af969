/** Checks whether anything must be prepared. Used at every startup, so it loads very little code. */
import { existsSync } from "node:fs";
import { filesFolder, readManifest } from "../assets/manifest.ts";
import { assetPackage } from "../assets/package.ts";
import { defaultTemplate } from "../site/template.ts";
import { driverFolder } from "../sqlite/driver.ts";
import { extensionsFolder } from "./extensions/extensionsFolder.ts";
import { descriptionOf, templateFolder } from "./templates/folder.ts";

/** Whether this asset store is complete, so that the runtime's `prepare` has nothing to do. */
export function isPrepared(assets: string): boolean {
  const manifest = readManifest(filesFolder(assets, assetPackage));
  if (manifest === null || !existsSync(driverFolder(assets)) || !existsSync(extensionsFolder(assets))) return false;
  return existsSync(descriptionOf(templateFolder(assets, manifest.wordpressVersion, defaultTemplate)));
}
