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
  const made = host;
  return () => rm(made, { recursive: true, force: true });
});

/** What PHP says to an expression, which knows nothing from before. */
async function ask(expression: string): Promise<unknown> {
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
  test("PHP finds at once what another process has made, changed or removed", async () => {
    await mount("files");
    const file = path.join(host, "note.txt");
    expect(await ask("[file_exists('/mounted/note.txt'), @file_get_contents('/mounted/note.txt')]")).toEqual([
      false,
      false,
    ]);
    await writeFile(file, "first");
    await utimes(file, longAgo, longAgo);
    expect(await ask("[filemtime('/mounted/note.txt'), filesize('/mounted/note.txt')]")).toEqual([longAgo, 5]);
    await writeFile(file, "longer");
    expect(await ask("[filemtime('/mounted/note.txt') > 1e9, file_get_contents('/mounted/note.txt')]")).toEqual([
      true,
      "longer",
    ]);
    await unlink(file);
    expect(await ask("file_exists('/mounted/note.txt')")).toBe(false);
  });

  test("what lies below a file, or has a name that is too long, is not there", async () => {
    await writeFile(path.join(host, "file"), "");
    await mount("files");
    const long = "x".repeat(300);
    expect(await ask(`[file_exists('/mounted/file/below'), file_exists('/mounted/${long}')]`)).toEqual([false, false]);
    expect(await ask(`@file_put_contents('/mounted/${long}', 'x')`)).toBe(false);
  });

  test("a link is one, and leads only where PHP itself could go", async () => {
    await writeFile(path.join(host, "target"), "here");
    await symlink("target", path.join(host, "inside"));
    await symlink("/etc/hostname", path.join(host, "outside"));
    await mount("files");
    expect(await ask("[is_link('/mounted/inside'), file_get_contents('/mounted/inside')]")).toEqual([true, "here"]);
    expect(await ask("[is_link('/mounted/outside'), @file_get_contents('/mounted/outside')]")).toEqual([true, false]);
  });
});

describe("the folder of a database", () => {
  test("PHP notices within one request that another process has removed a file", async () => {
    await mount("database");
    const journal = path.join(host, "a.sqlite-journal");
    await writeFile(journal, "");
    const exists = "file_exists('/mounted/a.sqlite-journal')";
    const waits = "(function () { while (!file_exists('/mounted/gone')) usleep(1000); })()";
    const asked = ask(`[${exists}, touch('/mounted/seen'), ${waits}, ${exists}]`);
    await vi.waitFor(() => access(path.join(host, "seen")), { timeout: 10_000 });
    await unlink(journal);
    await writeFile(path.join(host, "gone"), "");
    expect(await asked).toEqual([true, true, null, false]);
  });

  test("a file that could not be made is not there afterwards", async () => {
    await mount("database");
    const long = "x".repeat(300);
    expect(await ask(`[@touch('/mounted/${long}'), file_exists('/mounted/${long}'), @mkdir('/mounted/a/b')]`)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("SQLite, for which a file whose number changes is another one, writes to it", async () => {
    await mount("database");
    const steps = [
      "($db = new PDO('sqlite:/mounted/a.sqlite')) !== null",
      "$db->exec('CREATE TABLE t (n INTEGER)')",
      "$db->exec('INSERT INTO t VALUES (1), (2)')",
      "$db->query('SELECT count(*) FROM t')->fetchColumn()",
      "fileinode('/mounted/a.sqlite')",
    ];
    const told = await ask(`[${steps.join(", ")}]`);
    const { ino } = await stat(path.join(host, "a.sqlite"));
    expect(told).toEqual([true, 0, 2, 2, ino]);
    expect(await ask("fileinode('/mounted/a.sqlite')")).toBe(ino);
  });

  test("PHP makes, renames and removes files in it", async () => {
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
    expect(await ask(`[${steps.join(", ")}]`)).toEqual([4, true, "text", false, true, false, true]);
  });
});

describe("a folder that nobody changes", () => {
  test("is asked about each file once, also after it was mounted anew", async () => {
    const file = path.join(host, "code.php");
    await writeFile(file, "<?php");
    await utimes(file, longAgo, longAgo);
    const unmount = await mountFolder(php, "/mounted", host, "readOnly");
    expect(await ask("[filemtime('/mounted/code.php'), is_writable('/mounted/code.php')]")).toEqual([longAgo, false]);
    await utimes(file, longAgo + 1, longAgo + 1);
    expect(await ask("filemtime('/mounted/code.php')")).toBe(longAgo);
    await unmount();
    await mount("readOnly");
    expect(await ask("[filemtime('/mounted/code.php'), is_file('/mounted/code.php')]")).toEqual([longAgo, true]);
  });

  test("is known by itself: another one at the same place has its own files", async () => {
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
    expect(await ask("filemtime('/mounted/a/code.php')")).toBe(longAgo);
    await unmount();
    await rename(two, path.join(host, "three"));
    await mount("readOnly", path.join(host, "three"));
    expect(await ask("[filemtime('/mounted/a/code.php'), file_get_contents('/mounted/a/code.php')]")).toEqual([
      longAgo + 5,
      two,
    ]);
  });

  test("may still get files, which are found then", async () => {
    await mount("readOnly");
    expect(await ask("file_exists('/mounted/later')")).toBe(false);
    await writeFile(path.join(host, "later"), "x");
    expect(await ask("file_exists('/mounted/later')")).toBe(true);
  });

  test("a file of it that is gone after all can't be read, and does no harm", async () => {
    await writeFile(path.join(host, "code.php"), "x");
    await mount("readOnly");
    expect(await ask("file_exists('/mounted/code.php')")).toBe(true);
    await unlink(path.join(host, "code.php"));
    expect(await ask("@file_get_contents('/mounted/code.php')")).toBe(false);
    expect(await ask("1 + 1")).toBe(2);
  });
});
