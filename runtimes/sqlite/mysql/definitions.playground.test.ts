/** Statements that define tables, compared with what MariaDB 10.11 answers. */
import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
}, 60_000);

/** A table with everything that a copy or a new name must keep. */
const full = (name: string) => `CREATE TABLE ${name} (
  id bigint NOT NULL AUTO_INCREMENT, k varchar(50) COLLATE utf8mb4_bin NOT NULL DEFAULT 'x', n int DEFAULT NULL,
  made datetime NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (id), UNIQUE KEY k (k), KEY n (n)) COMMENT='a note'`;
const rows = (name: string) => `INSERT INTO ${name} (k, n) VALUES ('a', 1), ('b', 2)`;
const columnsOf = (name: string) => `SELECT GROUP_CONCAT(c) AS c FROM (SELECT CONCAT(COLUMN_NAME, ' ', COLUMN_KEY) AS c
  FROM information_schema.COLUMNS WHERE TABLE_NAME = '${name}' ORDER BY ORDINAL_POSITION) AS x`;
const fullColumns = [{ c: "id PRI,k UNI,n MUL,made " }];

async function errorOf(...statements: readonly string[]): Promise<string> {
  const answer = (await layer.run(...statements)).at(-1);
  if (answer === undefined || !("error" in answer)) throw new Error(`No error: ${JSON.stringify(answer)}`);
  return answer.error;
}

describe("a new name for a table", () => {
  test.each([
    ["RENAME TO", "one"],
    ["RENAME AS", "two"],
    ["RENAME", "three"],
  ])("by ALTER TABLE ... %s keeps rows, keys and columns", async (words, from) => {
    const to = `${from}_renamed`;
    expect(
      await layer.rows(
        full(from),
        rows(from),
        `ALTER TABLE ${from} ${words} ${to}`,
        `SELECT k, n FROM ${to} ORDER BY id`,
      ),
    ).toEqual([
      { k: "a", n: "1" },
      { k: "b", n: "2" },
    ]);
    expect(await layer.rows(columnsOf(to))).toEqual(fullColumns);
    expect(await errorOf(`SELECT * FROM ${from}`)).toContain("doesn't exist");
    expect(await errorOf(`INSERT INTO ${to} (k) VALUES ('a')`)).toContain("Duplicate entry");
    // The old name, with keys of the same names, is free.
    expect(await layer.rows(full(from), rows(from), `SELECT COUNT(*) AS n FROM ${from}`)).toEqual([{ n: "2" }]);
  });

  test("comes after the statement's other changes", async () => {
    const answers = await layer.rows(
      full("r1"),
      rows("r1"),
      "ALTER TABLE r1 RENAME TO r2, ADD COLUMN x int NOT NULL DEFAULT 5, RENAME COLUMN k TO kk",
      "SELECT kk, x FROM r2 ORDER BY id",
    );
    expect(answers).toEqual([
      { kk: "a", x: "5" },
      { kk: "b", x: "5" },
    ]);
  });

  test("by RENAME TABLE can swap tables, all or none", async () => {
    await layer.rows(
      full("s1"),
      rows("s1"),
      "CREATE TABLE s2 (other int)",
      "RENAME TABLE s1 TO s3, s2 TO s1, s3 TO s2",
    );
    expect(await layer.rows("SELECT k FROM s2 ORDER BY id")).toEqual([{ k: "a" }, { k: "b" }]);
    expect(await layer.rows("SELECT other FROM s1")).toEqual([]);
    expect(await errorOf("RENAME TABLE s1 TO s9, none TO s8")).toContain("none' doesn't exist");
    expect(await layer.rows("SELECT other FROM s1")).toEqual([]);
  });

  test("that is taken, and another database, are refused", async () => {
    await layer.rows("CREATE TABLE t1 (a int)", "CREATE TABLE t2 (b int)");
    expect(await errorOf("ALTER TABLE t1 RENAME TO t2")).toContain("Table 't2' already exists");
    expect(await errorOf("RENAME TABLE t1 TO elsewhere.t3")).toContain("Unknown database 'elsewhere'");
    expect(await layer.rows("SELECT a FROM t1")).toEqual([]);
  });

  test("leaves names in texts and comments alone", async () => {
    const answers = await layer.rows(
      "CREATE TABLE `rename` (`to` varchar(50))",
      "INSERT INTO `rename` (`to`) VALUES ('RENAME TABLE `rename` TO x')",
      "/* RENAME /* */ ALTER /* TO y */ TABLE `rename` RENAME /* z */ TO `it's -- all`",
      "SELECT `to` FROM `it's -- all`",
    );
    expect(answers).toEqual([{ to: "RENAME TABLE `rename` TO x" }]);
  });

  test("is followed by foreign keys, and by temporary tables", async () => {
    await layer.rows(
      "CREATE TABLE parents (id int NOT NULL, PRIMARY KEY (id))",
      "CREATE TABLE children (pid int, CONSTRAINT of_parent FOREIGN KEY (pid) REFERENCES parents (id) ON DELETE CASCADE)",
      "INSERT INTO parents VALUES (1)",
      "INSERT INTO children VALUES (1)",
      "RENAME TABLE parents TO elders",
      "DELETE FROM elders",
    );
    expect(await layer.rows("SELECT * FROM children")).toEqual([]);
    const answers = await layer.rows(
      "CREATE TEMPORARY TABLE tmp1 (a int)",
      "INSERT INTO tmp1 VALUES (3)",
      "ALTER TABLE tmp1 RENAME TO tmp2",
      "SELECT a FROM tmp2",
    );
    expect(answers).toEqual([{ a: "3" }]);
  });
});

