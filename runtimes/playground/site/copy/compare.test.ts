import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareFiles, lostRows } from "./compare.ts";

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

describe("rows that would be lost", () => {
  function makeDatabase(sql: string): string {
    const file = nextPath();
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
