import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFolderBlobs } from "./folderBlobs.ts";
import { namingFailures } from "./namedFailures.ts";
import { testBlobs } from "./testing/blobsConformance.ts";

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swblobs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

testBlobs("a folder", async () => openFolderBlobs(join(await freshFolder(), "archives")));

const { signal } = new AbortController();

test("only the owner can read blobs", async () => {
  const root = join(await freshFolder(), "archives");
  await openFolderBlobs(root).put("packs/one", Buffer.from("x"), signal);
  for (const place of [root, join(root, "packs"), join(root, "packs", "one")]) {
    expect((await stat(place)).mode & 0o077).toBe(0);
  }
});

test("a file that can't be examined is an error, not an absence", async () => {
  const root = await mkdtemp(join(tmpdir(), "swblobs-"));
  onTestFinished(() => void execFileSync("rm", ["-rf", root]));
  // So deep that the file's path is too long for any system call.
  const deep = join(root, "packs", ...Array.from({ length: 19 }, () => "d".repeat(205)));
  await mkdir(deep, { recursive: true });
  execFileSync("touch", ["f".repeat(250)], { cwd: deep });
  await expect(openFolderBlobs(root).list("packs", signal)).rejects.toThrow("ENAMETOOLONG");
});

test("a half-written blob does not exist", async () => {
  const root = await freshFolder();
  const blobs = openFolderBlobs(root);
  await blobs.put("packs/one", Buffer.from("x"), signal);
  await writeFile(join(root, "packs", "two.new"), "half");
  expect([...(await blobs.list("packs", signal)).keys()]).toEqual(["packs/one"]);
  await blobs.remove("packs/two");
  expect(await readdir(join(root, "packs"))).toEqual(["one"]);
});

test("the error of an unusable folder names it to the operator but not to the customer", async () => {
  const root = await freshFolder();
  await writeFile(join(root, "file"), "");
  const blobs = namingFailures(openFolderBlobs(join(root, "file", "archives")));
  await expect(blobs.put("packs/one", Buffer.from("x"), signal)).rejects.toMatchObject({
    name: "ObjectStoreFailure",
    message: expect.stringContaining(`${root}/file/archives`),
    summary: "The archive folder is missing, or there is something else at its path.",
  });
  const odd = namingFailures(openFolderBlobs(root));
  await expect(odd.put("file/one", Buffer.from("x"), signal)).rejects.toThrow("there is something else");
});
