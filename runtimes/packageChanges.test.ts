import { appendFile, mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { arePackagesUnchanged } from "./packageChanges.ts";

let root: string;
const at = (file: string) => path.join(root, "wp-content", file);

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "changes-"));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const folder of ["plugins/shop/inner", "themes/leaf"]) await mkdir(at(folder), { recursive: true });
  for (const file of ["plugins/single.php", "plugins/shop/shop.php", "themes/leaf/style.css"])
    await writeFile(at(file), "x");
});

/** Past the resolution of the file system's times. */
async function later(): Promise<number> {
  const now = Date.now() + 20;
  await expect.poll(() => Date.now()).toBeGreaterThan(now);
  return now;
}

test("packages are unchanged since they were written, and changed before that", async () => {
  const before = Date.now() - 60_000;
  expect(await arePackagesUnchanged(root, await later())).toBe(true);
  expect(await arePackagesUnchanged(root, before)).toBe(false);
});

test.each<[string, () => Promise<unknown>]>([
  [
    "a plugin's file is changed in place, with its old time",
    async () => {
      await appendFile(at("plugins/shop/shop.php"), "y");
      await utimes(at("plugins/shop/shop.php"), 1, 1);
    },
  ],
  ["a theme's file is changed in place", () => appendFile(at("themes/leaf/style.css"), "y")],
  ["a plugin is added", () => mkdir(at("plugins/new"))],
  ["a plugin is removed", () => rm(at("plugins/single.php"))],
  [
    "a theme is replaced",
    async () => {
      await rename(at("themes/leaf"), at("themes/old"));
      await rename(at("themes/old"), at("themes/leaf"));
    },
  ],
  ["all plugins are moved away", () => rename(at("plugins"), at("plugins.off"))],
  ["a plugin is a link", () => symlink("/tmp", at("plugins/link"))],
])("packages have changed if %s", async (_, change) => {
  const since = await later();
  await change();
  expect(await arePackagesUnchanged(root, since)).toBe(false);
});

test("a link is never unchanged", async () => {
  await symlink("/tmp", at("plugins/link"));
  expect(await arePackagesUnchanged(root, await later())).toBe(false);
});

test("a site without plugins is unchanged", async () => {
  await rm(at("plugins"), { recursive: true });
  expect(await arePackagesUnchanged(root, await later())).toBe(true);
});
