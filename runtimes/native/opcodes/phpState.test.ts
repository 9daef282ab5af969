import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { PhpProgram } from "../environmentSandbox.ts";
import { makeRoot } from "../testing/handMadeRoot.ts";
import { phpStateOf } from "./phpState.ts";

interface Php {
  readonly program: PhpProgram;
  file(name: string, content: string): Promise<void>;
  link(name: string, target: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** PHP 8.9 with an extension, in a folder. */
async function openPhp(): Promise<Php> {
  const root = await makeRoot();
  await root.php("8.9.1");
  const at = (name: string) => path.join(root.folder, name);
  const php: Php = {
    program: { root: root.folder, fpm: "/usr/sbin/php-fpm8.9", php: "/usr/bin/php8.9", extensions: ["gd"] },
    file: async (name, content) => {
      await mkdir(path.dirname(at(name)), { recursive: true });
      await writeFile(at(name), content);
    },
    link: (name, target) => symlink(target, at(name)),
    remove: (name) => rm(at(name)),
  };
  await php.file("etc/php/8.9/mods-available/gd.ini", "extension=gd.so");
  await php.file("etc/php/8.9/fpm/conf.d/10-pdo.ini", "extension=pdo.so");
  await php.link("etc/php/8.9/fpm/conf.d/20-gd.ini", "/etc/php/8.9/mods-available/gd.ini");
  await php.file("usr/lib/php/20990101/gd.so", "gd");
  return php;
}

test("the state of a PHP that nobody changes stays the same", async () => {
  const { program } = await openPhp();
  expect(phpStateOf(program)).toBe(phpStateOf(program));
});

test.each<[string, (php: Php) => Promise<void>]>([
  ["an extension is enabled", ({ file }) => file("etc/php/8.9/fpm/conf.d/20-imagick.ini", "extension=imagick.so")],
  ["an extension is disabled", ({ remove }) => remove("etc/php/8.9/fpm/conf.d/20-gd.ini")],
  ["the file that enables an extension changes", ({ file }) => file("etc/php/8.9/mods-available/gd.ini", "; none")],
  ["the file that enables an extension is gone", ({ remove }) => remove("etc/php/8.9/mods-available/gd.ini")],
  ["an extension is updated", ({ file }) => file("usr/lib/php/20990101/gd.so", "gd 2")],
  ["PHP's own settings change", ({ file }) => file("etc/php/8.9/fpm/php.ini", "enable_dl = Off")],
  ["php-fpm is updated", ({ file }) => file("usr/sbin/php-fpm8.9", "other")],
  ["Remi's PHP gets an extension", ({ file }) => file("etc/opt/remi/php89/php.d/20-imagick.ini", "")],
  ["Red Hat's PHP gets an extension", ({ file }) => file("usr/lib64/php/modules/imagick.so", "")],
  ["PHP that was built gets an extension", ({ file }) => file("usr/local/etc/php/conf.d/imagick.ini", "")],
])("the state of PHP changes when %s", async (_, change) => {
  const php = await openPhp();
  const before = phpStateOf(php.program);
  await change(php);
  expect(phpStateOf(php.program)).not.toBe(before);
});

test("the state of PHP changes when other extensions were found in it", async () => {
  const { program } = await openPhp();
  expect(phpStateOf({ ...program, extensions: ["gd", "imagick"] })).not.toBe(phpStateOf(program));
});
