/** Writes an environment's `wp-config.php`. */
import { randomInt } from "node:crypto";
import type { MultisiteKind } from "../runtime.ts";
import type { SiteDatabase } from "./siteDatabase.ts";

/** Returns a PHP string literal for a text. */
export function phpString(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/** The constants that sign cookies. Cookies are valid in every environment with the same constants. */
export const saltNames = ["AUTH", "SECURE_AUTH", "LOGGED_IN", "NONCE"].flatMap((name) => [
  `${name}_KEY`,
  `${name}_SALT`,
]);
const saltCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#%^&*()-_[]{}<>~+=,.;:/?|";

export function salt(): string {
  return Array.from({ length: 64 }, () => saltCharacters[randomInt(saltCharacters.length)]).join("");
}

function define(name: string, value: string | boolean | number): string {
  return `define( '${name}', ${typeof value === "string" ? phpString(value) : String(value)} );`;
}

function multisiteLines(kind: MultisiteKind, address: string): readonly string[] {
  const { host, hostname } = new URL(address);
  const lines = [
    define("WP_ALLOW_MULTISITE", true),
    define("MULTISITE", true),
    define("SUBDOMAIN_INSTALL", kind === "subdomain"),
    define("DOMAIN_CURRENT_SITE", host),
    define("PATH_CURRENT_SITE", "/"),
    define("SITE_ID_CURRENT_SITE", 1),
    define("BLOG_ID_CURRENT_SITE", 1),
  ];
  // WordPress would use the network's host with its port, which browsers reject as a cookie domain.
  return kind === "subdomain" ? [...lines, define("COOKIE_DOMAIN", `.${hostname}`)] : lines;
}

/** Returns the text of the configuration. `database`: see `SiteDatabase.constants`. */
export function wpConfig(
  options: { readonly address: string; readonly multisite: MultisiteKind | null },
  database: SiteDatabase["constants"],
): string {
  const lines = [
    ...Object.entries(database).map(([name, value]) => define(name, value)),
    "",
    ...saltNames.map((name) => define(name, salt())),
    "",
    "$table_prefix = 'wp_';",
    "",
    define("WP_DEBUG", false),
    define("FS_METHOD", "direct"),
    define("DISABLE_WP_CRON", true),
    define("AUTOMATIC_UPDATER_DISABLED", true),
    // Plugins count views and refill forms in the browser only if this says that pages are cached. The edge caches them.
    define("WP_CACHE", true),
    ...(options.multisite === null ? [] : ["", ...multisiteLines(options.multisite, options.address)]),
    "",
    // WP-CLI and plugins add their lines before this one.
    "/* That's all, stop editing! Happy publishing. */",
    "if ( ! defined( 'ABSPATH' ) ) {",
    "\tdefine( 'ABSPATH', __DIR__ . '/' );",
    "}",
    "require_once ABSPATH . 'wp-settings.php';",
  ];
  return `<?php\n${lines.join("\n")}\n`;
}