describe("ALTER TABLE", () => {
  test("keeps rows that refer to the table's", async () => {
    const answers = await layer.rows(
      "CREATE TABLE owners (id int NOT NULL, v int, PRIMARY KEY (id))",
      "CREATE TABLE owned (oid int, CONSTRAINT of_owner FOREIGN KEY (oid) REFERENCES owners (id) ON DELETE CASCADE)",
      "INSERT INTO owners VALUES (1, 1)",
      "INSERT INTO owned VALUES (1)",
      "ALTER TABLE owners ADD COLUMN w int",
      "OPTIMIZE TABLE owners",
      "LOCK TABLES owners WRITE",
      "ALTER TABLE owners MODIFY v bigint AFTER w",
      "UNLOCK TABLES",
      "SELECT oid FROM owned",
    );
    expect(answers).toEqual([{ oid: "1" }]);
  });

  test("puts columns first and after others", async () => {
    const answers = await layer.rows(
      full("places"),
      rows("places"),
      "ALTER TABLE places ADD COLUMN f int NOT NULL DEFAULT 1 FIRST, ADD g varchar(5) AFTER k",
      "ALTER TABLE places CHANGE n m bigint AFTER f, MODIFY k varchar(60) COLLATE utf8mb4_bin NOT NULL FIRST",
      "INSERT INTO places VALUES ('c', 4, 5, 9, 'g', '2020-01-01 00:00:00')",
      "SELECT * FROM places WHERE k = 'c'",
    );
    expect(answers).toEqual([{ k: "c", f: "4", m: "5", id: "9", g: "g", made: "2020-01-01 00:00:00" }]);
    expect(await layer.rows(columnsOf("places"))).toEqual([{ c: "k UNI,f ,m MUL,id PRI,g ,made " }]);
  });

  test("renames columns and keys, and sets defaults", async () => {
    await layer.rows(
      full("names"),
      "ALTER TABLE names RENAME COLUMN n TO m, RENAME INDEX n TO by_m, ALTER COLUMN k SET DEFAULT 'new', ALTER m SET DEFAULT 5",
      "INSERT INTO names (id) VALUES (1)",
    );
    expect(await layer.rows("SELECT k, m FROM names")).toEqual([{ k: "new", m: "5" }]);
    const keys = await layer.rows(
      "SELECT INDEX_NAME AS i, COLUMN_NAME AS c FROM information_schema.STATISTICS WHERE TABLE_NAME = 'names' ORDER BY 1",
    );
    expect(keys).toEqual([
      { i: "by_m", c: "m" },
      { i: "k", c: "k" },
      { i: "PRIMARY", c: "id" },
    ]);
    expect(
      await layer.rows(
        "ALTER TABLE names ALTER m DROP DEFAULT",
        "INSERT INTO names (k) VALUES ('q')",
        "SELECT m FROM names WHERE k = 'q'",
      ),
    ).toEqual([{ m: null }]);
  });

  test("adds columns that may not be NULL to tables with rows", async () => {
    const answers = await layer.rows(
      "CREATE TABLE filled (a int)",
      "INSERT INTO filled VALUES (NULL)",
      "ALTER TABLE filled ADD n int NOT NULL, ADD COLUMN t varchar(9) NOT NULL FIRST, ADD d datetime NOT NULL, MODIFY a int NOT NULL",
      "SELECT * FROM filled",
    );
    expect(answers).toEqual([{ t: "", a: "0", n: "0", d: "0000-00-00 00:00:00" }]);
    const [created] = await layer.rows("SHOW CREATE TABLE filled");
    expect(created?.["Create Table"]).toContain("`n` int NOT NULL,\n");
  });

  test("records whether keys may be NULL", async () => {
    const nullable = async (statement: string) =>
      (
        await layer.rows(
          statement,
          "SELECT INDEX_NAME AS k, NULLABLE AS n FROM information_schema.STATISTICS WHERE TABLE_NAME = 'keyed' ORDER BY k",
        )
      ).map(({ k, n }) => `${k}:${n}`);
    await layer.rows("CREATE TABLE keyed (v int, KEY by_v (v))");
    expect(await nullable("ALTER TABLE keyed ADD id bigint AUTO_INCREMENT PRIMARY KEY FIRST")).toEqual([
      "by_v:YES",
      "PRIMARY:",
    ]);
    expect(await nullable("ALTER TABLE keyed MODIFY v int NOT NULL")).toEqual(["by_v:", "PRIMARY:"]);
    expect(await nullable("ALTER TABLE keyed MODIFY v int")).toEqual(["by_v:YES", "PRIMARY:"]);
  });

  test("refuses columns and keys that are not there", async () => {
    await layer.rows("CREATE TABLE few (a int, b int)");
    expect(await errorOf("ALTER TABLE few DROP COLUMN c")).toContain("Can't DROP 'c'");
    expect(await errorOf("ALTER TABLE few DROP INDEX c")).toContain("Can't DROP 'c'");
    expect(await errorOf("ALTER TABLE few RENAME INDEX c TO d")).toContain("Key 'c' doesn't exist");
    expect(await errorOf("ALTER TABLE few ALTER c SET DEFAULT 1")).toContain("Unknown column 'c'");
    expect(await errorOf("ALTER TABLE none ADD a int")).toContain("none' doesn't exist");
  });

  test("lets AUTO_INCREMENT go on, and leaves the table alone if nothing changes", async () => {
    const ids = "SELECT MAX(id) AS id FROM counted";
    await layer.rows(
      full("counted"),
      rows("counted"),
      "DELETE FROM counted WHERE k = 'b'",
      "ALTER TABLE counted ADD x int",
    );
    await layer.rows("OPTIMIZE TABLE counted", "INSERT INTO counted (k) VALUES ('c')");
    expect(await layer.rows(ids)).toEqual([{ id: "3" }]);
    await layer.rows("ALTER TABLE counted AUTO_INCREMENT=50", "INSERT INTO counted (k) VALUES ('d')");
    expect(await layer.rows(ids)).toEqual([{ id: "50" }]);
    const done = await layer.translated(
      "ALTER TABLE counted DISABLE KEYS, ALGORITHM=INPLACE, LOCK=NONE, ORDER BY n, FORCE",
    );
    expect(done.filter((sql) => sql.startsWith("INSERT INTO"))).toEqual([]);
  });

  test("records the table's options", async () => {
    const answers = await layer.rows(
      full("options"),
      "ALTER TABLE options COMMENT='other', ENGINE=MyISAM, CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
      `SELECT TABLE_COMMENT AS c, ENGINE AS e, TABLE_COLLATION AS t,
        (SELECT COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'options' AND COLUMN_NAME = 'k') AS k
      FROM information_schema.TABLES WHERE TABLE_NAME = 'options'`,
    );
    expect(answers).toEqual([{ c: "other", e: "MyISAM", t: "utf8mb4_general_ci", k: "utf8mb4_general_ci" }]);
  });
});

