/** Where PHP's extensions are in an asset store. Used at every startup, so it loads very little code. */
import path from "node:path";
import { libraryVersion } from "../php/build.ts";

/** Increased when the content of the folder changes. */
const layout = 1;

/** Returns the folder that `assembleExtensions` creates. */
export function extensionsFolder(assets: string): string {
  return path.join(assets, "extensions", `${layout}-${libraryVersion()}`);
}
