/** Imports dumps of SQLite databases into a real MariaDB with its standard client, and checks that nothing is lost. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MariaDb, startMariaDb } from "../../playground/testing/mariadb.ts";
import { dump } from "./dump.ts";

let maria: MariaDb;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "dump-"));
  maria = await startMariaDb();
});
afterAll(async () => {
  await maria?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;

/** Creates a SQLite database, dumps it, and imports it into a new database. */
async function imported(fill: (database: DatabaseSync) => void) {
  count += 1;
  const [source, target, name] = [path.join(folder, `${count}.sqlite`), path.join(folder, `${count}.sql`), `d${count}`];
  const database = new DatabaseSync(source);
  fill(database);
  database.close();
  const dumped = await dump(source, target);
  await maria.import(target, name);
  const query = (sql: string) => maria.query(name, sql);
  const definition = async (table: string) => (await query(`SHOW CREATE TABLE \`${table}\``))[0]?.[1] ?? "";
  return { ...dumped, query, definition, sql: () => readFile(target, "utf8") };
}

function hex(value: string | Uint8Array): string {
  return Buffer.from(value).toString("hex").toUpperCase();
}

const information = "_wp_sqlite_mysql_information_schema_";

/** Creates a table like WordPress's SQLite driver does. `columns`: name, MySQL type, SQLite type, and more. */
function describedTable(
  database: DatabaseSync,
  table: string,
  columns: readonly { name: string; type: string; own: string; nullable?: boolean; default?: string; extra?: string }[],
  keys: readonly { name: string; unique: boolean; parts: readonly (readonly [string, number | null])[] }[] = [],
): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${information}tables (TABLE_NAME, TABLE_COLLATION, TABLE_COMMENT);
    CREATE TABLE IF NOT EXISTS ${information}columns (TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT, IS_NULLABLE,
      EXTRA, COLLATION_NAME, COLUMN_COMMENT);
    CREATE TABLE IF NOT EXISTS ${information}statistics (TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART,
      NON_UNIQUE, INDEX_TYPE);
    CREATE TABLE "${table}" (${columns.map(({ name, own }) => `"${name}" ${own}`).join(", ")})`);
  const insert = (name: string, values: readonly SQLInputValue[]) =>
    database.prepare(`INSERT INTO ${information}${name} VALUES (${values.map(() => "?")})`).run(...values);
  insert("tables", [table, "utf8mb4_0900_ai_ci", "it's a table"]);
  for (const { name, type, nullable = false, default: value = null, extra = "" } of columns) {
    insert("columns", [table, name, type, value, nullable ? "YES" : "NO", extra, "utf8mb4_0900_ai_ci", ""]);
  }
  for (const { name, unique, parts } of keys) {
    for (const [at, [column, part]] of parts.entries()) {
      insert("statistics", [table, name, at + 1, column, part, unique ? 0 : 1, "BTREE"]);
    }
  }
}

describe("values", () => {
  test.each([
    ["quotes and backslashes", `it's "so" \\ \\' \\\\n`],
    ["line breaks", "a\nb\r\nc\r\u001a\u2028\u0085"],
    ["NULs in serialised data", 'O:1:"A":1:{s:4:"\0A\0b";s:2:"\0\0";}'],
    ["characters of four bytes", "🦄 👩‍👩‍👧 𝔘 日本 ünï"],
    ["text that looks like SQL", "'); DROP TABLE t; -- /* \\! ls"],
    ["an empty text", ""],
    ["trailing spaces", "text   "],
    ["a delimiter", "\ndelimiter //\n\\g"],
  ])("the bytes stay the same: %s", async (_, value) => {
    const { query } = await imported((database) => {
      database.exec("CREATE TABLE t (v TEXT, n TEXT)");
      database.prepare("INSERT INTO t VALUES (?, NULL)").run(value);
    });
    expect(await query("SELECT HEX(v), n FROM t")).toEqual([[hex(value), null]]);
  });

  test("numbers keep every digit", async () => {
    const { query } = await imported((database) => {
      database.exec("CREATE TABLE t (i INTEGER, r REAL)");
      const insert = database.prepare("INSERT INTO t VALUES (?, ?)");
      insert.run(9_223_372_036_854_775_807n, 0.1);
      insert.run(-9_223_372_036_854_775_808n, 1e300);
      insert.run(0, -0.000001234);
    });
    expect(await query("SELECT i, r FROM t ORDER BY i")).toEqual([
      ["-9223372036854775808", "1e300"],
      ["0", "-0.000001234"],
      ["9223372036854775807", "0.1"],
    ]);
  });

  test("binary values stay the same, including empty ones", async () => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { query } = await imported((database) => {
      database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)");
      for (const value of [every, Buffer.alloc(0)]) database.prepare("INSERT INTO t (b) VALUES (?)").run(value);
    });
    const wanted = [
      ["256", hex(every)],
      ["0", ""],
    ];
    expect(await query("SELECT LENGTH(b), HEX(b) FROM t ORDER BY id")).toEqual(wanted);
  });

  test("text that is not UTF-8 stays the same in a binary column", async () => {
    const broken = Buffer.from([0x61, 0xff, 0xfe, 0x27, 0x5c, 0x00, 0xc3]);
    const { query, definition, notes } = await imported((database) => {
      const columns = [
        { name: "id", type: "bigint(20) unsigned", own: "INTEGER PRIMARY KEY" },
        { name: "v", type: "longtext", own: "TEXT" },
        { name: "w", type: "varchar(191)", own: "TEXT", default: "" },
      ];
      const keys = [
        { name: "PRIMARY", unique: true, parts: [["id", null]] },
        { name: "w", unique: false, parts: [["w", null]] },
      ] as const;
      describedTable(database, "t", columns, keys);
      database
        .prepare("INSERT INTO t VALUES (1, CAST(? AS TEXT), CAST(? AS TEXT)), (2, 'ü', 'plain')")
        .run(broken, broken);
    });
    expect(await query("SELECT HEX(v), HEX(w) FROM t WHERE id = 1")).toEqual([[hex(broken), hex(broken)]]);
    expect(await query("SELECT HEX(v) FROM t WHERE id = 2")).toEqual([[hex("ü")]]);
    expect(await definition("t")).toContain("`v` longblob");
    expect(await definition("t")).toContain("`w` varbinary(191)");
    expect(notes).toContain("`t`.`v` is longblob instead of longtext, because it contains bytes that are not UTF-8.");
  });

  test("a large table is split into statements of at most a megabyte", async () => {
    const rows = 5_000;
    const { query, sql } = await imported((database) => {
      database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
      database.exec("BEGIN");
      const insert = database.prepare("INSERT INTO t VALUES (?, ?)");
      for (let id = 1; id <= rows; id += 1) insert.run(id, `${id}-${"é'".repeat(200)}`);
      insert.run(rows + 1, "x".repeat(3_000_000));
      insert.run(rows + 2, "'".repeat(1_500_000));
      database.exec("COMMIT");
    });
    expect(await query("SELECT COUNT(*), SUM(CRC32(v)) > 0, MAX(LENGTH(v)) FROM t")).toEqual([
      [String(rows + 2), "1", "3000000"],
    ]);
    expect(await query(`SELECT v = REPEAT("'", 1500000) FROM t WHERE id = ${rows + 2}`)).toEqual([["1"]]);
    const statements = (await sql()).split(/;\n/).filter((statement) => statement.includes("INSERT"));
    expect(statements.length).toBeGreaterThan(4);
    const small = statements.filter((statement) => !/x{9}|(\\'){9}/.test(statement));
    expect(Math.max(...small.map((statement) => Buffer.byteLength(statement)))).toBeLessThan(1_048_576);
  });

  test("a UTF-16 database is exported as UTF-8", async () => {
    const { query } = await imported((database) => {
      database.exec("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('ü🦄')");
    });
    expect(await query("SELECT HEX(v) FROM t")).toEqual([[hex("ü🦄")]]);
  });
});

describe("tables that WordPress's SQLite driver describes", () => {
  const id = {
    name: "id",
    type: "bigint(20) unsigned",
    own: "INTEGER PRIMARY KEY AUTOINCREMENT",
    extra: "auto_increment",
  };
  const primary = { name: "PRIMARY", unique: true, parts: [["id", null]] } as const;

  test("keep their types, defaults, keys and next AUTO_INCREMENT value", async () => {
    const { query, definition, notes } = await imported((database) => {
      describedTable(
        database,
        "wp_shop",
        [
          id,
          { name: "price", type: "decimal(10,2) unsigned", own: "REAL", default: "9.50" },
          { name: "kind", type: "enum('a','it''s')", own: "TEXT", default: "a" },
          { name: "marks", type: "set('x','y')", own: "TEXT", nullable: true },
          { name: "made", type: "datetime", own: "TEXT", default: "0000-00-00 00:00:00" },
          {
            name: "seen",
            type: "timestamp",
            own: "TEXT",
            nullable: true,
            default: "CURRENT_TIMESTAMP",
            extra: "DEFAULT_GENERATED on update CURRENT_TIMESTAMP",
          },
          { name: "slug", type: "varchar(255)", own: "TEXT", default: "" },
          { name: "body", type: "longtext", own: "TEXT", default: "" },
          { name: "picture", type: "longblob", own: "BLOB", nullable: true },
          { name: "flag", type: "bit(1)", own: "INTEGER", default: "b'0'" },
          { name: "facts", type: "json", own: "TEXT", nullable: true },
        ],
        [
          primary,
          { name: "slug", unique: true, parts: [["slug", 191]] },
          {
            name: "Kind_Made",
            unique: false,
            parts: [
              ["KIND", null],
              ["made", null],
            ],
          },
          { name: "body", unique: false, parts: [["body", null]] },
        ],
      );
      database.exec(`INSERT INTO wp_shop VALUES
        (1, 12.5, 'it''s', 'x,y', '0000-00-00 00:00:00', NULL, 'one', 'text', x'00ff', 1, '{"a":[1]}'),
        (700, 0.1, 'a', NULL, '2026-02-28 23:59:59', '2026-01-01 00:00:00', 'two', '', NULL, 0, NULL)`);
      database.exec(
        "DELETE FROM wp_shop WHERE id = 700; INSERT INTO wp_shop (id) VALUES (NULL); DELETE FROM wp_shop WHERE id = 701",
      );
    });
    expect(notes).toEqual([]);
    const text = await definition("wp_shop");
    for (const line of [
      "`id` bigint(20) unsigned NOT NULL AUTO_INCREMENT",
      "`price` decimal(10,2) unsigned NOT NULL DEFAULT 9.50",
      "`kind` enum('a','it''s') NOT NULL DEFAULT 'a'",
      "`made` datetime NOT NULL DEFAULT '0000-00-00 00:00:00'",
      "`seen` timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp()",
      "PRIMARY KEY (`id`)",
      "UNIQUE KEY `slug` (`slug`(191))",
      "KEY `Kind_Made` (`kind`,`made`)",
      "KEY `body` (`body`(191))",
      "AUTO_INCREMENT=702",
      "COLLATE=utf8mb4_unicode_520_ci",
      "COMMENT='it''s a table'",
    ]) {
      expect(text.replaceAll("\\n", "\n")).toContain(line);
    }
    expect(
      await query("SELECT id, price, kind, marks, made, seen, slug, HEX(picture), flag+0, facts FROM wp_shop"),
    ).toEqual([["1", "12.50", "it's", "x,y", "0000-00-00 00:00:00", null, "one", "00FF", "1", '{"a":[1]}']]);
  });

  test("get wider types if MySQL would truncate values, with a note", async () => {
    const long = "a".repeat(400);
    const { query, definition, notes } = await imported((database) => {
      describedTable(
        database,
        "t",
        [
          id,
          { name: "tiny", type: "tinyint(1)", own: "INTEGER" },
          { name: "name", type: "varchar(20)", own: "TEXT", default: "none" },
          { name: "kind", type: "enum('a','b')", own: "TEXT", default: "c" },
          { name: "day", type: "date", own: "TEXT", default: "2026-02-31" },
          { name: "facts", type: "json", own: "TEXT" },
          { name: "shape", type: "point", own: "TEXT" },
          { name: "small", type: "tinytext", own: "TEXT" },
        ],
        [primary],
      );
      const insert = database.prepare(
        "INSERT INTO t VALUES (1, 300, ?, 'other', '2026-01-01 10:00:00', 'no json', 'POINT(1 1)', ?)",
      );
      insert.run(long, long);
    });
    expect(await query("SELECT tiny, name, kind, day, facts, shape, small FROM t")).toEqual([
      ["300", long, "other", "2026-01-01 10:00:00.000000", "no json", "POINT(1 1)", long],
    ]);
    expect(await definition("t")).toContain("`name` varchar(400) NOT NULL DEFAULT 'none'");
    expect(notes).toEqual([
      "`t`.`tiny` is bigint instead of tinyint(1), because MySQL would truncate or change values.",
      "`t`.`name` is varchar(400) instead of varchar(20), because MySQL would truncate or change values.",
      "`t`.`kind` is varchar(5) instead of enum('a','b'), because MySQL would truncate or change values.",
      "`t`.`day` is datetime(6) instead of date, because MySQL would truncate or change values.",
      "`t`.`facts` is varchar(7) instead of json, because MySQL would truncate or change values.",
      "`t`.`shape` is varchar(10) instead of an unsupported type, because MySQL would truncate or change values.",
      "`t`.`small` is varchar(400) instead of tinytext, because MySQL would truncate or change values.",
    ]);
  });

  test("keep values distinct in a unique key that are distinct in SQLite", async () => {
    const names = ["e", "é", "🦄", "🐢", "ß", "ss", "a", "a\u0001"];
    const spaces = ["b", "b ", "B  "];
    const { query } = await imported((database) => {
      const columns = [id, { name: "name", type: "varchar(191)", own: "TEXT COLLATE NOCASE UNIQUE" }];
      const keys = [primary, { name: "name", unique: true, parts: [["name", null]] }] as const;
      for (const [table, values] of [
        ["t", names],
        ["u", spaces],
      ] as const) {
        describedTable(database, table, columns, keys);
        for (const name of values) database.prepare(`INSERT INTO ${table} (name) VALUES (?)`).run(name);
      }
    });
    for (const [table, values] of [
      ["t", names],
      ["u", spaces],
    ] as const) {
      expect(await query(`SELECT HEX(name) FROM ${table} ORDER BY id`)).toEqual(values.map((name) => [hex(name)]));
      await expect(query(`INSERT INTO ${table} (name) SELECT name FROM ${table}`)).rejects.toThrow("Duplicate entry");
    }
  });

  test("get keys that MySQL accepts: prefixes of long texts, unique only if all values fit the prefix", async () => {
    const long = (end: string) => `${"x".repeat(300)}${end}`;
    const { query, definition, notes } = await imported((database) => {
      const columns = [id, ...["a", "b", "c", "d", "e"].map((name) => ({ name, type: "varchar(1000)", own: "TEXT" }))];
      const parts = ["a", "b", "c", "d", "e"].map((name) => [name, null] as const);
      describedTable(database, "t", columns, [
        primary,
        { name: "all", unique: true, parts },
        { name: "start", unique: true, parts: [["a", 100]] },
      ]);
      for (const end of ["1", "2"]) database.prepare("INSERT INTO t (a,b,c,d,e) VALUES (?,'','','','')").run(long(end));
    });
    expect(await query("SELECT COUNT(*) FROM t")).toEqual([["2"]]);
    expect(await definition("t")).toMatch(/ KEY `all` \(`a`\(\d+\),`b`\(\d+\),/);
    expect(await definition("t")).not.toContain("UNIQUE KEY");
    expect(notes.filter((note) => note.includes("not unique"))).toHaveLength(2);
  });

  test("get rows within MySQL's size limit", async () => {
    const { definition } = await imported((database) => {
      const columns = [
        id,
        ...Array.from({ length: 6 }, (_, at) => ({ name: `c${at}`, type: "varchar(5000)", own: "TEXT" })),
      ];
      describedTable(database, "t", columns, [primary]);
    });
    expect((await definition("t")).match(/mediumtext/g)).toHaveLength(3);
  });

  test("keep foreign keys between integers, with a note on the others", async () => {
    const { query, definition, notes } = await imported((database) => {
      const other = { name: "other", type: "bigint(20) unsigned", own: "INTEGER", nullable: true };
      const word = { name: "word", type: "varchar(20)", own: "TEXT", default: "" };
      describedTable(database, "a_child", [id, other, word], [primary]);
      describedTable(database, "b_parent", [id, word], [primary]);
      database.exec(`
        CREATE TABLE ${information}referential_constraints (TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME, DELETE_RULE, UPDATE_RULE);
        CREATE TABLE ${information}key_column_usage (TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_COLUMN_NAME);
        CREATE TABLE ${information}table_constraints (TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE);
        INSERT INTO ${information}referential_constraints VALUES
          ('a_child', 'by_id', 'b_parent', 'CASCADE', 'NO ACTION'), ('a_child', 'by_word', 'b_parent', 'CASCADE', 'CASCADE'),
          ('a_child', 'by_hand', 'b_parent', 'CASCADE); DROP TABLE b_parent', '');
        INSERT INTO ${information}key_column_usage VALUES
          ('a_child', 'by_id', 'other', 'id'), ('a_child', 'by_word', 'word', 'word'), ('a_child', 'PRIMARY', 'id', NULL);
        INSERT INTO ${information}table_constraints VALUES ('a_child', 'positive', 'CHECK'), ('a_child', 'PRIMARY', 'PRIMARY KEY');
        INSERT INTO b_parent VALUES (7, 'x'); INSERT INTO a_child VALUES (1, 7, 'x'), (2, 8, 'y')`);
    });
    const child = await definition("a_child");
    expect(child).toContain("CONSTRAINT `by_id` FOREIGN KEY (`other`) REFERENCES `b_parent` (`id`) ON DELETE CASCADE");
    expect(child).not.toMatch(/by_word|by_hand|positive/);
    expect(await query("SELECT COUNT(*) FROM a_child")).toEqual([["2"]]);
    expect(notes).toEqual([
      "The CHECK constraint `positive` of `a_child` is left out.",
      "Foreign keys of `a_child` that are left out: 2.",
    ]);
  });

  test("the stored schema can't inject SQL", async () => {
    const { query, definition } = await imported((database) => {
      describedTable(database, "t", [
        id,
        { name: "a`b", type: "int); DROP DATABASE mysql; --", own: "TEXT", default: "'); --" },
        { name: "c", type: "enum('x','y\\') , z')", own: "TEXT", default: "x" },
      ]);
      database.exec(
        "UPDATE _wp_sqlite_mysql_information_schema_tables SET TABLE_COMMENT = '\\''; SELECT 1', TABLE_COLLATION = 'x; y'",
      );
      database.exec("INSERT INTO t VALUES (1, 'one', 'x')");
    });
    expect(await query("SELECT * FROM t")).toEqual([["1", "one", "x"]]);
    expect(await definition("t")).toContain("KEY `counted`");
  });
});

