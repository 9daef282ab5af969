/** WP-CLI itself, in a PHP that has a site mounted: it runs one command, and PHP is of no use afterwards. */
import { readFileSync } from "node:fs";
import type { PHP, StreamedPhpResponse } from "@php-wasm/universal";
import { siteFolder } from "../php/folders.ts";

const program = "/internal/wp-cli.phar";
/** All but what WP-CLI itself does that newer versions of PHP advise against. WordPress has its own say (`WP_DEBUG`). */
const reported = 0x7fff & ~0x2000 & ~0x4000;
// One command needs no memory that later scripts share.
const settings = [`error_reporting=${reported}`, "opcache.file_cache_only=1"];

/** `archive`: file on the host. Call it before this process drops the privileges to read the file. */
export function readProgram(archive: string): (php: PHP) => void {
  const content = readFileSync(archive);
  return (php) => php.writeFile(program, content);
}

/** `argv`: the command, without `wp` itself. */
export async function runProgram(php: PHP, argv: readonly string[]): Promise<StreamedPhpResponse> {
  await php.setSapiName("cli");
  php.chdir(siteFolder);
  const own = [program, `--path=${siteFolder}`, "--allow-root", "--no-color"];
  return php.cli(["php", ...settings.flatMap((setting) => ["-d", setting]), ...own, ...argv], {
    env: { HOME: "/tmp" },
  });
}
