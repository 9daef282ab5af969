import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readSiteFile } from "./siteFile.ts";

test("the beginning of a file is read, and nothing through a link or from a folder", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "site-file-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("config.php"), "<?php");
  await writeFile(file("large.php"), "x".repeat(3 << 20));
  await symlink("/dev/zero", file("endless.php"));
  await symlink(file("config.php"), file("link.php"));
  expect(await readSiteFile(file("config.php"))).toBe("<?php");
  expect(await readSiteFile(file("large.php"))).toHaveLength(1 << 20);
  for (const name of ["endless.php", "link.php", ".", "missing.php"]) expect(await readSiteFile(file(name))).toBe("");
});
