import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RuntimeFailure } from "../runtime.ts";
import { databaseFile } from "./databaseFiles.ts";
import { sqliteDatabase } from "./sqliteDatabase.ts";
import { findStoredUser } from "./wordpressUsers.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "users-"));
});
afterAll(() => rm(folder, { recursive: true }));

const minimal = `
  CREATE TABLE wp_users (ID INTEGER PRIMARY KEY, user_login TEXT, user_email TEXT);
  CREATE TABLE wp_usermeta (user_id INTEGER, meta_key TEXT, meta_value TEXT);
  INSERT INTO wp_users VALUES (1, 'ada', 'Ada@Example.com'), (2, 'ed', 'ed@example.com');
  INSERT INTO wp_usermeta VALUES (1, 'wp_capabilities', 'a:1:{s:13:"administrator";b:1;}'),
    (2, 'wp_capabilities', 'a:1:{s:6:"editor";b:1;}');`;

let made = 0;
/** Creates a database with these changes. */
function after(changes: string): string {
  made += 1;
  const file = path.join(folder, `${made}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec(minimal);
  database.exec(changes);
  database.close();
  return file;
}

test("finds an e-mail address in any case, with the role", () => {
  const file = after("");
  expect(findStoredUser(file, "aDA@example.COM")).toEqual({ id: 1, login: "ada", isAdministrator: true });
  expect(findStoredUser(file, "ed@example.com")).toEqual({ id: 2, login: "ed", isAdministrator: false });
  expect(findStoredUser(file, "else@example.com")).toBeNull();
});

test.each([
  ["a disabled role", `'a:1:{s:13:"administrator";b:0;}'`],
  ["a role of a similar name", `'a:1:{s:19:"notanadministrator";b:1;}'`],
  ["a missing value", "NULL"],
  ["a number", "13"],
])("%s does not make an administrator", (_what, value) => {
  const file = after(`UPDATE wp_usermeta SET meta_value = ${value} WHERE user_id = 1`);
  expect(findStoredUser(file, "ada@example.com")).toMatchObject({ isAdministrator: false });
});

test("a network's super administrators are matched by their complete login", () => {
  const file = after(`
    CREATE TABLE wp_sitemeta (meta_key TEXT, meta_value TEXT);
    INSERT INTO wp_sitemeta VALUES ('site_admins', 'a:2:{i:0;s:4:"root";i:1;s:6:"edmund";}');
    INSERT INTO wp_users VALUES (3, 'root', 'root@example.com')`);
  expect(findStoredUser(file, "root@example.com")).toEqual({ id: 3, login: "root", isAdministrator: true });
  expect(findStoredUser(file, "ed@example.com")).toMatchObject({ isAdministrator: false });
});

test("of several users with one e-mail address, finds an administrator", () => {
  const file = after(`
    INSERT INTO wp_users VALUES (8, 'first', 'both@example.com'), (9, 'second', 'BOTH@example.com');
    INSERT INTO wp_usermeta VALUES (9, 'wp_capabilities', 'a:1:{s:13:"administrator";b:1;}')`);
  expect(findStoredUser(file, "both@example.com")).toMatchObject({ id: 9 });
});

test.each([
  ["DROP TABLE wp_users", "wp_users"],
  ["DROP TABLE wp_usermeta", "wp_usermeta"],
  ["ALTER TABLE wp_users DROP COLUMN user_email", "wp_users"],
  [
    `DROP TABLE wp_users; CREATE VIEW wp_users AS WITH RECURSIVE endless(ID) AS (SELECT 1 UNION ALL SELECT ID + 1 FROM endless)
     SELECT ID, 'x' AS user_login, 'x' AS user_email FROM endless`,
    "wp_users",
  ],
])("names the missing table: %s", (changes, table) => {
  const file = after(changes);
  expect(() => findStoredUser(file, "ada@example.com")).toThrow(RuntimeFailure);
  expect(() => findStoredUser(file, "ada@example.com")).toThrow(table);
});

test("finds one of a hundred thousand users", () => {
  const file = after(`
    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO wp_users SELECT i, 'user' || i, 'user' || i || '@example.com' FROM n`);
  expect(findStoredUser(file, "USER99999@example.com")).toMatchObject({ id: 99_999 });
});

/** Searches the database in a folder from another process. */
async function search(databases: string) {
  const scratch = path.join(folder, "scratch");
  const database = { of: { folder }, folder: databases, hasWordPress: true };
  const found = await sqliteDatabase.findUser(database, "ada@example.com", scratch);
  expect(await readdir(folder)).not.toContain("scratch");
  return found;
}

test("reports a damaged file from the other process", async () => {
  const databases = await mkdtemp(path.join(folder, "damaged-"));
  await writeFile(path.join(databases, databaseFile), "no database ".repeat(1_000));
  await expect(search(databases)).rejects.toThrow(/damaged/);
});

test("an unfinished write is rolled back in a copy, and the original stays unchanged", async () => {
  const file = after("CREATE TABLE t (id INTEGER PRIMARY KEY, filling TEXT)");
  const databases = await mkdtemp(path.join(folder, "left-"));
  const left = path.join(databases, databaseFile);
  const writer = new DatabaseSync(file);
  const insert = writer.prepare("INSERT INTO t (filling) VALUES (?)");
  writer.exec("PRAGMA cache_size = 5; BEGIN");
  for (let id = 0; id < 200; id += 1) insert.run("x".repeat(3_000));
  writer.exec("COMMIT; BEGIN IMMEDIATE; DELETE FROM wp_usermeta; UPDATE t SET filling = 'y'");
  for (const suffix of ["", "-journal"]) await copyFile(file + suffix, left + suffix);
  writer.close();
  const before = await readFile(`${left}-journal`);
  expect(await search(databases)).toEqual({ id: 1, login: "ada", isAdministrator: true });
  expect(await readFile(`${left}-journal`)).toEqual(before);
});
