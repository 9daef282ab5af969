import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RuntimeFailure } from "../runtime.ts";
import { copyDatabase, copyDatabaseFolder, isDamaged } from "./copyDatabase.ts";
import { withDatabase } from "./withDatabase.ts";

let folder: string;
let live: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "databases-"));
  live = path.join(folder, "live");
  await mkdir(live);
});
afterEach(() => rm(folder, { recursive: true }));

const pages = 200;

/** Creates a database of a few hundred pages, each with a version number. */
function makeDatabase(file: string): void {
  withDatabase(file, (database) => {
    database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, version INTEGER, filling TEXT)");
    const insert = database.prepare("INSERT INTO t VALUES (?, 1, ?)");
    database.exec("BEGIN");
    for (let id = 0; id < pages; id += 1) insert.run(id, "x".repeat(3000));
    database.exec("COMMIT");
  });
}

function versionsIn(file: string): unknown[] {
  return withDatabase(file, (database) => {
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
    return database
      .prepare("SELECT DISTINCT version FROM t")
      .all()
      .map(({ version }) => version);
  });
}

/** Leaves database and journal like a writer that is killed after half of its pages. */
async function leaveUnfinishedWrite(file: string): Promise<void> {
  const scratch = path.join(folder, "scratch.sqlite");
  makeDatabase(scratch);
  const database = new DatabaseSync(scratch);
  database.exec("PRAGMA cache_size = 5");
  database.exec("BEGIN IMMEDIATE");
  database.exec("UPDATE t SET version = 2");
  await copyFile(scratch, file);
  await copyFile(`${scratch}-journal`, `${file}-journal`);
  database.close();
}

test("a copy does not contain a concurrent write", async () => {
  const file = path.join(live, "a.sqlite");
  makeDatabase(file);
  const writer = new DatabaseSync(file);
  writer.exec("BEGIN IMMEDIATE; UPDATE t SET version = 2 WHERE id < 10");
  await copyDatabase(file, path.join(folder, "copy.sqlite"));
  writer.exec("COMMIT");
  writer.close();
  expect(versionsIn(path.join(folder, "copy.sqlite"))).toEqual([1]);
  expect(versionsIn(file)).toEqual([2, 1]);
});

test("an unfinished write is rolled back in the copy, and the original stays unchanged", async () => {
  const file = path.join(live, "a.sqlite");
  await leaveUnfinishedWrite(file);
  const before = await Promise.all([file, `${file}-journal`].map((each) => readFile(each)));
  await copyDatabase(file, path.join(folder, "copy.sqlite"));
  expect(versionsIn(path.join(folder, "copy.sqlite"))).toEqual([1]);
  expect(await Promise.all([file, `${file}-journal`].map((each) => readFile(each)))).toEqual(before);
  expect(await readdir(folder)).not.toContain("copy.sqlite-journal");
  expect(versionsIn(file)).toEqual([1]);
});

test("a journal that names another file is refused", async () => {
  const file = path.join(live, "a.sqlite");
  const victim = path.join(folder, "victim");
  await writeFile(victim, "precious");
  await leaveUnfinishedWrite(file);
  const name = Buffer.from(victim);
  const numbers = Buffer.alloc(12);
  numbers.writeUInt32BE(0x40000000 / 4096 + 1, 0);
  numbers.writeUInt32BE(name.length, 4);
  numbers.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    8,
  );
  const ending = Buffer.concat([
    numbers.subarray(0, 4),
    name,
    numbers.subarray(4),
    Buffer.from("d9d505f920a163d7", "hex"),
  ]);
  await writeFile(`${file}-journal`, Buffer.concat([await readFile(`${file}-journal`), ending]));
  await expect(copyDatabase(file, path.join(folder, "copy.sqlite"))).rejects.toThrow(RuntimeFailure);
  expect(await readFile(victim, "utf8")).toBe("precious");
});

test("a copy never uses write-ahead logging", async () => {
  const file = path.join(live, "a.sqlite");
  makeDatabase(file);
  const writer = new DatabaseSync(file);
  writer.exec("PRAGMA journal_mode = WAL; UPDATE t SET version = 2");
  await copyDatabase(file, path.join(folder, "copy.sqlite"));
  writer.close();
  expect(versionsIn(path.join(folder, "copy.sqlite"))).toEqual([2]);
});

test("a folder is copied with databases and other files, but without links and journals", async () => {
  await mkdir(path.join(live, "inner"));
  for (const name of ["a.sqlite", "inner/b.db"]) makeDatabase(path.join(live, name));
  await writeFile(path.join(live, "a.sqlite-journal"), "");
  await writeFile(path.join(live, "notes.sqlite"), "no database");
  await writeFile(path.join(live, "empty.sqlite"), "");
  await symlink("/etc/hostname", path.join(live, "link"));
  const copy = path.join(folder, "copy");
  await mkdir(copy);
  expect((await copyDatabaseFolder(live, copy)).toSorted()).toEqual(["a.sqlite", "inner/b.db"]);
  expect((await readdir(copy, { recursive: true })).toSorted()).toEqual([
    "a.sqlite",
    "empty.sqlite",
    "inner",
    "inner/b.db",
    "notes.sqlite",
  ]);
  expect(versionsIn(path.join(copy, "inner/b.db"))).toEqual([1]);
  expect(await readFile(path.join(copy, "notes.sqlite"), "utf8")).toBe("no database");
});

test("a file with only a database header is reported as damaged", async () => {
  const file = path.join(live, "a.sqlite");
  await writeFile(file, Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(5000, 7)]));
  const error: unknown = await copyDatabase(file, path.join(folder, "copy.sqlite")).catch((thrown: unknown) => thrown);
  expect(isDamaged(error)).toBe(true);
});
