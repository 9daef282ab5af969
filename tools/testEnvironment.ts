/** Environment variables for tests, with programs of the machine or unpacked into the clone (`unpackPrograms.ts`). */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findBrowser, missingFrom, packagesOf, type Requirement, searchPath, themesFolder } from "./programs.ts";

const unpackedPrograms = join(import.meta.dirname, "..", ".cache", "programs");

/** Folder for these packages. The name depends on the Debian release, because several machines may share a clone. */
export function unpackedFolder(missing: readonly Requirement[]): string {
  const key = createHash("sha256").update(packagesOf(missing).join(" ")).update(release()).digest("hex");
  return join(unpackedPrograms, key.slice(0, 12));
}

function release(): string {
  return existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : process.platform;
}

/** Environment variables for the processes of the tests. */
export function testEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const missing = missingFrom(env);
  const folder = unpackedFolder(missing);
  const isUnpacked = missing.length > 0 && existsSync(folder);
  const changed = { ...env, PATH: [...searchPath(env), ...(isUnpacked ? [join(folder, "bin")] : [])].join(delimiter) };
  const themes = join(folder, "root", themesFolder);
  return {
    ...changed,
    CHROMIUM: findBrowser(changed) ?? undefined,
    ...(isUnpacked && existsSync(themes) && { WORDPRESS_THEMES: themes }),
  };
}
