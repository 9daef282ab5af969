import { expect, test } from "vitest";
import { isForbidden, isRunnable } from "./forbidden.ts";

const hidden = [
  ".env",
  ".git/config",
  ".htaccess",
  ".ht.sqlite",
  "wp-content/database/.ht.sqlite",
  ".well-known/.secret",
  "blog/.well-known/x",
  ".user.ini",
  "php.ini",
  "wp-config.php",
  "WP-CONFIG.PHP",
  "wp-config.php.",
  "wp-config.php~",
  "wp-config.php.bak",
  "wp-config.bak",
  "wp-config.php.swp",
  ".wp-config.php.swp",
  "wp-config.txt",
  "wp-config.php.txt",
  "wp-config-sample.php",
  "wp-config.old",
  "wp-config.php_old.txt",
  "sub/wp-config.php",
  "index.PHP",
  "index.Php",
  "index.php.",
  "index.php..",
  "index.php ",
  "index.php . ",
  "index.php~",
  "index.php.txt",
  "index.php.bak",
  "index.php.jpg",
  "index.php-old",
  "index.php_old",
  "index.php5",
  "index.php7",
  "index.phps",
  "index.pht",
  "index.phtml",
  "index.PHTML",
  "tool.phar",
  "class.inc",
  "class.INC",
  "class.inc.",
  "a.phtml/b",
  "a.php~/b",
  "dump.sql",
  "dump.SQL",
  "dump.sql.gz",
  "dump.sql.zip",
  "site.sqlite",
  "site.sqlite3",
  "site.sqlite-journal",
  "site.sqlite-wal",
  "site.db",
  "site.db-shm",
  "wp-content/debug.log",
  "error_log",
  "php_errorlog",
  "error.log",
  "#index.php#",
  "style.css~",
  "backup.old",
  "backup.bak",
];

test.each(hidden)("%j is never served", (name) => {
  expect(isForbidden(name.split("/"))).toBe(true);
});

const shown = [
  "",
  "index.php",
  "wp-login.php",
  "style.css",
  "wp-content/uploads/2026/11/cat.jpg",
  "wp-content/uploads/notes.php_.txt",
  "wp-content/uploads/x.php_.jpg",
  ".well-known/acme-challenge/token",
  "wp-config-explained",
  "what-is-php",
  "php",
  "release-1.inc.notes",
  "menu.inc.js",
  "readme.html",
  "catalog",
  "blog",
  "old",
  "wp-includes/js/dist/a11y.min.js",
  "wp-includes/js/dist/script-modules/a11y/index.min.asset.php",
  "wp-content/languages/de_DE.l10n.php",
];

test.each(shown)("%j may be served or run", (name) => {
  expect(isForbidden(name.split("/"))).toBe(false);
});

test("PHP is never run below uploads, in whatever case", () => {
  expect(isRunnable(["wp-content", "uploads", "x.php"])).toBe(false);
  expect(isRunnable(["WP-Content", "Uploads", "a", "x.php"])).toBe(false);
  expect(isRunnable(["wp-content", "blogs.dir", "2", "x.php"])).toBe(false);
  expect(isRunnable(["wp-content", "plugins", "uploads", "x.php"])).toBe(true);
});