describe("tables that only SQLite knows", () => {
  test("get types that fit their values, and keep their keys", async () => {
    const { query, definition, notes } = await imported((database) => {
      database.exec(`
        CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, score NUMERIC, data, made DATETIME);
        CREATE UNIQUE INDEX by_title ON notes (title);
        CREATE TABLE pairs (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE loose (k TEXT PRIMARY KEY, v);
        CREATE TABLE mixed (v);
        CREATE VIEW seen AS SELECT * FROM notes;
        CREATE VIRTUAL TABLE found USING fts5(body);
        INSERT INTO notes VALUES (7, 'é', 1.5, x'00', '2026-01-01'), (8, 'e', 2, NULL, NULL);
        INSERT INTO pairs VALUES ('x', 1), ('X', 1);
        INSERT INTO loose VALUES (NULL, 1), (NULL, 2), ('k', 3);
        INSERT INTO mixed VALUES (1), ('text'), (2.5), (x'ff'), (NULL)`);
    });
    expect(await query("SELECT id, title, score, HEX(data), made FROM notes ORDER BY id")).toEqual([
      ["7", "é", "1.5", "00", "2026-01-01"],
      ["8", "e", "2", null, null],
    ]);
    expect(await definition("notes")).toContain("AUTO_INCREMENT=9");
    expect(await definition("notes")).toContain("UNIQUE KEY `by_title` (`title`");
    expect(await query("SELECT a, b FROM pairs ORDER BY a")).toEqual([
      ["X", "1"],
      ["x", "1"],
    ]);
    expect(await definition("pairs")).toContain("PRIMARY KEY (`a`");
    expect(await query("SELECT COUNT(*) FROM loose")).toEqual([["3"]]);
    expect(await query("SELECT HEX(v) FROM mixed")).toEqual([["31"], [hex("text")], [hex("2.5")], ["FF"], [null]]);
    expect(notes).toContain("`seen` is left out: it is a SQLite view.");
    expect(notes).toContain("`found` is left out: it is a SQLite virtual table.");
  });

  test("are left out if MySQL does not allow their names", async () => {
    const { tables, notes, query } = await imported((database) => {
      database.exec(`CREATE TABLE "${"x".repeat(65)}" (v); CREATE TABLE "🦄" (v); CREATE TABLE "a \`b\` 'c' \\" (v);
        INSERT INTO "a \`b\` 'c' \\" VALUES (1)`);
    });
    expect(tables).toBe(1);
    expect(notes).toHaveLength(2);
    expect(await query("SELECT v FROM `a ``b`` 'c' \\`")).toEqual([["1"]]);
  });

  test("an empty database gives an empty dump, and a damaged one fails", async () => {
    expect(await imported((database) => database.exec("VACUUM"))).toMatchObject({ tables: 0, notes: [] });
    const damaged = path.join(folder, "damaged.sqlite");
    await writeFile(damaged, "SQLite format 3\0 and nothing of the kind");
    await expect(dump(damaged, `${damaged}.sql`)).rejects.toThrow("not a database");
  });
});
