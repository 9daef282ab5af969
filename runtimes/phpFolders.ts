/** Folders as PHP sees them. */
import type { PlatformTask } from "./serving.ts";

export const siteFolder = "/site";
export const databaseFolder = "/database";
export const sessionFolder = "/sessions";
export const temporaryFolder = "/tmp";
/** In PHP's memory, for files that only one request needs: uploads until a script moves them, and what SQLite sorts. */
export const memoryFolder = "/memory";
export const opcodeFolder = "/opcodes";
/** In PHP's memory, for the platform's own files. */
export const internalFolder = "/internal";
/** The platform's own PHP (`platform/`). */
export const platformFolder = `${internalFolder}/platform`;
/** The URL of the package source, or null if there is none, as JSON. */
export const packageSourceFile = `${internalFolder}/packageSource.json`;
/** What WP-CLI loads before WordPress. */
export const wpCliScript = `${platformFolder}/wpCli.php`;

/** Returns the script of a task. The file may not exist. */
export function taskScript({ name }: PlatformTask): string {
  return `${platformFolder}/tasks/${name.replaceAll(/[^a-z]/gi, "_")}.php`;
}
