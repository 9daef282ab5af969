import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { removeFolder, removeLater } from "./removeFolder.ts";

/** Makes a folder whose path is too long for Node. */
async function makeDeepFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "deep-"));
  const name = "x".repeat(200);
  execFileSync("sh", ["-c", `for i in $(seq 30); do mkdir ${name} && cd -P ./${name} || exit 1; done; echo x > file`], {
    cwd: folder,
  });
  return folder;
}

test("folders with paths of any length are removed, and missing ones are ignored", async () => {
  const folder = await makeDeepFolder();
  await removeFolder(folder);
  await removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
});

test("a folder's path is free at once, and its content is removed later", async () => {
  const folder = await makeDeepFolder();
  await removeLater(folder, (error) => expect.unreachable(String(error)));
  expect(existsSync(folder)).toBe(false);
  await writeFile(folder, "free");
  await removeFolder(folder);
  const left = () => execFileSync("ls", [tmpdir()]).toString();
  await expect.poll(left).not.toContain(path.basename(folder));
});
