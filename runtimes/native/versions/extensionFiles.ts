/**
 * Writes the settings that Debian's packages of PHP write when they are installed: `php.ini`, and a file for each extension that loads
 * it. Releases are only extracted, which runs none of their programs.
 */
import { copyFile, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { exists } from "../../folders.ts";

/** The programs that load extensions, and their example of `php.ini`. */
const programs = [
  { program: "fpm", example: "php.ini-production" },
  { program: "cli", example: "php.ini-production.cli" },
];

/** Extensions are loaded in the order of these numbers. */
const defaultPriority = "20";

/** Enables all extensions of every PHP in an extracted release. */
export async function enableExtensions(root: string): Promise<void> {
  const settings = path.join(root, "etc/php");
  const versions = (await exists(settings)) ? await readdir(settings) : [];
  for (const version of versions) await enableFor(root, version);
}

async function enableFor(root: string, version: string): Promise<void> {
  const settings = path.join(root, "etc/php", version);
  const available = path.join(settings, "mods-available");
  await mkdir(available, { recursive: true });
  for (const { program, example } of programs) {
    await mkdir(path.join(settings, program, "conf.d"), { recursive: true });
    const from = path.join(root, "usr/lib/php", version, example);
    if (await exists(from)) await copyFile(from, path.join(settings, program, "php.ini"));
  }
  for (const file of await extensionFiles(root, version)) {
    const name = path.basename(file);
    await copyFile(file, path.join(available, name));
    const [, priority = defaultPriority] = /^;\s*priority=(\d+)/m.exec(await readFile(file, "utf8")) ?? [];
    for (const { program } of programs) {
      const link = path.join(settings, program, "conf.d", `${priority}-${name}`);
      await symlink(`/etc/php/${version}/mods-available/${name}`, link);
    }
  }
}

/** Each package has its files in `/usr/share/php8.4-gd/gd/gd.ini`. */
async function extensionFiles(root: string, version: string): Promise<readonly string[]> {
  const share = path.join(root, "usr/share");
  const packages = (await readdir(share)).filter((name) => name.startsWith(`php${version}-`));
  const files: string[] = [];
  for (const name of packages) {
    const entries = await readdir(path.join(share, name), { recursive: true });
    files.push(...entries.filter((entry) => entry.endsWith(".ini")).map((entry) => path.join(share, name, entry)));
  }
  return files;
}
