import { expect, test } from "vitest";
import { useSqliteFile } from "../../playground/testing/sqliteFile.ts";
import { replaceTexts } from "./replaceTexts.ts";

const database = useSqliteFile();

const change = { search: "old", replace: "new" };

test("counts rows and occurrences by table and column", () => {
  database.run(
    "CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, post_title TEXT, guid TEXT)",
    "INSERT INTO wp_posts VALUES (1, 'old old', 'http://old/'), (2, 'old', 'x'), (3, 'Old', NULL)",
  );
  expect(replaceTexts(database.path, change)).toEqual({
    places: [
      { table: "wp_posts", column: "post_title", rows: 2, occurrences: 3 },
      { table: "wp_posts", column: "guid", rows: 1, occurrences: 1 },
    ],
    skipped: { occurrences: 0, listed: [] },
    addresses: [],
  });
  expect(database.rowsOf("SELECT * FROM wp_posts")).toEqual(["1 | new new | http://new/", "2 | new | x", "3 | Old | "]);
});

test("keys, numbers, passwords and sessions stay", () => {
  database.run(
    "CREATE TABLE wp_users (ID INTEGER PRIMARY KEY, user_login TEXT, user_pass TEXT, user_activation_key TEXT)",
    "INSERT INTO wp_users VALUES (1, 'old', 'old', 'old')",
    "CREATE TABLE wp_usermeta (umeta_id INTEGER PRIMARY KEY, user_id INTEGER, meta_key TEXT, meta_value TEXT)",
    "INSERT INTO wp_usermeta VALUES (1, 1, 'session_tokens', 'old'), (2, 1, '_application_passwords', 'old'), (3, 1, 'nickname', 'old')",
    "CREATE TABLE plugin (name TEXT PRIMARY KEY, note TEXT) WITHOUT ROWID",
    "INSERT INTO plugin VALUES ('old', 'old'), ('older', 'x')",
  );
  expect(replaceTexts(database.path, change).places.map(({ table, column }) => `${table}.${column}`)).toEqual([
    "plugin.note",
    "wp_usermeta.meta_value",
    "wp_users.user_login",
  ]);
  expect(database.rowsOf("SELECT * FROM wp_users")).toEqual(["1 | new | old | old"]);
  expect(database.rowsOf("SELECT meta_value FROM wp_usermeta")).toEqual(["old", "old", "new"]);
  expect(database.rowsOf("SELECT * FROM plugin")).toEqual(["old | new", "older | x"]);
});

test("dates, according to the driver's schema, stay", () => {
  database.run(
    "CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, post_date TEXT, post_title TEXT)",
    "INSERT INTO wp_posts VALUES (1, '2024-01-01 00:00:00', 'In 2024')",
    `CREATE TABLE _wp_sqlite_mysql_information_schema_columns (table_name TEXT, column_name TEXT, column_type TEXT,
      column_default TEXT, is_nullable TEXT, extra TEXT, collation_name TEXT, column_comment TEXT)`,
    `INSERT INTO _wp_sqlite_mysql_information_schema_columns VALUES
      ('wp_posts', 'ID', 'bigint(20)', NULL, 'NO', '', NULL, ''), ('wp_posts', 'post_date', 'datetime', NULL, 'NO', '', NULL, ''),
      ('wp_posts', 'post_title', 'text', NULL, 'NO', '', 'utf8mb4_general_ci', '')`,
  );
  expect(replaceTexts(database.path, { search: "2024", replace: "2025" }).places).toMatchObject([
    { column: "post_title" },
  ]);
  expect(database.rowsOf("SELECT post_date, post_title FROM wp_posts")).toEqual(["2024-01-01 00:00:00 | In 2025"]);
});

test("lists skipped matches, including those that a constraint forbids", () => {
  database.run(
    "CREATE TABLE wp_options (option_id INTEGER PRIMARY KEY, option_name TEXT UNIQUE, option_value TEXT)",
    "INSERT INTO wp_options VALUES (1, 'old', 'old'), (2, 'new', 'x'), (7, 'o', 'O:3:\"old\":0:{}')",
  );
  expect(replaceTexts(database.path, change)).toMatchObject({
    places: [{ column: "option_value", rows: 1, occurrences: 1 }],
    skipped: {
      occurrences: 2,
      listed: [
        { table: "wp_options", column: "option_name", row: "1", occurrences: 1 },
        { table: "wp_options", column: "option_value", row: "7", occurrences: 1 },
      ],
    },
  });
  expect(database.rowsOf("SELECT option_name, option_value FROM wp_options WHERE option_id < 3")).toEqual([
    "old | new",
    "new | x",
  ]);
});

test("reports the site's addresses that change", () => {
  database.run(
    "CREATE TABLE wp_options (option_id INTEGER PRIMARY KEY, option_name TEXT, option_value TEXT)",
    "INSERT INTO wp_options VALUES (1, 'siteurl', 'http://old'), (2, 'home', 'http://other')",
    "CREATE TABLE wp_blogs (blog_id INTEGER PRIMARY KEY, domain TEXT, path TEXT)",
    "INSERT INTO wp_blogs VALUES (1, 'old', '/')",
  );
  expect(replaceTexts(database.path, change).addresses).toEqual([
    { place: "wp_blogs: domain of site 1", from: "old/", to: "new/" },
    { place: "wp_options: siteurl", from: "http://old", to: "http://new" },
  ]);
});

test("a replacement that contains the searched text is made once per match", () => {
  database.run(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, 'old' FROM n",
  );
  const longer = { search: "old", replace: "old old" };
  expect(replaceTexts(database.path, longer).places).toEqual([
    { table: "t", column: "a", rows: 2000, occurrences: 2000 },
  ]);
  expect(database.rowsOf("SELECT DISTINCT a FROM t")).toEqual(["old old"]);
});

test("a large table is not loaded into memory", () => {
  database.run(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, 'old' || hex(zeroblob(25000)) FROM n",
  );
  const before = process.memoryUsage().rss;
  expect(replaceTexts(database.path, change).places).toMatchObject([{ rows: 3000 }]);
  expect(process.memoryUsage().rss - before).toBeLessThan(120e6);
});
