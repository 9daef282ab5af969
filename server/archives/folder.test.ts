import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { extract } from "tar";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFolderArchives } from "./folder.ts";

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swarchives-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const { signal } = new AbortController();

async function filled(archives: ReturnType<typeof openFolderArchives>, name: string, content: string): Promise<string> {
  const folder = await archives.workFolder(name);
  await mkdir(join(folder, "public"), { recursive: true });
  await writeFile(join(folder, "public", "ünï.txt"), content);
  return folder;
}

describe("archives in a folder", () => {
  test("give back what was put into them, and nobody else may read them", async () => {
    const root = await freshFolder();
    const archives = openFolderArchives(root);
    const bytes = await archives.put("env/one", await filled(archives, "env/one", "hello"), signal);
    const file = join(root, "env", "one.tar.zst");
    expect((await stat(file)).size).toBe(bytes);
    expect((await stat(file)).mode & 0o077).toBe(0);
    const target = await freshFolder();
    await pipeline(createReadStream(file), createZstdDecompress(), extract({ cwd: target }));
    expect(await readFile(join(target, "public", "ünï.txt"), "utf8")).toBe("hello");
  });

  test("are replaced under the same name, and leave no half behind where it broke off", async () => {
    const root = await freshFolder();
    const archives = openFolderArchives(root);
    await archives.put("env/one", await filled(archives, "env/one", "a"), signal);
    const before = await readFile(join(root, "env", "one.tar.zst"));
    const folder = await filled(archives, "env/one", "b");
    await expect(archives.put("env/one", folder, AbortSignal.abort())).rejects.toThrow();
    expect(await readFile(join(root, "env", "one.tar.zst"))).toEqual(before);
    await archives.put("env/one", folder, signal);
    await archives.removeWorkFolder("env/one");
    expect(await readdir(join(root, "env"))).toEqual(["one.tar.zst"]);
    expect(await readFile(join(root, "env", "one.tar.zst"))).not.toEqual(before);
  });

  test("are removed one by one, or all of an environment's, also where there are none", async () => {
    const root = await freshFolder();
    const archives = openFolderArchives(root);
    for (const name of ["env/one", "env/two", "other/one"]) {
      await archives.put(name, await filled(archives, name, name), signal);
      await archives.removeWorkFolder(name);
    }
    await archives.remove("env/one");
    await archives.remove("env/one");
    expect(await readdir(join(root, "env"))).toEqual(["two.tar.zst"]);
    await archives.removeAll("env");
    await archives.removeAll("env");
    expect(await readdir(root)).toEqual(["other"]);
  });

  test.each(["../x", "a/../../b", "/etc/x", "a", "a/b/c", "a/b.c", ""])("have no name like %j", async (name) => {
    await expect(openFolderArchives(await freshFolder()).remove(name)).rejects.toThrow("Not the name");
  });
});