describe("ON UPDATE CURRENT_TIMESTAMP", () => {
  const state = "SELECT id, a > '2020-01-01' AS a, b > '2020-01-01' AS b FROM %s ORDER BY id";

  test("sets the time of changed rows, unless the statement does, and survives changes of the table", async () => {
    await layer.rows(
      `CREATE TABLE times (id int, v int, a timestamp NOT NULL DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP,
        b datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)`,
      "INSERT INTO times SELECT n, 1, '2001-01-01', '2001-01-01' FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS x",
      "UPDATE times SET v = 2 WHERE id = 1",
      "UPDATE times SET v = 2, a = '2002-02-02 00:00:00', b = '2002-02-02 00:00:00' WHERE id = 2",
      "UPDATE times SET v = 1",
    );
    await layer.rows(
      "UPDATE times SET a = '2001-01-01', b = '2001-01-01', v = 1",
      "UPDATE times SET v = 2 WHERE id = 1",
    );
    expect(await layer.rows(state.replace("%s", "times"))).toMatchObject([{ a: "1", b: "1" }, { a: "0" }, { a: "0" }]);
    await layer.rows("ALTER TABLE times ADD w int", "OPTIMIZE TABLE times", "ALTER TABLE times RENAME TO times2");
    await layer.rows("UPDATE times2 SET v = 1", "UPDATE times2 SET w = 7 WHERE id = 2");
    expect(await layer.rows(state.replace("%s", "times2"))).toMatchObject([{ b: "1" }, { b: "1" }, { b: "0" }]);
  });
});

