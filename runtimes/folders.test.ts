import { chmod, link, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asOtherUser } from "../server/testing/otherUser.ts";
import { exists, removeTree } from "./folders.ts";

test("a tree with read-only folders is removed, and files hard-linked from a site keep their mode", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "swfolders-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await chmod(root, 0o777);
  await asOtherUser(async () => {
    const [own, tree] = [path.join(root, "wp-config.php"), path.join(root, "tree")];
    await mkdir(path.join(tree, "shut", "deeper"), { recursive: true });
    await writeFile(own, "<?php");
    await chmod(own, 0o400);
    for (const folder of ["shut/deeper", "shut"]) {
      await link(own, path.join(tree, folder, "wp-config.php"));
      await chmod(path.join(tree, folder), folder === "shut" ? 0 : 0o555);
    }
    await removeTree(tree);
    expect(await exists(tree)).toBe(false);
    expect((await stat(own)).mode & 0o777).toBe(0o400);
  });
});

test("removing a missing tree succeeds", async () => {
  await removeTree(path.join(tmpdir(), "swfolders-nowhere"));
});

test("a file that can't be examined is not reported as missing", async () => {
  expect(await exists(path.join(tmpdir(), "swfolders-nowhere"))).toBe(false);
  await expect(exists(path.join(tmpdir(), "x".repeat(300)))).rejects.toThrow("ENAMETOOLONG");
});
