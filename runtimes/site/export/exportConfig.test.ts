import { expect, test } from "vitest";
import { sqliteDatabase } from "../../sqlite/sqliteDatabase.ts";
import { wpConfig } from "../wpConfig.ts";
import { convertConfig } from "./exportConfig.ts";

const address = "http://demo.localhost:8081";

/** Returns the constants of a configuration with their PHP literals. */
function defined(config: string): Record<string, string> {
  const found = config.matchAll(/define\(\s*['"](\w+)['"]\s*,\s*(.*?)\s*\);/g);
  return Object.fromEntries(Array.from(found, ([, name = "", value = ""]) => [name, value]));
}

test("our configuration gets WordPress's placeholders, loses SQLite, and keeps its salts", () => {
  const ours = wpConfig({ address, multisite: "subdomain" }, sqliteDatabase.constants);
  const moved = defined(convertConfig(ours));
  expect(moved).toMatchObject({
    DB_NAME: "'database_name_here'",
    DB_USER: "'username_here'",
    DB_PASSWORD: "'password_here'",
    DB_HOST: "'localhost'",
    DB_CHARSET: "'utf8mb4'",
    AUTH_KEY: defined(ours).AUTH_KEY,
    MULTISITE: "true",
  });
  for (const name of ["DB_ENGINE", "DB_DIR", "DB_FILE", "SQLITE_JOURNAL_MODE", "DISABLE_WP_CRON", "FS_METHOD"]) {
    expect(moved).not.toHaveProperty(name);
  }
  expect(convertConfig(ours)).toContain("$table_prefix = 'wp_';");
});

test("values, settings, comments and bytes of the site's owner stay", () => {
  const own = [
    "<?php // \xff kept",
    `define("DB_NAME", "shop"); define( 'DB_USER','it\\'s me' );`,
    "define( 'DB_PASSWORD', getenv( 'PASSWORD' ) );",
    "define('DB_HOST', 'db.example.com:3307');",
    "define( 'FS_METHOD', 'ftpext' );",
    "define( 'DISABLE_WP_CRON', false );",
    "// define( 'DB_ENGINE', 'sqlite' );",
    "",
  ].join("\r\n");
  expect(convertConfig(own)).toBe(own);
});

test("missing placeholders are added at the beginning, in order", () => {
  expect(convertConfig("<?php\nrequire 'wp-settings.php';\n")).toBe(
    [
      "<?php",
      "define( 'DB_NAME', 'database_name_here' );",
      "define( 'DB_USER', 'username_here' );",
      "define( 'DB_PASSWORD', 'password_here' );",
      "define( 'DB_HOST', 'localhost' );",
      "require 'wp-settings.php';",
      "",
    ].join("\n"),
  );
  expect(convertConfig("no PHP at all")).toBe("no PHP at all");
});