describe("CREATE TABLE ... LIKE", () => {
  test("copies columns and keys, but no rows and no foreign keys", async () => {
    await layer.rows(
      full("l1"),
      rows("l1"),
      "CREATE TABLE l2 LIKE l1",
      "CREATE TABLE IF NOT EXISTS l2 LIKE l1",
      "CREATE TABLE l3 (LIKE l1)",
    );
    expect(await layer.rows(columnsOf("l2"))).toEqual(fullColumns);
    expect(await layer.rows("INSERT INTO l2 (k) VALUES ('x')", "SELECT id, k FROM l2")).toEqual([{ id: "1", k: "x" }]);
    expect(await errorOf("INSERT INTO l3 SELECT * FROM l1", "INSERT INTO l3 SELECT * FROM l1")).toContain(
      "Duplicate entry",
    );
    expect(await errorOf("CREATE TABLE l2 LIKE l1")).toContain("already exists");
    expect(await errorOf("CREATE TABLE l4 LIKE none")).toContain("none' doesn't exist");
    const [made] = await layer.rows("SHOW CREATE TABLE l3");
    expect(made?.["Create Table"]).toContain("COMMENT='a note'");
  });
});

describe("CREATE TABLE ... AS SELECT", () => {
  test("gives columns the types, defaults and collations of those selected", async () => {
    await layer.rows(
      full("a1"),
      rows("a1"),
      "CREATE TABLE a2 AS SELECT *, n + 1 AS m, UPPER(k) AS u FROM a1 WHERE n > 1",
    );
    expect(await layer.rows("SELECT id, k, n, m, u FROM a2")).toEqual([{ id: "2", k: "b", n: "2", m: "3", u: "B" }]);
    const definitions = await layer.rows(
      `SELECT CONCAT_WS(' ', COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME) AS c
      FROM information_schema.COLUMNS WHERE TABLE_NAME = 'a2' ORDER BY ORDINAL_POSITION`,
    );
    expect(definitions.map(({ c }) => c)).toEqual([
      "id bigint NO 0",
      "k varchar NO x utf8mb4_bin",
      "n int YES",
      "made datetime NO CURRENT_TIMESTAMP",
      "m bigint YES",
      "u longtext YES utf8mb4_unicode_520_ci",
    ]);
  });

  test("can have a list of columns and keys, and options", async () => {
    const answers = await layer.rows(
      full("b1"),
      rows("b1"),
      "CREATE TABLE b2 (id int NOT NULL AUTO_INCREMENT, note varchar(9) DEFAULT 'n', PRIMARY KEY (id), KEY k (k)) COMMENT='c' SELECT k FROM b1 ORDER BY k",
      "SELECT * FROM b2 ORDER BY id",
    );
    expect(answers).toEqual([
      { id: "1", note: "n", k: "a" },
      { id: "2", note: "n", k: "b" },
    ]);
  });

  test("leaves nothing behind if it fails, and drops or replaces duplicates on request", async () => {
    expect(await errorOf("CREATE TABLE c1 AS SELECT nothing")).toContain("Unknown column 'nothing'");
    expect(await errorOf("CREATE TABLE c1 (UNIQUE KEY (x)) AS SELECT 1 AS x UNION ALL SELECT 1")).toContain(
      "Duplicate entry",
    );
    expect(await errorOf("CREATE TABLE c1 AS SELECT 1 AS x, 2 AS x")).toContain("Duplicate column name 'x'");
    expect(await errorOf("SELECT * FROM c1")).toContain("doesn't exist");
    const keys = "(x int, y int, UNIQUE KEY (x))";
    const select = "SELECT 1 AS x, 2 AS y UNION ALL SELECT 1, 3";
    expect(await layer.rows(`CREATE TABLE c2 ${keys} IGNORE ${select}`, "SELECT y FROM c2")).toEqual([{ y: "2" }]);
    expect(await layer.rows(`CREATE TABLE c3 ${keys} REPLACE ${select}`, "SELECT y FROM c3")).toEqual([{ y: "3" }]);
  });
});

