/**
 * The database driver that all sites share: WordPress's SQLite driver as published, and on top of it our layer
 * (`mysql/`), which makes it answer more like MySQL. PHP sees it read-only at the place where each site's
 * `wp-content/db.php` looks for the driver, so sites and backups of any age get the present one.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "../assets/lock.ts";
import { assetPackage } from "../assets/package.ts";
import type { AssetFiles } from "../assets/store.ts";
import { makeReadable, timeOf } from "../assets/unpack.ts";
import { buildAtomically, exists } from "../folders.ts";

/** Where a site's `wp-content/db.php` looks for the database driver, relative to the web root. */
export const driverPlace = "wp-content/mu-plugins/sqlite-database-integration";

/** Folder of our layer in the driver's folder. */
const layerFolder = "mysql";
const source = fileURLToPath(new URL("./mysql/", import.meta.url));
/** The driver's script that opens the database for WordPress, and the layer's script that replaces it. */
const replaced = { script: "wp-includes/sqlite/db.php", by: `${layerFolder}/db.php` };

interface LayerFile {
  readonly name: string;
  readonly content: Buffer;
}

function readLayer(): readonly LayerFile[] {
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".php"));
  return names.toSorted().map((name) => ({ name, content: readFileSync(path.join(source, name)) }));
}

function fingerprintOf(layer: readonly LayerFile[]): string {
  const contents = layer.map(({ name, content }) => `${name} ${hash("sha256", content)}`);
  return hash("sha256", [assetPackage.integrity, ...contents].join("\n")).slice(0, 16);
}

let fingerprint: string | null = null;

/** Identifies the present driver and layer. */
export function driverFingerprint(): string {
  fingerprint ??= fingerprintOf(readLayer());
  return fingerprint;
}

/** The folder with the present driver and layer in an asset store, once `assembleDriver` has created it. */
export function driverFolder(assets: string): string {
  return path.join(assets, "drivers", driverFingerprint());
}

async function writeScript(file: string, content: Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content, { flush: true });
  // For PHP's opcode cache: the same time in every installation, and another one for other content.
  const time = timeOf(content);
  await utimes(file, time, time);
}

async function assemble(stock: string, folder: string): Promise<void> {
  await cp(stock, folder, { recursive: true, preserveTimestamps: true });
  await chmod(path.join(folder, replaced.script), 0o644);
  for (const { name, content } of readLayer()) {
    const target = path.join(layerFolder, name);
    await writeScript(path.join(folder, target === replaced.by ? replaced.script : target), content);
  }
  await makeReadable(folder);
}

/** Creates `driverFolder(assets)` unless it exists. Safe in several processes at once. */
export async function assembleDriver({ sqliteDriver }: AssetFiles, assets: string): Promise<void> {
  const folder = driverFolder(assets);
  if (await exists(folder)) return;
  await withLock(`${folder}.lock`, () =>
    buildAtomically(folder, `${folder}.new`, (temporary) => assemble(sqliteDriver, temporary)),
  );
}
