import { expect, test } from "vitest";
import { wpConfig } from "../wpConfig.ts";
import { exportedConfig } from "./exportConfig.ts";

const address = "http://demo.localhost:8081";

/** The names that a configuration defines, each with its value as PHP writes it. */
function defined(config: string): Record<string, string> {
  const found = config.matchAll(/define\(\s*['"](\w+)['"]\s*,\s*(.*?)\s*\);/g);
  return Object.fromEntries(Array.from(found, ([, name = "", value = ""]) => [name, value]));
}

test("ours becomes one with WordPress's own place-holders, without SQLite, and with the same secrets", () => {
  const ours = wpConfig({ address, multisite: "subdomain" });
  const moved = defined(exportedConfig(ours));
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
  expect(exportedConfig(ours)).toContain("$table_prefix = 'wp_';");
});

test("what somebody has put there stays: values for a database, other settings, comments, any bytes", () => {
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
  expect(exportedConfig(own)).toBe(own);
});

test("place-holders that are missing are put at the beginning, in their order", () => {
  expect(exportedConfig("<?php\nrequire 'wp-settings.php';\n")).toBe(
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
  expect(exportedConfig("no PHP at all")).toBe("no PHP at all");
});