describe("temporary tables", () => {
  test("can be created if they don't exist, and dropped if they do, from the first statement on", async () => {
    const answers = await layer.run(
      "DROP TEMPORARY TABLE IF EXISTS tmp, tmp2",
      "CREATE TEMPORARY TABLE IF NOT EXISTS tmp (id int, PRIMARY KEY (id))",
      "INSERT INTO tmp VALUES (1)",
      "CREATE TEMPORARY TABLE IF NOT EXISTS tmp (id int)",
      "SELECT COUNT(*) AS n FROM tmp",
      "CREATE TEMPORARY TABLE tmp (id int)",
      "DROP TEMPORARY TABLE IF EXISTS tmp",
      "SELECT * FROM tmp",
    );
    expect(answers.map((answer) => ("error" in answer ? answer.error : answer.rows))).toEqual([
      [],
      [],
      [],
      [],
      [{ n: "1" }],
      expect.stringContaining("Table 'tmp' already exists"),
      [],
      expect.stringContaining("doesn't exist"),
    ]);
  });

  test("hide a table of the same name, and are none of the database's", async () => {
    const answers = await layer.rows(
      "CREATE TABLE seen (a int)",
      "INSERT INTO seen VALUES (1)",
      "CREATE TEMPORARY TABLE seen (b int)",
      "INSERT INTO seen VALUES (2)",
      "SELECT * FROM seen",
    );
    expect(answers).toEqual([{ b: "2" }]);
    expect(await layer.rows("SELECT * FROM seen")).toEqual([{ a: "1" }]);
  });
});

test("CREATE of triggers, procedures and the like is refused with a sentence, and DROP IF EXISTS succeeds", async () => {
  const refused = [
    ["CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.x = 1", "This database has no triggers"],
    ["CREATE PROCEDURE p() BEGIN SELECT 1; END", "This database has no stored procedures"],
    ["CREATE DEFINER=`root`@`localhost` FUNCTION f() RETURNS INT RETURN 1", "This database has no stored functions"],
    ["CREATE OR REPLACE VIEW v AS SELECT 1", "This database has no views"],
  ] as const;
  for (const [statement, sentence] of refused) expect(await errorOf(statement)).toContain(sentence);
  for (const kind of ["TRIGGER", "PROCEDURE", "FUNCTION", "VIEW", "EVENT"]) {
    expect(await layer.rows(`DROP ${kind} IF EXISTS none`)).toEqual([]);
    expect(await errorOf(`DROP ${kind} none`)).toContain("does not exist");
  }
  expect(
    await layer.rows("CREATE DATABASE IF NOT EXISTS wordpress", "ALTER DATABASE wordpress CHARACTER SET utf8mb4"),
  ).toEqual([]);
  expect(await errorOf("DROP DATABASE wordpress")).toContain("Access denied");
  expect(await errorOf("CREATE DATABASE other")).toContain("Access denied");
});

test("the number of several new rows is the first one's", async () => {
  const table = "CREATE TABLE numbered (id int NOT NULL AUTO_INCREMENT, v int, PRIMARY KEY (id))";
  const last = "SELECT LAST_INSERT_ID() AS id";
  const answers = await layer.run(
    ...[table, "INSERT INTO numbered (v) VALUES (1), (2), (3)", last],
    ...["INSERT INTO numbered VALUES (NULL, 4), (0, 5)", last, "INSERT INTO numbered (v) VALUES (6)", last],
    ...["INSERT INTO numbered VALUES (DEFAULT, 7), (DEFAULT, 8)", last, "SELECT COUNT(*) AS id FROM numbered"],
  );
  expect(answers.flatMap((answer) => ("rows" in answer ? answer.rows : [answer]))).toEqual(
    ["1", "4", "6", "7", "8"].map((id) => ({ id })),
  );
});

test("the number is kept by statements that add no row", async () => {
  const last = "SELECT LAST_INSERT_ID() AS id";
  const again = "INSERT INTO numbered_keys (w, v) VALUES ('b', 2) ON DUPLICATE KEY UPDATE";
  const answers = await layer.run(
    "CREATE TABLE numbered_keys (id int NOT NULL AUTO_INCREMENT, w varchar(9), v int, PRIMARY KEY (id), UNIQUE KEY w (w))",
    ...["INSERT INTO numbered_keys (w, v) VALUES ('a', 1), ('b', 1), ('c', 1)", last],
    ...["INSERT IGNORE INTO numbered_keys (w) VALUES ('c')", last, `${again} v = 1`, last, `${again} v = 5`, last],
    ...[`${again} v = 7, id = LAST_INSERT_ID(id)`, last, "INSERT INTO numbered_keys (w) VALUES ('d')", last],
  );
  const numbers = answers.flatMap((answer) => ("rows" in answer ? answer.rows.map(({ id }) => id) : [answer.error]));
  expect(numbers.slice(0, 5)).toEqual(["1", "1", "1", "1", "2"]);
  expect(Number(numbers[5])).toBeGreaterThan(3);
});

