/** The folder of unpacked files, and the manifest that marks it as complete. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { AssetPackage } from "./package.ts";

/** Increased when the parts, or the way they are unpacked, change without a new version of the package. */
const layout = 1;

export interface Manifest {
  readonly wordpressVersion: string;
  readonly locales: readonly string[];
}

export function filesFolder(assets: string, wanted: AssetPackage): string {
  return path.join(assets, `files-${wanted.version}-${layout}`);
}

export function manifestFile(files: string): string {
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

/** Reads the manifest, or null if the files don't exist or are incomplete. */
export function readManifest(files: string): Manifest | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(manifestFile(files), "utf8"));
    return isManifest(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
