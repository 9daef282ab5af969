/** Which build of the console belongs to these sources, and where it is. */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const consoleRoot = join(import.meta.dirname, "..");

/** The version of every package is in the lockfile. */
const lockfile = join(consoleRoot, "..", "package-lock.json");

/** A hash of everything that a build is made of, as text. */
export function consoleVersion(): string {
  const hash = createHash("sha256");
  const sources = globSync(["app/**/*.*", "build/*.ts"], { cwd: consoleRoot }).toSorted();
  for (const file of sources) hash.update(`${file}\0`).update(readFileSync(join(consoleRoot, file)));
  return hash.update(readFileSync(lockfile)).digest("hex").slice(0, 16);
}

/** The folder of all builds, in that of the assets. */
export const buildsFolder = (assets: string): string => join(assets, "console");

/** Where the build of a version is when it is complete. */
export const buildOf = (assets: string, version: string): string => join(buildsFolder(assets), version);

/** A file that exists if the version could not be built. It says why. */
export const failureOf = (assets: string, version: string): string => `${buildOf(assets, version)}.failed`;