test("the number of several new rows is the first one's, also from a query or where other rows may exist already", async () => {
  const last = "SELECT LAST_INSERT_ID() AS id";
  const either = "ON DUPLICATE KEY UPDATE v = VALUES(v)";
  const answers = await layer.run(
    "CREATE TABLE numbered_words (id int NOT NULL AUTO_INCREMENT, w varchar(9), v int, PRIMARY KEY (id), UNIQUE KEY w (w))",
    ...[`INSERT INTO numbered_words (w, v) VALUES ('a', 1), ('b', 1), ('c', 1) ${either}`, last],
    ...["INSERT IGNORE INTO numbered_words (w) VALUES ('d'), ('e')", last],
    ...["INSERT INTO numbered_words (w) SELECT CONCAT(w, w) FROM numbered_words", last],
    ...[
      "INSERT INTO numbered_words SELECT id + 20, CONCAT(w, 2), v FROM numbered_words WHERE id < 3 ORDER BY id",
      last,
    ],
    // Of rows of which some exist, it is a new row's.
    ...[`INSERT INTO numbered_words (w, v) VALUES ('a', 2), ('f', 2) ${either}`, last],
    "SELECT id FROM numbered_words WHERE w = 'f'",
  );
  const found = answers.flatMap((answer) => ("rows" in answer ? answer.rows.map(({ id }) => id) : [answer.error]));
  expect(found.slice(0, 4)).toEqual(["1", "4", "6", "22"]);
  expect(found[4]).toBe(found[5]);
});

describe("generated columns", () => {
  const table = `CREATE TABLE boxes (a int, name varchar(20), b int GENERATED ALWAYS AS (a * 2) STORED NOT NULL COMMENT 'x', c int AS (a / 2),
    d varchar(50) AS (CONCAT(name, '-', a)) VIRTUAL, e varchar(9) AS (CASE WHEN a > 3 THEN 'big' ELSE COALESCE(name, 'none') END) STORED,
    UNIQUE KEY b (b))`;
  const all = "SELECT a, b, c, d, e FROM boxes ORDER BY a";

  test("have their values in new and changed rows, and as keys", async () => {
    await layer.rows(table, "INSERT INTO boxes (a, name) VALUES (4, 'x'), (1, NULL), (3, 'y')");
    expect(await layer.rows(all)).toEqual([
      { a: "1", b: "2", c: "1", d: null, e: "none" },
      { a: "3", b: "6", c: "2", d: "y-3", e: "y" },
      { a: "4", b: "8", c: "2", d: "x-4", e: "big" },
    ]);
    expect(await errorOf("INSERT INTO boxes (a) VALUES (4)")).toContain("Duplicate entry");
    expect(await layer.rows("UPDATE boxes SET a = a + 10 WHERE a = 4", "SELECT a FROM boxes WHERE b = 28")).toEqual([
      { a: "14" },
    ]);
    const refused = "The value specified for generated column 'b' is not allowed";
    expect(await errorOf("INSERT INTO boxes (a, b) VALUES (9, 9)")).toContain(refused);
    expect(await errorOf("UPDATE boxes SET b = 1")).toContain(refused);
  });

  test("survive changes and copies of the table, and are shown", async () => {
    await layer.rows(
      "ALTER TABLE boxes ADD f int AS (a + 1) STORED AFTER a, ADD g int DEFAULT 5, CHANGE c h int AS (a * 5)",
      "OPTIMIZE TABLE boxes",
      "ALTER TABLE boxes MODIFY a bigint FIRST",
      "RENAME TABLE boxes TO crates",
      "CREATE TABLE crates2 LIKE crates",
      "INSERT INTO crates2 (a) VALUES (7)",
      "CREATE TABLE crates3 AS SELECT a, b FROM crates",
    );
    expect(await layer.rows("SELECT a, f, b, h, g FROM crates WHERE a = 14")).toEqual([
      { a: "14", f: "15", b: "28", h: "70", g: "5" },
    ]);
    expect(await layer.rows("SELECT f, b FROM crates2")).toEqual([{ f: "8", b: "14" }]);
    expect(await layer.rows("UPDATE crates3 SET b = 0", "SELECT MAX(b) AS b FROM crates3")).toEqual([{ b: "0" }]);
    const [created] = await layer.rows("SHOW CREATE TABLE crates");
    expect(created?.["Create Table"]).toContain(
      "`b` int GENERATED ALWAYS AS (a * 2) STORED NOT NULL COMMENT 'x',\n  `h` int GENERATED ALWAYS AS (a * 5) VIRTUAL,",
    );
  });

  test("with functions that SQLite lacks are refused with a sentence", async () => {
    for (const expression of ["YEAR(d)", "LOWER(t)", "a % 2", "a DIV 2", "t REGEXP 'x'", "IF(a, 1, 2)", "(SELECT 1)"]) {
      expect(await errorOf(`CREATE TABLE bad (a int, t text, d date, g int AS (${expression}))`)).toContain(
        "Not supported on SQLite: The generated column 'g'",
      );
    }
    expect(await errorOf("SELECT * FROM bad")).toContain("doesn't exist");
  });
});

