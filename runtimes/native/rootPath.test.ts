import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { fileInRoot, pathInRoot } from "./rootPath.ts";

let root: string;
beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "root-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "secret"), "");
  root = path.join(folder, "root");
  await mkdir(path.join(root, "usr/sbin"), { recursive: true });
  await writeFile(path.join(root, "usr/sbin/php-fpm8.3"), "");
});

test("a file is found where it is", () => {
  expect(pathInRoot(root, "/usr/sbin/php-fpm8.3")).toBe("/usr/sbin/php-fpm8.3");
  expect(fileInRoot(root, "/usr/sbin/php-fpm8.3")).toBe(path.join(root, "usr/sbin/php-fpm8.3"));
  expect(pathInRoot("/", "/usr/bin/env")).toBe("/usr/bin/env");
});

test.each([
  ["relative", "php-fpm8.3"],
  ["absolute: it begins at the root", "/usr/sbin/php-fpm8.3"],
  ["with as many parents as it likes", "../../../../usr/./sbin/php-fpm8.3"],
])("a symbolic link is followed within the root: %s", async (_, target) => {
  await symlink(target, path.join(root, "usr/sbin/php-fpm"));
  expect(pathInRoot(root, "/usr/sbin/php-fpm")).toBe("/usr/sbin/php-fpm8.3");
  expect(fileInRoot(root, "/usr/sbin/php-fpm")).toBe(path.join(root, "usr/sbin/php-fpm8.3"));
});

test("links of folders, and links that lead to links, are followed", async () => {
  await symlink("usr/sbin", path.join(root, "sbin"));
  await mkdir(path.join(root, "etc/alternatives"), { recursive: true });
  await symlink("/sbin/php-fpm8.3", path.join(root, "etc/alternatives/php-fpm"));
  await symlink("/etc/alternatives/php-fpm", path.join(root, "usr/sbin/php-fpm"));
  expect(pathInRoot(root, "/sbin/php-fpm")).toBe("/usr/sbin/php-fpm8.3");
});

test("no link leads out of the root", async () => {
  await symlink("../secret", path.join(root, "relative"));
  await symlink(path.join(root, "../secret"), path.join(root, "absolute"));
  await symlink("..", path.join(root, "parent"));
  for (const link of ["/relative", "/absolute", "/parent/secret", "/../secret"])
    expect(pathInRoot(root, link)).toBeNull();
});

test("what does not exist, lies below a file, or is a circle of links is not found", async () => {
  await symlink("circle", path.join(root, "circle"));
  for (const file of ["/usr/bin", "/usr/sbin/php-fpm8.3/x", "/circle"]) expect(pathInRoot(root, file)).toBeNull();
});
