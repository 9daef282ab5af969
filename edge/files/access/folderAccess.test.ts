import { execFile } from "node:child_process";
import { mkdir, rm, symlink, utimes } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { createFileLookup, type LookUp } from "../../tables/fileLookup.ts";
import { ask } from "../../testing/http.ts";
import { makeFolder, startSite, writeFiles } from "../../testing/withEdge.ts";
import { access } from "./access.ts";
import { createFolderAccess, type FolderAccess } from "./folderAccess.ts";

const { closed, conditional, open } = access;
const run = promisify(execFile);

let root: string;
let time: number;
let asked: string[];
let lookUp: LookUp;
let folders: FolderAccess;
beforeEach(async () => {
  root = path.join(await makeFolder(), "public");
  await mkdir(root);
  time = 1_000_000;
  asked = [];
  const onDisk = createFileLookup({ documentRoot: root, overlays: {} });
  lookUp = (segments) => {
    asked.push(segments.join("/"));
    return onDisk(segments);
  };
  folders = createFolderAccess(() => time);
});

const accessOf = (requested: string, real = requested) => folders.of(lookUp, requested.split("/"), real.split("/"));
const later = () => {
  time += 1_000;
};

describe("the rules of a folder", () => {
  test("also apply to the folders in it", async () => {
    await writeFiles(root, { "a/.htaccess": "deny from all", "a/b/c.pdf": "", "a/d/.htaccess": "allow from all" });
    expect(await accessOf("a/b/c.pdf")).toBe(closed);
    expect(await accessOf("a/c.pdf")).toBe(closed);
    expect(await accessOf("a/d/c.pdf")).toBe(open);
    expect(await accessOf("c.pdf")).toBe(open);
  });

  test("that let only some visitors have it close it, except the web root, where pages run anyway", async () => {
    const rules = "AuthType Basic\nRequire valid-user\n<Files x.log>\nDeny from all\n</Files>";
    await writeFiles(root, { ".htaccess": rules, "a/.htaccess": rules });
    expect([await accessOf("c.pdf"), await accessOf("x.log")]).toEqual([open, closed]);
    expect([await accessOf("a/c.pdf"), await accessOf("a/x.log")]).toEqual([conditional, closed]);
  });

  test("apply to the requested and to the real path", async () => {
    await writeFiles(root, { "a/.htaccess": "deny from all" });
    expect(await accessOf("link/c.pdf", "a/c.pdf")).toBe(closed);
    expect(await accessOf("a/c.pdf", "b/c.pdf")).toBe(closed);
    expect(await accessOf("link/c.pdf", "b/c.pdf")).toBe(open);
  });

  test("are read again when the file has changed, was added or removed, a second later at most", async () => {
    await mkdir(path.join(root, "a/b"), { recursive: true });
    expect(await accessOf("a/b/c.pdf")).toBe(open);
    await writeFiles(root, { "a/.htaccess": "deny from all" });
    later();
    expect(await accessOf("a/b/c.pdf")).toBe(closed);
    await writeFiles(root, { "a/.htaccess": "Deny from all\n<Files c.pdf>\nAllow from all\n</Files>" });
    later();
    expect(await accessOf("a/b/c.pdf")).toBe(open);
    await writeFiles(root, { "a/.htaccess": "deny from all" });
    await utimes(path.join(root, "a/.htaccess"), 1, 1);
    later();
    expect(await accessOf("a/b/c.pdf")).toBe(closed);
    await rm(path.join(root, "a/.htaccess"));
    later();
    expect(await accessOf("a/b/c.pdf")).toBe(open);
  });

  test("of an outer folder are never older than a second, even if an inner one was looked at later", async () => {
    await mkdir(path.join(root, "a"));
    await accessOf("x.pdf");
    time += 600;
    expect(await accessOf("a/c.pdf")).toBe(open);
    await writeFiles(root, { ".htaccess": "deny from all" });
    time += 400;
    expect(await accessOf("a/c.pdf")).toBe(closed);
  });

  test("cost no system call within a second, and one lookup for each folder after it", async () => {
    await writeFiles(root, { "a/.htaccess": "deny from all" });
    await accessOf("a/b/c.pdf");
    expect(asked).toEqual([".htaccess", "a/.htaccess", "a/b/.htaccess"]);
    for (let count = 0; count < 100; count += 1) await accessOf(`a/b/${count}.pdf`);
    expect(asked).toHaveLength(3);
    await accessOf("a/d/c.pdf");
    expect(asked).toHaveLength(4);
    later();
    await accessOf("a/b/c.pdf");
    expect(asked).toHaveLength(7);
  });
});