test("a foreign key to a missing table is refused, unless keys are not checked", async () => {
  const child = (name: string) => `CREATE TABLE ${name} (id int, p int, FOREIGN KEY (p) REFERENCES late_parents (id))`;
  expect(await errorOf(child("late"))).toBe("SQLSTATE[HY000]: 1824 Failed to open the referenced table 'late_parents'");
  const answers = await layer.rows(
    "SET foreign_key_checks = 0",
    child("late"),
    "CREATE TABLE late_parents (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES late_parents (id))",
    "SET foreign_key_checks = 1",
    "INSERT INTO late_parents VALUES (4, NULL)",
    "INSERT INTO late VALUES (1, 4)",
    "SELECT * FROM late",
  );
  expect(answers).toEqual([{ id: "1", p: "4" }]);
});

test("a reference in the definition of a column means nothing", async () => {
  const rows = await layer.rows(
    "CREATE TABLE loose (id int, p int REFERENCES no_parents (id))",
    "INSERT INTO loose VALUES (1, 4)",
    "SELECT * FROM loose",
  );
  expect(rows).toEqual([{ id: "1", p: "4" }]);
});

test("binary collations survive changes of a table", async () => {
  const answers = await layer.rows(
    "CREATE TABLE slugs (k varchar(9) COLLATE utf8mb4_bin, n int, UNIQUE KEY k (k))",
    "INSERT INTO slugs VALUES ('a', 1), ('A', 2)",
    "ALTER TABLE slugs ADD x int FIRST, ALTER n SET DEFAULT 3",
    "OPTIMIZE TABLE slugs",
    "INSERT INTO slugs (k) VALUES ('b'), ('B')",
    "SELECT k, n FROM slugs ORDER BY k",
  );
  expect(answers.map(({ k, n }) => `${k}${n}`)).toEqual(["A2", "B3", "a1", "b3"]);
});

describe("columns in keys", () => {
  test("are shown as MySQL shows them: a unique key with several columns makes none of them unique", async () => {
    expect(
      await layer.rows(
        `CREATE TABLE keys_shown (id int NOT NULL, a int NOT NULL, b varchar(20) NOT NULL, c int, d int,
          PRIMARY KEY (id), UNIQUE KEY ab (a, b), UNIQUE KEY c (c), KEY dc (d, c))`,
        columnsOf("keys_shown"),
      ),
    ).toEqual([{ c: "id PRI,a MUL,b ,c UNI,d MUL" }]);
    expect(await layer.rows("CREATE UNIQUE INDEX bd ON keys_shown (b, d)", columnsOf("keys_shown"))).toEqual([
      { c: "id PRI,a MUL,b MUL,c UNI,d MUL" },
    ]);
    expect(await layer.rows("DROP INDEX `c` ON `keys_shown`", columnsOf("keys_shown"))).toEqual([
      { c: "id PRI,a MUL,b MUL,c ,d MUL" },
    ]);
    expect(await errorOf("CREATE INDEX x ON nothing (a)")).toContain("nothing");
    expect(await errorOf("DROP INDEX nothing ON keys_shown")).toContain("nothing");
  });
});

