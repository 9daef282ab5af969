/** Where the unpacked files are, and the manifest that says that they are whole. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { AssetPackage } from "./package.ts";

/** Raised when what is unpacked, or how, changes without a new version of the package. */
const layout = 1;

export interface Manifest {
  readonly wordpressVersion: string;
  readonly locales: readonly string[];
}

export function filesFolder(assets: string, wanted: AssetPackage): string {
  return path.join(assets, `files-${wanted.version}-${layout}`);
}

export function manifestOf(files: string): string {
  return path.join(files, "manifest.json");
}

function isManifest(value: unknown): value is Manifest {
  return (
    typeof value === "object" &&
    value !== null &&
    "wordpressVersion" in value &&
    typeof value.wordpressVersion === "string" &&
    "locales" in value &&
    Array.isArray(value.locales)
  );
}

/** Null if the files are not there, or not whole. */
export function readManifest(files: string): Manifest | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(manifestOf(files), "utf8"));
    return isManifest(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
