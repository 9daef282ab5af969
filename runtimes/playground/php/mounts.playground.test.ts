import { access, mkdir, mkdtemp, rename, rm, stat, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bootPhp, type GuardedPhp } from "./boot.ts";
import { type MountKind, mountFolder } from "./mounts.ts";

let php: GuardedPhp;
let host: string;

beforeAll(async () => {
  php = await bootPhp({ version: "8.3", network: () => null, opcodes: null });
}, 60_000);

beforeEach(async () => {
  host = await mkdtemp(path.join(tmpdir(), "mounts-"));
  const created = host;
  return () => rm(created, { recursive: true, force: true });
});

/** Evaluates an expression in PHP, without cached lookups. */
async function evaluate(expression: string): Promise<unknown> {
  php.forgetNodes();
  const response = await php.runStream({ code: `<?php clearstatcache(true); echo json_encode(${expression});` });
  return JSON.parse(await response.stdoutText);
}

async function mount(kind: MountKind, folder = host): Promise<void> {
  const unmount = await mountFolder(php, "/mounted", folder, kind);
  onTestFinished(unmount);
}

const longAgo = 1_000_000_000;

describe("an environment's own folder", () => {
  test("PHP sees at once when another process creates, changes or removes a file", async () => {
    await mount("files");
    const file = path.join(host, "note.txt");
    expect(await evaluate("[file_exists('/mounted/note.txt'), @file_get_contents('/mounted/note.txt')]")).toEqual([
      false,
      false,
    ]);
    await writeFile(file, "first");
    await utimes(file, longAgo, longAgo);
    expect(await evaluate("[filemtime('/mounted/note.txt'), filesize('/mounted/note.txt')]")).toEqual([longAgo, 5]);
    await writeFile(file, "longer");
    expect(await evaluate("[filemtime('/mounted/note.txt') > 1e9, file_get_contents('/mounted/note.txt')]")).toEqual([
      true,
      "longer",
    ]);
    await unlink(file);
    expect(await evaluate("file_exists('/mounted/note.txt')")).toBe(false);
  });

  test("paths below a file and names that are too long don't exist", async () => {
    await writeFile(path.join(host, "file"), "");
    await mount("files");
    const long = "x".repeat(300);
    expect(await evaluate(`[file_exists('/mounted/file/below'), file_exists('/mounted/${long}')]`)).toEqual([
      false,
      false,
    ]);
    expect(await evaluate(`@file_put_contents('/mounted/${long}', 'x')`)).toBe(false);
  });

  test("a symbolic link is one, and can't lead out of PHP's file system", async () => {
    await writeFile(path.join(host, "target"), "here");
    await symlink("target", path.join(host, "inside"));
    await symlink("/etc/hostname", path.join(host, "outside"));
    await mount("files");
    expect(await evaluate("[is_link('/mounted/inside'), file_get_contents('/mounted/inside')]")).toEqual([
      true,
      "here",
    ]);
    expect(await evaluate("[is_link('/mounted/outside'), @file_get_contents('/mounted/outside')]")).toEqual([
      true,
      false,
    ]);
  });
});