describe("a file named .htaccess that is", () => {
  test("a named pipe is ignored without waiting for it", async () => {
    await mkdir(path.join(root, "a"));
    await run("mkfifo", [path.join(root, "a/.htaccess")]);
    expect(await accessOf("a/c.pdf")).toBe(open);
  });

  test("a folder, or a link that leads nowhere, to itself or out of the site, is ignored", async () => {
    await writeFiles(path.dirname(root), { "outside.txt": "deny from all" });
    for (const name of ["a", "b", "c", "d"]) await mkdir(path.join(root, name));
    await mkdir(path.join(root, "a/.htaccess"));
    await symlink("nowhere", path.join(root, "b/.htaccess"));
    await symlink(".htaccess", path.join(root, "c/.htaccess"));
    await symlink("../../outside.txt", path.join(root, "d/.htaccess"));
    const all = ["a/c.pdf", "b/c.pdf", "c/c.pdf", "d/c.pdf"].map((file) => accessOf(file));
    expect(await Promise.all(all)).toEqual([open, open, open, open]);
  });

  test("a link within the site is followed", async () => {
    await writeFiles(root, { "rules.txt": "deny from all", "a/c.pdf": "" });
    await symlink("../rules.txt", path.join(root, "a/.htaccess"));
    expect(await accessOf("a/c.pdf")).toBe(closed);
  });

  test("ten megabytes long is read only at its beginning", async () => {
    const long = "Deny from 192.0.2.1\n".repeat(500_000);
    await writeFiles(root, { "a/.htaccess": `Deny from all\n${long}`, "b/.htaccess": `${long}Deny from all` });
    expect([await accessOf("a/c.pdf"), await accessOf("b/c.pdf")]).toEqual([closed, open]);
  });

  test("full of expressions uses a limited number of them", async () => {
    const files = (expression: string) => `<FilesMatch "${expression}">\nDeny from all\n</FilesMatch>\n`;
    const many = files("(x{30}){3}").repeat(30);
    const inner = files("(x{20}){20}").repeat(8) + files("[a-z]{3}zip$");
    await writeFiles(root, { "a/.htaccess": `${files("pdf$")}${many}`, "b/.htaccess": `${many}${files("pdf$")}` });
    await writeFiles(root, { "a/b/.htaccess": inner, "c/.htaccess": files("(x{20}){20}").repeat(2) + files("zip$") });
    const all = ["a/c.pdf", "b/c.pdf", "a/b/c.pdf", "a/b/xyzzip", "c/c.zip"].map((file) => accessOf(file));
    expect(await Promise.all(all)).toEqual([closed, open, closed, open, closed]);
  });
});

test("the edge answers 404 for files and scripts in a closed folder, and serves what the folder opens", async () => {
  const plugin = "wp-content/plugins/shop";
  const { edge } = await startSite({
    "wp-content/uploads/woocommerce_uploads/.htaccess": "deny from all",
    "wp-content/uploads/woocommerce_uploads/2026/paid-book.pdf": "paid",
    "wp-content/uploads/cat.jpg": "cat",
    [`${plugin}/.htaccess`]: "Require all denied\n<FilesMatch \\.css$>\nRequire all granted\n</FilesMatch>",
    [`${plugin}/style.css`]: "css",
    [`${plugin}/notes.txt`]: "notes",
    [`${plugin}/tool.php`]: "",
  });
  const statusOf = async (file: string) => (await ask(edge, `/${file}`)).status;
  expect(await statusOf("wp-content/uploads/woocommerce_uploads/2026/paid-book.pdf")).toBe(404);
  expect(await statusOf("wp-content/uploads/cat.jpg")).toBe(200);
  expect(await statusOf(`${plugin}/notes.txt`)).toBe(404);
  expect(await statusOf(`${plugin}/tool.php`)).toBe(404);
  expect(await statusOf(`${plugin}/style.css`)).toBe(200);
});
