/**
 * Fills the opcode cache with pages of a pristine template, mounted at the path that the environment will have. The
 * template is mounted read-only and its database is a copy in PHP's memory, so that it stays pristine.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { PHP } from "@php-wasm/universal";
import { databaseFolder, sessionFolder } from "../../phpFolders.ts";
import { databaseFile } from "../../sqlite/databaseFiles.ts";
import { visitFirstPages } from "../php/firstPages.ts";
import { mountTemplate, type SharedCodeFolders } from "../php/site.ts";

export interface WarmUp extends SharedCodeFolders {
  /** Folder of the template. */
  readonly template: string;
}

/** Warms PHP up while `isWanted` returns true. Afterwards the template is unmounted and PHP has forgotten it. */
export async function warmUp(php: PHP, order: WarmUp, isWanted: () => boolean): Promise<void> {
  const unmount = await mountTemplate(php, order);
  copyDatabase(php, order.template);
  await visitFirstPages(php, isWanted);
  await unmount();
  for (const name of php.listFiles(databaseFolder)) php.unlink(`${databaseFolder}/${name}`);
  await forgetFiles(php);
}

/** Copies the database into PHP's memory, where it may be changed. */
export function copyDatabase(php: PHP, template: string): void {
  php.mkdir(databaseFolder);
  php.mkdir(sessionFolder);
  const database = `${databaseFolder}/${databaseFile}`;
  php.writeFile(database, readFileSync(path.join(template, "database", databaseFile)));
}

/**
 * Clears PHP's cache of paths, which belong to the template. Compiled code stays: it is used only for a file with the
 * same modification time, which means the same content (`assets/unpack.ts`), and `wp-config.php` is never cached
 * (`php/boot.ts`).
 */
async function forgetFiles(php: PHP): Promise<void> {
  const response = await php.runStream({ code: "<?php clearstatcache( true );" });
  await response.stdoutText;
}
