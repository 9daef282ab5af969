/**
 * The platform's own PHP (`platform/`): what runs before each script of a site, and tasks that run instead of one. It lies
 * in PHP's memory, so that it is no part of a site's files. A site can change what is in its own worker's memory, and
 * thereby only what is asked of itself.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { PHP } from "@php-wasm/universal";
import type { PlatformTask } from "../../serving.ts";

const source = new URL("../platform/", import.meta.url);
const platformFolder = "/internal/platform";
/** Every script in it is run by the library before any other script. */
const preloadFolder = "/internal/shared/preload";
const orderFile = `${platformFolder}/order.json`;

/** Puts it into PHP's memory. To be called while this process may still read our own files. */
export function installPlatform(php: PHP): void {
  for (const folder of [platformFolder, `${platformFolder}/tasks`, preloadFolder]) php.mkdir(folder);
  const scripts = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".php"));
  for (const name of scripts) php.writeFile(`${platformFolder}/${name}`, readFileSync(new URL(name, source)));
  php.writeFile(`${preloadFolder}/platform.php`, `<?php require '${platformFolder}/plugin.php';`);
}

/** Says to the platform's PHP where WordPress's plugins, themes and updates are; null: nowhere. */
export function tellPackageSource(php: PHP, source: string | null): void {
  php.writeFile(`${platformFolder}/packageSource.json`, JSON.stringify(source));
}

/** There need not be a file of that name. */
export function taskScript({ name }: PlatformTask): string {
  return `${platformFolder}/tasks/${name.replaceAll(/[^a-z]/gi, "_")}.php`;
}

/** Leaves a task's input where the task looks for it. */
export function writeOrder(php: PHP, { input }: PlatformTask): void {
  php.writeFile(orderFile, input);
}
