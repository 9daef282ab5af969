import { readFileSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { makeFolder, startSite, writeFiles } from "../testing/withEdge.ts";
import { openFile } from "./openFile.ts";

test("a file that is where it was judged to be is opened, and closed at the end", async () => {
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
  "a link that took the place of a folder on the way opens nothing",
  async () => {
    const folder = await makeFolder();
    await writeFiles(folder, { "site/a/f.txt": "own", "secrets/f.txt": "secret" });
    const file = path.join(folder, "site/a/f.txt");
    await rename(path.join(folder, "site/a"), path.join(folder, "site/b"));
    await symlink(path.join(folder, "secrets"), path.join(folder, "site/a"));
    expect(openFile(file)).toBeNull();
  },
);

test("a link in the place of the file and a folder that is gone open nothing", async () => {
  const folder = await makeFolder();
  await writeFile(path.join(folder, "secret.txt"), "secret");
  await symlink(path.join(folder, "secret.txt"), path.join(folder, "link.txt"));
  expect(openFile(path.join(folder, "link.txt"))).toBeNull();
  expect(openFile(path.join(folder, "gone/f.txt"))).toBeNull();
});

test.runIf(process.platform === "linux")(
  "a site that changes a folder for a link to secrets, over and over, never gets one sent",
  async () => {
    const { edge, folder, root } = await startSite({ "real/f.txt": "own" });
    await writeFiles(folder, { "secrets/f.txt": "secret" });
    await symlink(path.join(folder, "secrets"), path.join(root, "link"));
    await mkdir(path.join(root, "spare"));
    const place = path.join(root, "place");
    const answers = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const asking = Promise.all(Array.from({ length: 4 }, () => ask(edge, "/place/f.txt")));
      await rename(path.join(root, "real"), place);
      await rename(place, path.join(root, "real"));
      await rename(path.join(root, "link"), place);
      await rename(place, path.join(root, "link"));
      for (const got of await asking) answers.add(got.body);
    }
    await rm(place, { force: true });
    expect([...answers].filter((body) => body.includes("secret"))).toEqual([]);
  },
);
