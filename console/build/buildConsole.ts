/** Builds the console with Vite, and compresses its files. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { build } from "vite";
import { buildOf, buildsFolder, consoleVersion } from "./version.ts";
import { buildConfig } from "./viteConfig.ts";

/** Returns the folder of the build of the present sources. Other builds there are removed, unless it existed already. */
export async function buildConsole(assets: string): Promise<string> {
  const version = consoleVersion();
  const folder = buildOf(assets, version);
  if (existsSync(folder)) return folder;
  const builds = buildsFolder(assets);
  await mkdir(builds, { recursive: true });
  const temporary = await mkdtemp(join(builds, "building-"));
  try {
    await build(buildConfig(temporary));
    await compress(temporary);
    await moveTo(folder, temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  await removeOthers(builds, version);
  return folder;
}

/** Two installations with the same assets may have built it at the same time. */
async function moveTo(folder: string, temporary: string): Promise<void> {
  try {
    await rename(temporary, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

async function compress(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const content = await readFile(join(folder, name));
    await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(content));
    await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(content));
  }
}

/** A build that is running elsewhere stays. */
async function removeOthers(builds: string, version: string): Promise<void> {
  const others = (await readdir(builds)).filter((name) => !name.startsWith(version) && !name.startsWith("building-"));
  for (const name of others) await rm(join(builds, name), { recursive: true, force: true });
}
