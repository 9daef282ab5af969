import { expect, test } from "vitest";
import { isDiskFull } from "../copy.ts";
import { belongsToLocale } from "../playground/templates/template.ts";
import { escapeTitle, nicename } from "../sqlite/fillTemplate.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { hashPassword } from "./values/passwordHash.ts";
import { phpString, wpConfig } from "./wpConfig.ts";

test.each([
  ["&amp;", "&amp;amp;"],
  [`<"'>`, "&lt;&quot;&#039;&gt;"],
  ["🦄 مرحبا", "🦄 مرحبا"],
])("the title %s is stored as %s", (title, stored) => {
  expect(escapeTitle(title)).toBe(stored);
});

test.each([
  ["admin", "admin"],
  ["Jane.Doe", "jane-doe"],
  ["jane doe@example.com", "jane-doeexample-com"],
  ["-_-", "_"],
  ["@@", "administrator"],
  ["x".repeat(60), "x".repeat(50)],
])("the author URL name of %s is %s", (login, slug) => {
  expect(nicename(login)).toBe(slug);
});

test("a PHP string is escaped", () => {
  expect(phpString("it's \\ ok")).toBe("'it\\'s \\\\ ok'");
});

test("every configuration has its own salts and the safe journal mode", () => {
  const options = { address: "http://a.localhost:8081", multisite: null } as const;
  expect(wpConfig(options, sqliteDatabase.constants)).not.toBe(wpConfig(options, sqliteDatabase.constants));
  expect(wpConfig(options, sqliteDatabase.constants)).toContain("define( 'SQLITE_JOURNAL_MODE', 'DELETE' );");
  expect(wpConfig(options, sqliteDatabase.constants)).not.toContain("MULTISITE");
});

test("a network's host includes the port, its cookie domain does not", () => {
  const config = wpConfig({ address: "http://a.localhost:8081", multisite: "subdomain" }, sqliteDatabase.constants);
  expect(config).toContain("define( 'DOMAIN_CURRENT_SITE', 'a.localhost:8081' );");
  expect(config).toContain("define( 'COOKIE_DOMAIN', '.a.localhost' );");
});

test("a password is hashed like in WordPress, with its own salt", async () => {
  const hashes = await Promise.all(["a", "a"].map(hashPassword));
  for (const hash of hashes) expect(hash).toMatch(/^\$wp\$2y\$10\$[./A-Za-z0-9]{53}$/);
  expect(hashes[0]).not.toBe(hashes[1]);
});

test.each([
  ["zh_CN.l10n.php", "zh_CN", true],
  ["admin-de_DE.l10n.php", "de_DE", true],
  ["ja-0eebe503220d4a00341eb011b92769b4.json", "ja", true],
  ["admin-ja.l10n.php", "ja", true],
  ["uk.l10n.php", "uk", true],
  ["uk_UA.l10n.php", "uk", false],
  ["vi.l10n.php", "fr_FR", false],
])("%s belongs to %s: %s", (name, locale, belongs) => {
  expect(belongsToLocale(name, locale)).toBe(belongs);
});

test("recognises a full disk in errors of Node, SQLite and cp", () => {
  const withCode = (fields: object) => Object.assign(new Error("x"), fields);
  expect(isDiskFull(withCode({ code: "ENOSPC" }))).toBe(true);
  expect(isDiskFull(withCode({ errcode: 13 }))).toBe(true);
  expect(isDiskFull(new Error("cp: error writing 'x': No space left on device"))).toBe(true);
  expect(isDiskFull(withCode({ code: "EACCES" }))).toBe(false);
});
