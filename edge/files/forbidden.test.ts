import { expect, test } from "vitest";
import { isForbidden, isForbiddenFile, isRunnable } from "./forbidden.ts";
import { archives, sensitiveFiles, sensitiveNames, sensitiveOutsideUploads, siteArchives } from "./sensitiveNames.ts";

const host = "shop.example.com";

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
  "tag/dockerfile",
  "tag/id_rsa",
  "errorlog",
  "intro.swf",
  "blog",
  "old",
  "wp-includes/js/dist/a11y.min.js",
  "wp-includes/js/dist/script-modules/a11y/index.min.asset.php",
  "wp-content/languages/de_DE.l10n.php",
];

test.each(shown)("%j may be served or run", (name) => {
  expect(isForbidden(name.split("/"))).toBe(false);
});

const listed = sensitiveNames.flatMap(({ kind, examples }) => examples.map((name) => [name, kind] as const));

test.each(listed)("%s is never served, because of the kind %j", (name) => {
  for (const folder of ["", "sub/", "wp-content/uploads/"]) {
    expect(isForbidden(`${folder}${name}`.split("/"))).toBe(true);
    expect(isForbidden(`${folder}${name.toUpperCase()}`.split("/"))).toBe(true);
  }
});

const files = sensitiveFiles.flatMap(({ examples }) => examples);
const outsideUploads = sensitiveOutsideUploads.flatMap(({ examples }) => examples);

test.each(files)("the file %s is never served, but may be the address of an article", (name) => {
  expect([isForbiddenFile([name], host), isForbiddenFile(["wp-content", "uploads", name], host)]).toEqual([true, true]);
  expect(isForbidden([name])).toBe(false);
});

test.each(outsideUploads)("the file %s is served from uploads only", (name) => {
  expect([isForbiddenFile([name], host), isForbiddenFile(["wp-content", "x", name], host)]).toEqual([true, true]);
  expect(isForbiddenFile(["wp-content", "uploads", name], host)).toBe(false);
});

test.each(archives.examples)("the archive %s is served if it may be a product of a shop", (name) => {
  const isRefused = (path: string) => isForbiddenFile(path.split("/"), host);
  const refused = ["wp-content/", "WP-Content/", "backup/", "wp-content/uploads/backupbuddy_backups/"];
  for (const folder of refused) expect([folder, isRefused(folder + name)]).toEqual([folder, true]);
  const served = ["wp-content/uploads/2026/11/", "wp-content/uploads/woocommerce_uploads/", "downloads/"];
  for (const folder of served) expect([folder, isRefused(folder + name)]).toEqual([folder, false]);
});

test("a compressed sitemap is served", () => {
  expect(isForbiddenFile(["sitemap.xml.gz"], host)).toBe(false);
});

test.each([
  ...["backup-guide.zip", "backup-2026.zip", "icon-db.zip", "database-poster.zip", "sandbox.gz", "learn-mysql.zip"],
  ...[
    "dumbbells-full.zip",
    "backups.zip",
    "report.sql-server.pdf",
    "my-sql.pdf",
    "rdb.jpg",
    "my-frm.png",
    "nosql.tar.gz",
  ],
])("%s is served from uploads", (name) => {
  const path = ["wp-content", "uploads", "2026", "11", name];
  expect([isForbidden(path), isForbiddenFile(path, host)]).toEqual([false, false]);
});

test.each([
  ...[
    "wpvividbackups",
    "backup-a1b2c",
    "db-backup",
    "boldgrid_backup_x",
    "xcloner-backups",
    "prime-mover-export-files",
  ],
])("archives in the folder %s of a backup plugin are never served", (folder) => {
  expect(isForbiddenFile(["wp-content", "uploads", folder, "x.zip"], host)).toBe(true);
});

test.each(siteArchives.examples)("the archive %s is never served from the web root", (name) => {
  expect([isForbiddenFile([name], host), isForbiddenFile([name.toUpperCase()], host)]).toEqual([true, true]);
  expect(isForbiddenFile(["downloads", name], host)).toBe(false);
});

test.each(siteArchives.served)("the archive %s is served from the web root", (name) => {
  expect(isForbiddenFile([name], host)).toBe(false);
});

test("PHP is never run below .well-known", () => {
  expect(isRunnable([".well-known", "x.php"])).toBe(false);
  expect(isRunnable([".well-known", "acme-challenge", "index.php"])).toBe(false);
});

test("PHP is never run below uploads, in whatever case", () => {
  expect(isRunnable(["wp-content", "uploads", "x.php"])).toBe(false);
  expect(isRunnable(["WP-Content", "Uploads", "a", "x.php"])).toBe(false);
  expect(isRunnable(["wp-content", "blogs.dir", "2", "x.php"])).toBe(false);
  expect(isRunnable(["wp-content", "plugins", "uploads", "x.php"])).toBe(true);
});
