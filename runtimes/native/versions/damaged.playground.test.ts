/** Folders with a real PHP whose settings or files are damaged. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { cp, link, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runPhp, visitorOf } from "../../testing/visitor.ts";
import { twoPhps } from "../testing/twoPhps.ts";
import { openNative } from "../testing/world.ts";
import { inspectRoots } from "./discovery.ts";
import type { PhpInstallation } from "./installation.ts";

const run = promisify(execFile);

let php: PhpInstallation;
let folder: string;
let endless: string;
/** Takes half a minute, so it begins before the other tests. */
let endlessInspection: ReturnType<typeof inspect>;
beforeAll(async () => {
  [, php] = await twoPhps();
  folder = await linkedCopy();
  endless = await linkedCopy();
  await copySettings(endless);
  await rm(settings("fpm", "php.ini", endless));
  await run("mkfifo", [settings("fpm", "php.ini", endless)]);
  endlessInspection = inspect(endless);
});
afterAll(() => Promise.all([folder, endless].map((made) => rm(made, { recursive: true, force: true }))));
beforeEach(async () => {
  await rm(path.join(folder, "etc"), { recursive: true, force: true });
  await copySettings(folder);
});

/** Beside the original, because its files are linked: copying them would take long. */
async function linkedCopy(): Promise<string> {
  const made = await mkdtemp(`${php.root}-damaged-`);
  await run("cp", ["--archive", "--link", path.join(php.root, "usr"), made]);
  await run("chmod", ["755", made]);
  return made;
}

const copySettings = (to: string) =>
  cp(path.join(php.root, "etc"), path.join(to, "etc"), { recursive: true, verbatimSymlinks: true });

const settings = (program: string, name: string, root = folder) =>
  path.join(root, "etc/php", php.version, program, name);
const inspect = (root = folder) => inspectRoots([{ folder: root, place: "there" }]);

/** Writes a file of settings for both programs. */
async function write(name: string, content: string | Buffer): Promise<void> {
  for (const program of ["fpm", "cli"]) {
    await rm(settings(program, name), { force: true });
    await writeFile(settings(program, name), content);
  }
}

async function expectRefused(reason: RegExp, inspection = inspect()): Promise<void> {
  expect(await inspection).toEqual({ offered: [], refused: [expect.stringMatching(reason)] });
}

/** The page of a new site, and its settings, with this PHP. */
async function expectServed(): Promise<void> {
  const { offered, refused } = await inspect();
  expect([offered.map(({ fullVersion }) => fullVersion), refused]).toEqual([[php.fullVersion], []]);
  const native = await openNative({ phpOf: () => offered[0] ?? php });
  onTestFinished(() => native.close());
  const site = await native.site({ title: "Served" });
  const page = await visitorOf(native.serving, site).get("/");
  expect([page.status, page.text.includes("<title>Served</title>")]).toEqual([200, true]);
  const code =
    "echo json_encode( array( ini_get( 'display_errors' ), ini_get( 'memory_limit' ), function_exists( 'sitewright_hook' ) ) );";
  expect(JSON.parse(await runPhp(native.serving, site, code))).toEqual(["0", "256M", true]);
  const command = { phpVersion: native.phpVersion, argv: ["option", "get", "blogname"], seconds: 120 };
  const outcome = await native.runtime.runWpCli(
    site.environment,
    command,
    async () => undefined,
    new AbortController().signal,
  );
  expect(outcome.stdout.text).toContain("Served");
}

describe("a site is served if its PHP", () => {
  test.each([
    ["has settings that are none", '[[[ \u0000 = ;;\n"unclosed\n<?php'],
    ["has random bytes for settings", Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 73) % 251))],
    [
      "has settings that would disable the platform's",
      "display_errors=1\nauto_prepend_file=/none.php\nmemory_limit=1M\nuser_ini.filename=x.ini\nfile_uploads=0\n",
    ],
  ])("%s", async (_, content) => {
    await write("php.ini", content);
    await expectServed();
  });

  test("is told to load an extension that does not exist, or is no library", async () => {
    await write("conf.d/90-missing.ini", "extension=nosuch\nzend_extension=neither\nextension=/etc/ssl/openssl.cnf\n");
    await expectServed();
  });

  test("has a folder, a link into nothing, and a link out of it among its settings", async () => {
    await rm(settings("fpm", "php.ini"));
    await symlink("/etc/shadow", settings("fpm", "php.ini"));
    await symlink("/nowhere", settings("fpm", "conf.d/90-nothing.ini"));
    await run("mkdir", [settings("fpm", "conf.d/91-folder.ini")]);
    await expectServed();
  });
});

describe("PHP is refused, with the reason, if", () => {
  test("it has no settings at all", async () => {
    await rm(path.join(folder, "etc"), { recursive: true });
    await expectRefused(/^PHP 8\.\d there is not offered: it has no .*Install php8/);
  });

  test("its settings name another folder of extensions", async () => {
    await write("php.ini", "extension_dir=/nowhere\n");
    await expectRefused(/^PHP 8\.\d there is not offered: it has no /);
  });

  test("an extension is damaged", async () => {
    const [extensions = ""] = await readdir(path.join(folder, "usr/lib/php")).then((names) =>
      names.filter((name) => /^\d+$/.test(name)),
    );
    const file = path.join(folder, "usr/lib/php", extensions, "mbstring.so");
    const content = await readFile(file);
    // The original has the same file.
    await rm(file);
    onTestFinished(async () => {
      await rm(file);
      await writeFile(file, content);
    });
    await writeFile(file, Buffer.alloc(content.length));
    await expectRefused(/^PHP 8\.\d there is not offered: it has no mbstring\./);
    await writeFile(file, content.subarray(0, 1_000));
    await expectRefused(/crashes with signal \d+\. A file of it or of an extension may be damaged/);
  });

  test("an extension is a link that leads out of it", async () => {
    const [file = ""] = globSync("usr/lib/php/*/mbstring.so", { cwd: php.root });
    await rm(path.join(folder, file));
    onTestFinished(async () => {
      await rm(path.join(folder, file));
      await link(path.join(php.root, file), path.join(folder, file));
    });
    await symlink(path.join(php.root, file), path.join(folder, file));
    await expectRefused(/^PHP 8\.\d there is not offered: it has no mbstring\./);
  });

  test("all its files are links that lead out of it", async () => {
    const linked = await mkdtemp(`${php.root}-linked-`);
    onTestFinished(() => rm(linked, { recursive: true }));
    await run("cp", ["--archive", "--symbolic-link", path.join(php.root, "usr"), linked]);
    const { offered, refused } = await inspectRoots([{ folder: linked, place: "there" }]);
    expect([offered, refused]).toEqual([[], [expect.stringMatching(/is a symbolic link that leads out of \/usr\./)]]);
  });

  test("reading its settings never ends", async () => {
    await expectRefused(/did not end/, endlessInspection);
  });
});
