import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { headerField, noStates, readPackageFiles, withStates } from "./packageFiles.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "packages-"));
  onTestFinished(() => rm(root, { recursive: true }));
});

async function write(name: string, content: string | Buffer): Promise<void> {
  const file = path.join(root, "wp-content", name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
}

const namesIn = async () => (await readPackageFiles(root)).map(({ kind, name }) => `${kind} ${name}`);

test("eight kilobytes of blanks in a header cost no more than other text", () => {
  const blanks = " ".repeat(8_000);
  expect(headerField(`Plugin Name: a${blanks}b${blanks}c */ d`, "Plugin Name")).toBe(`a${blanks}b${blanks}c`);
  expect(headerField("Plugin Name: One ?> two", "Plugin Name")).toBe("One");
});

describe("a header", () => {
  const read = async (text: string | Buffer) => {
    await write("plugins/one/one.php", text);
    return (await readPackageFiles(root))[0];
  };

  test.each([
    ["in a block", "<?php\n/**\n * Plugin Name: One\n * Version: 1.2\n */"],
    ["in lines", "<?php\n// Plugin Name: One\n# Version: 1.2"],
    ["on one line with the tag", "<?php /* Plugin Name: One */\n/* Version: 1.2 */"],
    ["with old Mac line endings", "<?php\r/*\rPlugin Name: One\rVersion: 1.2\r*/"],
    ["with Windows line endings", "<?php\r\n/*\r\nPlugin Name:One  \r\nVersion:1.2\r\n*/"],
    ["in any case", "<?php /*\nPLUGIN NAME: One\nversion: 1.2\n*/"],
  ])("is found %s", async (_, text) => {
    expect(await read(text)).toMatchObject({ title: "One", version: "1.2" });
  });

  test("is stripped of markup and truncated", async () => {
    const one = await read(
      `<?php\n/*\nPlugin Name: <b>One</b>\u0007 <script>x()</script>\nDescription: ${"d".repeat(4_000)}\nVersion: ${"9".repeat(500)}\n*/`,
    );
    expect(one?.title).toBe("One  x()");
    expect(one?.description).toHaveLength(2_000);
    expect(one?.version).toHaveLength(60);
  });

  test("is ignored after the first 8 KB of a file, as in WordPress", async () => {
    expect(await read(`<?php\n${"//\n".repeat(4_000)}/* Plugin Name: Late */`)).toBeUndefined();
  });

  test("may contain invalid UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from("<?php /* Plugin Name: On"), Buffer.of(0xff, 0xfe), Buffer.from("e */")]);
    expect((await read(bytes))?.title).toBe("On\ufffd\ufffde");
  });
});

test("symbolic links, pipes, dot-files and folders with a file's name are not plugins", async () => {
  await write("plugins/true/true.php", "<?php /* Plugin Name: True */");
  await write("plugins/.hidden/hidden.php", "<?php /* Plugin Name: Hidden */");
  await write("plugins/deep/inside/deep.php", "<?php /* Plugin Name: Deep */");
  await mkdir(path.join(root, "wp-content/plugins/folder.php"));
  await writeFile(path.join(root, "outside.php"), "<?php /* Plugin Name: Outside */");
  await symlink(path.join(root, "outside.php"), path.join(root, "wp-content/plugins/link.php"));
  await symlink(path.join(root, "wp-content/plugins/true"), path.join(root, "wp-content/plugins/linked"));
  execFileSync("mkfifo", [path.join(root, "wp-content/plugins/pipe.php")]);
  expect(await namesIn()).toEqual(["plugin true"]);
});

test("at most 1,000 packages are read", async () => {
  for (let count = 0; count < 1_100; count += 1) await write(`plugins/p${count}.php`, "<?php /* Plugin Name: P */");
  expect(await namesIn()).toHaveLength(1_000);
});

test("a web root without plugin and theme folders has no packages", async () => {
  expect(await readPackageFiles(root)).toEqual([]);
  expect(await readPackageFiles(path.join(root, "gone"))).toEqual([]);
});

test("a plugin is active if one of its files is, a theme also if a child theme of it is", async () => {
  await write("plugins/shop/shop.php", "<?php /* Plugin Name: Shop */");
  await write("plugins/single.php", "<?php /* Plugin Name: Single */");
  await write("themes/parent/style.css", "/* Theme Name: Parent */");
  await write("themes/child/style.css", "/*\nTheme Name: Child\nTemplate: parent\n*/");
  await write("themes/unused/style.css", "/* Theme Name: Unused */");
  const files = await readPackageFiles(root);
  const activeIn = (states: typeof noStates) =>
    withStates(files, states)
      .filter(({ isActive }) => isActive)
      .map(({ name }) => name);
  expect(activeIn(noStates)).toEqual([]);
  expect(activeIn({ ...noStates, activePlugins: new Set(["shop/extra.php"]) })).toEqual(["shop"]);
  expect(activeIn({ ...noStates, activePlugins: new Set(["single.php", "gone/gone.php"]) })).toEqual(["single"]);
  expect(activeIn({ ...noStates, activeThemes: new Set(["child"]) })).toEqual(["child", "parent"]);
});