test("a default that a column can't have is refused, and the column keeps its own", async () => {
  const [table] = await layer.run(
    `CREATE TABLE defaults (id int NOT NULL AUTO_INCREMENT, n int NOT NULL DEFAULT '3', price decimal(5,2) DEFAULT 1, at datetime,
      name varchar(9) NOT NULL DEFAULT 'a', PRIMARY KEY (id))`,
  );
  expect(table).not.toHaveProperty("error");
  for (const change of [
    "id SET DEFAULT ''",
    "n SET DEFAULT 'x'",
    "n SET DEFAULT ''",
    "n SET DEFAULT NULL",
    "at SET DEFAULT 'now'",
    "at SET DEFAULT TRUE",
  ]) {
    expect(await errorOf(`ALTER TABLE defaults ALTER COLUMN ${change}`)).toContain("1067 Invalid default value");
  }
  const changes =
    "ALTER n SET DEFAULT '-7', ALTER price SET DEFAULT 2.5, ALTER at SET DEFAULT '2024-01-01 00:00:00', ALTER name SET DEFAULT ''";
  const stored = await layer.rows(
    `ALTER TABLE defaults ${changes}`,
    "INSERT INTO defaults () VALUES ()",
    "SELECT * FROM defaults",
  );
  expect(stored).toEqual([{ id: "1", n: "-7", price: "2.50", at: "2024-01-01 00:00:00", name: "" }]);
  expect(await layer.rows("ALTER TABLE defaults ALTER at SET DEFAULT NULL", "DESCRIBE defaults")).toMatchObject([
    { Field: "id", Default: null },
    { Default: "-7" },
    { Default: "2.5" },
    { Field: "at", Default: null },
    {},
  ]);
});

describe("a default", () => {
  test.each([
    ["n", "TRUE", "1"],
    ["n", "FALSE", "0"],
    ["n", "b'101'", "5"],
    ["n", "0x1F", "31"],
    ["n", "x'1F'", "31"],
    ["day", "DATE '2024-01-01'", "2024-01-01"],
    ["day", "20240102", "2024-01-02"],
    ["at", "'2024-01-01'", "2024-01-01 00:00:00"],
    ["at", "TIMESTAMP '2024-01-01 10:11:12'", "2024-01-01 10:11:12"],
    ["name", "_utf8mb4'x'", "x"],
    ["name", "0x4142", "AB"],
    ["bits", "5", "5"],
    ["bits", "TRUE", "1"],
    ["bits", "b'11'", "3"],
    ["bytes", "0x4142", "AB"],
  ])("of the column %s may be the literal %s", async (column, literal, expected) => {
    const rows = await layer.rows(
      "DROP TABLE IF EXISTS literals",
      `CREATE TABLE literals (id int, n int NOT NULL DEFAULT 9, day date, at datetime, name varchar(9), bits bit(8) DEFAULT b'0',
        bytes varbinary(9))`,
      `ALTER TABLE literals ALTER ${column} SET DEFAULT ${literal}`,
      "INSERT INTO literals (id) VALUES (1)",
      `SELECT ${column} AS v FROM literals`,
    );
    expect(rows).toEqual([{ v: expected }]);
  });

  test("of a date is stored in the form of its column", async () => {
    const rows = await layer.rows(
      `CREATE TABLE moments (id int, at datetime NOT NULL DEFAULT '2024-01-01' COMMENT 'a note', day date DEFAULT '2024-1-2 10:00:00',
        stamp timestamp NOT NULL DEFAULT TIMESTAMP '2024-01-01 10:11:12')`,
      "ALTER TABLE moments ADD COLUMN later datetime DEFAULT '20240305' AFTER id, ADD other datetime DEFAULT 'x' NULL",
      "INSERT INTO moments (id) VALUES (1)",
      "SELECT at, day, stamp, later FROM moments",
    );
    expect(rows).toEqual([
      { at: "2024-01-01 00:00:00", day: "2024-01-02", stamp: "2024-01-01 10:11:12", later: "2024-03-05 00:00:00" },
    ]);
    expect(await layer.rows("SELECT DEFAULT(at) AS v FROM moments")).toEqual([{ v: "2024-01-01 00:00:00" }]);
  });

  test("that is refused leaves rows, AUTO_INCREMENT and later statements alone", async () => {
    await layer.rows(
      "CREATE TABLE polls (id int NOT NULL AUTO_INCREMENT, name varchar(9) NOT NULL DEFAULT '', PRIMARY KEY (id))",
      "INSERT INTO polls (name) VALUES ('a')",
    );
    const [refused, , found] = await layer.run(
      "ALTER TABLE polls ALTER COLUMN `id` SET DEFAULT ''",
      "INSERT INTO polls (name) VALUES ('b')",
      "SELECT id, name FROM polls ORDER BY id",
    );
    expect(refused).toMatchObject({ error: expect.stringContaining("1067") });
    expect(found).toMatchObject({
      rows: [
        { id: "1", name: "a" },
        { id: "2", name: "b" },
      ],
    });
  });
});