describe("the folder of a database", () => {
  test("PHP sees within one request that another process has removed a file", async () => {
    await mount("database");
    const journal = path.join(host, "a.sqlite-journal");
    await writeFile(journal, "");
    const exists = "file_exists('/mounted/a.sqlite-journal')";
    const waits = "(function () { while (!file_exists('/mounted/gone')) usleep(1000); })()";
    const answer = evaluate(`[${exists}, touch('/mounted/seen'), ${waits}, ${exists}]`);
    await vi.waitFor(() => access(path.join(host, "seen")), { timeout: 10_000 });
    await unlink(journal);
    await writeFile(path.join(host, "gone"), "");
    expect(await answer).toEqual([true, true, null, false]);
  });

  test("a file that could not be created does not exist afterwards", async () => {
    await mount("database");
    const long = "x".repeat(300);
    expect(
      await evaluate(`[@touch('/mounted/${long}'), file_exists('/mounted/${long}'), @mkdir('/mounted/a/b')]`),
    ).toEqual([false, false, false]);
  });

  test("SQLite writes to it, since inode numbers don't change", async () => {
    await mount("database");
    const steps = [
      "($db = new PDO('sqlite:/mounted/a.sqlite')) !== null",
      "$db->exec('CREATE TABLE t (n INTEGER)')",
      "$db->exec('INSERT INTO t VALUES (1), (2)')",
      "$db->query('SELECT count(*) FROM t')->fetchColumn()",
      "fileinode('/mounted/a.sqlite')",
    ];
    const answers = await evaluate(`[${steps.join(", ")}]`);
    const { ino } = await stat(path.join(host, "a.sqlite"));
    expect(answers).toEqual([true, 0, 2, 2, ino]);
    expect(await evaluate("fileinode('/mounted/a.sqlite')")).toBe(ino);
  });

  test("PHP creates, renames and removes files in it", async () => {
    await mount("database");
    const steps = [
      "file_put_contents('/mounted/a', 'text')",
      "rename('/mounted/a', '/mounted/b')",
      "file_get_contents('/mounted/b')",
      "file_exists('/mounted/a')",
      "unlink('/mounted/b')",
      "file_exists('/mounted/b')",
      "mkdir('/mounted/c') && rmdir('/mounted/c')",
    ];
    expect(await evaluate(`[${steps.join(", ")}]`)).toEqual([4, true, "text", false, true, false, true]);
  });
});

describe("a read-only folder", () => {
  test("looks up each file on the host once, even if it is mounted again", async () => {
    const file = path.join(host, "code.php");
    await writeFile(file, "<?php");
    await utimes(file, longAgo, longAgo);
    const unmount = await mountFolder(php, "/mounted", host, "readOnly");
    expect(await evaluate("[filemtime('/mounted/code.php'), is_writable('/mounted/code.php')]")).toEqual([
      longAgo,
      false,
    ]);
    await utimes(file, longAgo + 1, longAgo + 1);
    expect(await evaluate("filemtime('/mounted/code.php')")).toBe(longAgo);
    await unmount();
    await mount("readOnly");
    expect(await evaluate("[filemtime('/mounted/code.php'), is_file('/mounted/code.php')]")).toEqual([longAgo, true]);
  });

  test("is identified by its inode: another folder with the same path has its own files", async () => {
    const [one, two] = [path.join(host, "one"), path.join(host, "two")];
    for (const [folder, time] of [
      [one, longAgo],
      [two, longAgo + 5],
    ] as const) {
      await mkdir(path.join(folder, "a"), { recursive: true });
      await writeFile(path.join(folder, "a/code.php"), folder);
      await utimes(path.join(folder, "a/code.php"), time, time);
    }
    const unmount = await mountFolder(php, "/mounted", one, "readOnly");
    expect(await evaluate("filemtime('/mounted/a/code.php')")).toBe(longAgo);
    await unmount();
    await rename(two, path.join(host, "three"));
    await mount("readOnly", path.join(host, "three"));
    expect(await evaluate("[filemtime('/mounted/a/code.php'), file_get_contents('/mounted/a/code.php')]")).toEqual([
      longAgo + 5,
      two,
    ]);
  });

  test("shows files that are added later", async () => {
    await mount("readOnly");
    expect(await evaluate("file_exists('/mounted/later')")).toBe(false);
    await writeFile(path.join(host, "later"), "x");
    expect(await evaluate("file_exists('/mounted/later')")).toBe(true);
  });

  test("a file that is removed after all can't be read, and does no harm", async () => {
    await writeFile(path.join(host, "code.php"), "x");
    await mount("readOnly");
    expect(await evaluate("file_exists('/mounted/code.php')")).toBe(true);
    await unlink(path.join(host, "code.php"));
    expect(await evaluate("@file_get_contents('/mounted/code.php')")).toBe(false);
    expect(await evaluate("1 + 1")).toBe(2);
  });
});
