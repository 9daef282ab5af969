import { readFileSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { makeFolder, startSite, writeFiles } from "../testing/withEdge.ts";
import { openFile } from "./openFile.ts";

test("opens a file at its checked path, and closes it at the end of the scope", async () => {
  const file = path.join(await makeFolder(), "a.txt");
  await writeFile(file, "content");
  let link = "";
  {
    using opened = openFile(file);
    link = opened?.path ?? "";
    expect(readFileSync(link, "utf8")).toBe("content");
  }
  if (process.platform === "linux") expect(() => readFileSync(link)).toThrow(/ENOENT|EACCES|ENXIO/);
});

test.runIf(process.platform === "linux")(
  "opens nothing if a folder in the path was replaced by a symbolic link",
  async () => {
    const folder = await makeFolder();
    await writeFiles(folder, { "site/a/f.txt": "own", "secrets/f.txt": "secret" });
    const file = path.join(folder, "site/a/f.txt");
    await rename(path.join(folder, "site/a"), path.join(folder, "site/b"));
    await symlink(path.join(folder, "secrets"), path.join(folder, "site/a"));
    expect(openFile(file)).toBeNull();
  },
);

test("opens nothing if the file is a symbolic link or its folder is missing", async () => {
  const folder = await makeFolder();
  await writeFile(path.join(folder, "secret.txt"), "secret");
  await symlink(path.join(folder, "secret.txt"), path.join(folder, "link.txt"));
  expect(openFile(path.join(folder, "link.txt"))).toBeNull();
  expect(openFile(path.join(folder, "gone/f.txt"))).toBeNull();
});

test.runIf(process.platform === "linux")(
  "never sends a secret while a site keeps replacing a folder by a symbolic link",
  async () => {
    const { edge, folder, root } = await startSite({ "real/f.txt": "own" });
    await writeFiles(folder, { "secrets/f.txt": "secret" });
    await symlink(path.join(folder, "secrets"), path.join(root, "link"));
    await mkdir(path.join(root, "spare"));
    const target = path.join(root, "place");
    const answers = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const requests = Promise.all(Array.from({ length: 4 }, () => ask(edge, "/place/f.txt")));
      await rename(path.join(root, "real"), target);
      await rename(target, path.join(root, "real"));
      await rename(path.join(root, "link"), target);
      await rename(target, path.join(root, "link"));
      for (const got of await requests) answers.add(got.body);
    }
    await rm(target, { force: true });
    expect([...answers].filter((body) => body.includes("secret"))).toEqual([]);
  },
);
