import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareFiles } from "./compareFiles.ts";

let folder: string;
let made = 0;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "compare-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function nextPath(): string {
  made += 1;
  return path.join(folder, String(made));
}

type Files = Readonly<Record<string, string | { readonly link: string }>>;

/** Creates a web root with these files and this modification time in seconds. */
function webRoot(files: Files, seconds = made): string {
  const root = nextPath();
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (typeof content === "string") {
      writeFileSync(file, content);
      utimesSync(file, seconds, seconds);
    } else symlinkSync(content.link, file);
  }
  return root;
}

const none = { count: 0, bytes: 0, listed: [] };
const one = (name: string, bytes: number) => ({ count: 1, bytes, listed: [{ path: name, bytes }] });

describe("files", () => {
  test("are added, changed, removed or equal, with their size in the source", async () => {
    const own = webRoot({ "a/same.php": "same", "changed.php": "a", "removed.txt": "12345", ".hidden": "x" });
    const source = webRoot({ "a/same.php": "same", "changed.php": "abc", "a/b/added.txt": "1234567", ".hidden": "x" });
    expect(await compareFiles(own, source, null)).toEqual({
      added: one("a/b/added.txt", 7),
      changed: one("changed.php", 3),
      removed: one("removed.txt", 5),
    });
  });

  test("of equal size are compared byte by byte, unless their modification times are equal", async () => {
    const large = "x".repeat(600_000);
    const own = webRoot({ "a.bin": `${large}1`, "b.bin": `${large}1` }, 1000);
    const source = webRoot({ "a.bin": `${large}2`, "b.bin": `${large}1` }, 2000);
    expect((await compareFiles(own, source, null)).changed).toEqual(one("a.bin", 600_001));
    utimesSync(path.join(source, "a.bin"), 1000, 1000);
    expect((await compareFiles(own, source, null)).changed).toEqual(none);
  });

  test("of WordPress core are ignored, but not folders of the same name deeper down", async () => {
    const own = webRoot({ "wp-admin/a.php": "1", "wp-content/wp-includes/a.php": "1" });
    const source = webRoot({ "wp-includes/a.php": "1", "wp-content/wp-admin/a.php": "12" });
    expect(await compareFiles(own, source, null)).toEqual({
      added: one("wp-content/wp-admin/a.php", 2),
      changed: none,
      removed: one("wp-content/wp-includes/a.php", 1),
    });
  });

  test("that are symbolic links are not listed, nor anything behind them", async () => {
    const outside = webRoot({ "secret.txt": "secret" });
    const own = webRoot({ other: { link: "x1" }, gone: { link: outside }, file: "12", link: { link: "x" } });
    const source = webRoot({ other: { link: "x2" }, out: { link: outside }, file: { link: "12" }, link: "1" });
    // A file that replaces a link is added; a file that a link replaces is removed.
    expect(await compareFiles(own, source, null)).toEqual({
      added: one("link", 1),
      changed: none,
      removed: one("file", 2),
    });
    expect((await compareFiles(own, source, ["out/secret.txt"])).added).toEqual(none);
  });

  test("are compared with the rewritten files instead of the source's", async () => {
    const own = webRoot({ "same.php": "written", "changed.php": "own", "kept.php": "source" });
    const source = webRoot({ "same.php": "source", "changed.php": "own", "kept.php": "source", "new.php": "1" });
    const rewritten = webRoot({ "same.php": "written", "changed.php": "other!", "new.php": "12", "unasked.php": "1" });
    expect(await compareFiles(own, source, null, rewritten)).toEqual({
      added: one("new.php", 2),
      changed: one("changed.php", 6),
      removed: none,
    });
  });

  test("may be replaced by folders of the same name, and pipes are ignored", async () => {
    const own = webRoot({ thing: "1234" });
    const source = webRoot({ "thing/file": "12" });
    execFileSync("mkfifo", [path.join(source, "pipe")]);
    expect(await compareFiles(own, source, null)).toEqual({
      added: one("thing/file", 2),
      changed: none,
      removed: one("thing", 4),
    });
  });

  test("are all counted, and the first hundred by path are listed", async () => {
    const names = Array.from({ length: 250 }, (_, index) => `f${String(index).padStart(3, "0")}`);
    const source = webRoot(Object.fromEntries(names.toReversed().map((name) => [name, "12"])));
    const { added } = await compareFiles(webRoot({}), source, null);
    expect(added).toMatchObject({ count: 250, bytes: 500 });
    expect(added.listed.map((file) => file.path)).toEqual(names.slice(0, 100));
  });

  test.each([
    [["plugins/a"], ["plugins/a/1", "plugins/a/b/2"]],
    [["/plugins/a/b/"], ["plugins/a/b/2"]],
    [
      ["plugins/a/1", "plugins/a"],
      ["plugins/a/1", "plugins/a/b/2"],
    ],
    [
      ["plugins/a/1", "plugins/ab/3"],
      ["plugins/a/1", "plugins/ab/3"],
    ],
    [["index.php"], ["index.php"]],
    [
      ["plug", "../plugins", "index.php/x", "wp-admin"],
      ["plugins/a/1", "plugins/a/b/2", "plugins/ab/3"],
    ],
    [["plug", "absent"], []],
    [[], []],
  ])("only %j selects %j", async (only, expected) => {
    const files = {
      "plugins/a/1": "1",
      "plugins/a/b/2": "1",
      "plugins/ab/3": "1",
      "index.php": "1",
      "wp-admin/a": "1",
    };
    const { added, removed } = await compareFiles(webRoot({ "themes/own": "1" }), webRoot(files), only);
    expect(added.listed.map((file) => file.path)).toEqual(expected);
    expect(removed).toEqual(none);
  });

  test("files that only the target has are removed in selected folders only", async () => {
    const own = webRoot({ "plugins/a/own": "1", "plugins/b/own": "1" });
    const { removed } = await compareFiles(own, webRoot({ "plugins/a/1": "1" }), ["plugins/a"]);
    expect(removed.listed.map((file) => file.path)).toEqual(["plugins/a/own"]);
  });
});
