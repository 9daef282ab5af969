import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lostRows } from "./lostRows.ts";

let folder: string;
let made = 0;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "lost-rows-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("rows that would be lost", () => {
  function makeDatabase(sql: string): string {
    made += 1;
    const file = path.join(folder, String(made));
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    return file;
  }

  const lost = (own: string, source: string | null, tables: readonly string[] | null = null) =>
    lostRows(makeDatabase(own), source === null ? null : makeDatabase(source), tables);

  test("have a key that the source doesn't have, or has with other content; sorted by count", () => {
    const own = `
      CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE); INSERT INTO wp_posts VALUES (1, 'a'), (2, 'b');
      CREATE TABLE wp_orders (ID INTEGER PRIMARY KEY); INSERT INTO wp_orders VALUES (1), (2), (3);
      CREATE TABLE wp_users (ID INTEGER PRIMARY KEY); INSERT INTO wp_users VALUES (1);`;
    const source = `
      CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE); INSERT INTO wp_posts VALUES (1, 'A'), (3, 'b');
      CREATE TABLE wp_orders (ID INTEGER PRIMARY KEY); INSERT INTO wp_orders VALUES (4);
      CREATE TABLE wp_users (ID INTEGER PRIMARY KEY); INSERT INTO wp_users VALUES (1), (2);`;
    expect(lost(own, source)).toEqual([
      { table: "wp_orders", rows: 3 },
      { table: "wp_posts", rows: 2 },
    ]);
    expect(lost(own, source, ["wp_posts", "wp_users"])).toEqual([{ table: "wp_posts", rows: 2 }]);
  });

  test("are found with composite and NULL keys", () => {
    const table = "CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (b, a));";
    const own = `${table} INSERT INTO t VALUES ('x', 1), ('x', 2), (NULL, 1), (NULL, 3);`;
    expect(lost(own, `${table} INSERT INTO t VALUES ('x', 1), ('y', 2), (NULL, 1);`)).toEqual([
      { table: "t", rows: 2 },
    ]);
  });

  test("differ by NULL values and blobs", () => {
    const table = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB);";
    const own = `${table} INSERT INTO t VALUES (1, NULL, x'00'), (2, NULL, NULL), (3, 'x', x'0001');`;
    expect(lost(own, `${table} INSERT INTO t VALUES (1, NULL, x'00'), (2, '', NULL), (3, 'x', x'0002');`)).toEqual([
      { table: "t", rows: 2 },
    ]);
  });

  test("are found quickly by content if the source has another key", () => {
    const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      INSERT INTO t SELECT i, 'x' || i FROM n;`;
    const own = `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); ${rows} UPDATE t SET a = 'own' WHERE id = 7;`;
    expect(lost(own, `CREATE TABLE t (id INTEGER, a TEXT); ${rows}`)).toEqual([{ table: "t", rows: 1 }]);
  });

  test("are compared by content without a key, counting duplicates", () => {
    const table = "CREATE TABLE t (a TEXT COLLATE NOCASE, b);";
    const own = `${table} INSERT INTO t VALUES ('x', 1), ('x', 1), ('y', NULL), ('Z', 1), ('only', 1), ('only', 1);`;
    const source = `${table} INSERT INTO t VALUES ('x', 1), ('y', NULL), ('z', 1), ('new', 1);`;
    expect(lost(own, source)).toEqual([{ table: "t", rows: 3 }]);
  });

  test("are all rows of a table that the source doesn't have, or has with other columns", () => {
    const own = `
      CREATE TABLE gone (a); INSERT INTO gone VALUES (1), (1);
      CREATE TABLE "odd ""name" ("the ""key" INTEGER PRIMARY KEY); INSERT INTO "odd ""name" VALUES (1);
      CREATE TABLE empty (a);`;
    expect(lost(own, `CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY);`)).toEqual([
      { table: "gone", rows: 2 },
      { table: 'odd "name', rows: 1 },
    ]);
  });

  test("are all rows of all tables if there is no source; sorted by count", () => {
    const own = `
      CREATE TABLE wp_users (ID INTEGER PRIMARY KEY); INSERT INTO wp_users VALUES (1);
      CREATE TABLE log (line); INSERT INTO log VALUES ('a'), ('a');
      CREATE TABLE empty (a); CREATE VIEW seen AS SELECT * FROM log;`;
    expect(lost(own, null)).toEqual([
      { table: "log", rows: 2 },
      { table: "wp_users", rows: 1 },
    ]);
  });

  test("don't include WP-Cron events and sessions", () => {
    const tables = `CREATE TABLE wp_options (option_id INTEGER PRIMARY KEY, option_name TEXT, option_value TEXT);
      CREATE TABLE wp_usermeta (umeta_id INTEGER PRIMARY KEY, meta_key TEXT, meta_value TEXT);
      CREATE TABLE wp_sitemeta (meta_id INTEGER PRIMARY KEY, meta_key TEXT, meta_value TEXT);`;
    const filled = (value: string) => `${tables}
      INSERT INTO wp_options VALUES (1, 'cron', '${value}'), (2, '_transient_x', '${value}'), (3, NULL, '${value}');
      INSERT INTO wp_usermeta VALUES (1, 'session_tokens', '${value}'), (2, 'nickname', '${value}');
      INSERT INTO wp_sitemeta VALUES (1, '_site_transient_x', '${value}'), (2, 'site_name', '${value}');`;
    expect(lost(filled("own"), filled("other"))).toEqual([
      { table: "wp_options", rows: 1 },
      { table: "wp_sitemeta", rows: 1 },
      { table: "wp_usermeta", rows: 1 },
    ]);
    expect(lost(filled("own"), filled("own"))).toEqual([]);
  });

  test("don't include transients and the driver's tables", () => {
    const options = "CREATE TABLE wp_options (option_id INTEGER PRIMARY KEY, option_name TEXT);";
    const own = `${options}
      INSERT INTO wp_options (option_name) VALUES
        ('_transient_a'), ('_site_transient_timeout_b'), ('xtransient_c'), ('my_transient_d');
      CREATE TABLE _wp_sqlite_global_variables (a); INSERT INTO _wp_sqlite_global_variables VALUES (1);`;
    expect(lost(own, options)).toEqual([{ table: "wp_options", rows: 2 }]);
    expect(lost(own, "")).toEqual([{ table: "wp_options", rows: 2 }]);
    expect(lost(own.replaceAll("wp_options", "wp_2_options"), "")).toEqual([{ table: "wp_2_options", rows: 2 }]);
  });

  test("are counted while both files are in use, without writing to them", () => {
    const [own, source] = ["INSERT INTO t VALUES (1)", ""].map((insert) =>
      makeDatabase(`CREATE TABLE t (a INTEGER PRIMARY KEY); ${insert}`),
    );
    if (own === undefined || source === undefined) throw new Error("There are two.");
    const before = [own, source].map((file) => statSync(file).mtimeMs);
    const [reader, writer] = [new DatabaseSync(own), new DatabaseSync(source)];
    try {
      reader.exec("BEGIN; SELECT * FROM t");
      writer.exec("BEGIN IMMEDIATE");
      expect(lostRows(own, source, null)).toEqual([{ table: "t", rows: 1 }]);
    } finally {
      reader.close();
      writer.close();
    }
    expect([own, source].map((file) => statSync(file).mtimeMs)).toEqual(before);
  });
});
