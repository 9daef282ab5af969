import { expect, test } from "vitest";
import { describeMissing } from "./neededExtensions.ts";

const needed = "pdo_sqlite sqlite3 mysqli curl dom mbstring xml zip exif fileinfo openssl opcache".split(" ");

test("nothing is missing with gd or imagick, and without intl", () => {
  expect(describeMissing("/usr/sbin/php-fpm8.3", [...needed, "gd"])).toBeNull();
  expect(describeMissing("/usr/sbin/php-fpm8.3", [...needed, "imagick"])).toBeNull();
});

test.each(needed)("%s is needed", (name) => {
  const others = [...needed, "gd"].filter((one) => one !== name);
  expect(describeMissing("/usr/sbin/php-fpm8.3", others)).toMatch(`it has no ${name}. Install php8.3-`);
});

test.each([
  ["/usr/sbin/php-fpm8.3", "Install php8.3-mbstring php8.3-sqlite3."],
  ["/usr/sbin/php-fpm", "Install php-mbstring php-sqlite3."],
  ["/opt/remi/php83/root/usr/sbin/php-fpm", "Install php83-php-mbstring php83-php-pdo."],
  ["/usr/local/sbin/php-fpm", "Add the missing extensions."],
])("packages of %s", (fpm, advice) => {
  const found = [...needed, "gd"].filter((name) => !["mbstring", "pdo_sqlite", "sqlite3"].includes(name));
  const sentence = describeMissing(fpm, found) ?? "";
  const wordsOf = (text: string) => text.split(/[ .]/).toSorted();
  expect(sentence).toMatch(/^it has no pdo_sqlite, sqlite3, or mbstring\. /);
  expect(wordsOf(sentence.slice(sentence.indexOf(". ") + 2))).toEqual(wordsOf(advice));
});
