/**
 * The platform's own PHP (`platform/`): scripts that run before each script of a site, and tasks that run instead of
 * one. They are in PHP's memory, and so not among a site's files. A site can change the memory of its own worker, which
 * affects only its own requests.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { PHP } from "@php-wasm/universal";
import { packageSourceFile, platformFolder } from "../../phpFolders.ts";

const source = new URL("../../platform/", import.meta.url);
/** The library runs every script in this folder before any other script. */
const preloadFolder = "/internal/shared/preload";

/** Copies the scripts into PHP's memory. Call while this process can still read our files. */
export function installPlatform(php: PHP): void {
  for (const folder of [platformFolder, `${platformFolder}/tasks`, preloadFolder]) php.mkdir(folder);
  const names = ["", "tasks/"].flatMap((folder) => readdirSync(new URL(folder, source)).map((name) => folder + name));
  const scripts = names.filter((name) => name.endsWith(".php"));
  for (const name of scripts) php.writeFile(`${platformFolder}/${name}`, readFileSync(new URL(name, source)));
  php.writeFile(`${preloadFolder}/platform.php`, `<?php require '${platformFolder}/plugin.php';`);
}

/** Sets the URL of the package source for the platform's PHP, or null if there is none. */
export function setPackageSource(php: PHP, source: string | null): void {
  php.writeFile(packageSourceFile, JSON.stringify(source));
}
