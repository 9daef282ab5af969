/** Runs WP-CLI in a PHP with a mounted site: one command, after which this PHP can't be used again. */
import { readFileSync } from "node:fs";
import type { PHP, StreamedPhpResponse } from "@php-wasm/universal";
import { memoryFolder, siteFolder, wpCliScript } from "../../phpFolders.ts";

/** The path of WP-CLI for PHP. */
export const program = "/internal/wp-cli.phar";
/**
 * All errors except deprecations, which WP-CLI itself causes on newer PHP versions. WordPress sets its own level
 * (`WP_DEBUG`).
 */
const reported = 0x7fff & ~0x2000 & ~0x4000;
const settings = [
  `error_reporting=${reported}`,
  // As for programs on the command line elsewhere. The limit of the command's process counts.
  "memory_limit=-1",
  // A single command doesn't benefit from a shared opcode cache.
  "opcache.file_cache_only=1",
];

/** Reads WP-CLI from the host file `archive`. Call before this process drops its privileges. */
export function readProgram(archive: string): (php: PHP) => void {
  const content = readFileSync(archive);
  return (php) => php.writeFile(program, content);
}

/** Runs a command. `argv` does not include `wp` itself. */
export async function runProgram(php: PHP, argv: readonly string[]): Promise<StreamedPhpResponse> {
  await php.setSapiName("cli");
  php.chdir(siteFolder);
  const own = [program, `--path=${siteFolder}`, "--allow-root", "--no-color", `--require=${wpCliScript}`];
  return php.cli(["php", ...settings.flatMap((setting) => ["-d", setting]), ...own, ...argv], {
    env: { HOME: memoryFolder, PAGER: "cat" },
  });
}
