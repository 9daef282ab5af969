/** What plugins ask a server about itself. */
import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
}, 60_000);

describe("SHOW", () => {
  test.each([
    ["TRIGGERS", "SHOW TRIGGERS LIKE 'wp_posts'"],
    ["EVENTS", "SHOW EVENTS"],
    ["PROCEDURE STATUS", "SHOW PROCEDURE STATUS WHERE Db = 'wordpress'"],
    ["WARNINGS", "SHOW WARNINGS"],
    ["MASTER STATUS", "SHOW MASTER STATUS"],
    ["VARIABLES", "SHOW VARIABLES LIKE 'no_such_variable'"],
  ])("%s has no rows", async (_, statement) => {
    expect(await layer.rows(statement)).toEqual([]);
  });

  test("CHARACTER SET, COLLATION and ENGINES name what WordPress and plugins look for", async () => {
    const sets = await layer.rows("SHOW CHARACTER SET LIKE 'utf8mb4'");
    expect(sets).toEqual([
      { Charset: "utf8mb4", Description: "UTF-8 Unicode", "Default collation": "utf8mb4_unicode_520_ci", Maxlen: "4" },
    ]);
    expect((await layer.rows("SHOW CHARSET")).map(({ Charset }) => Charset)).toContain("latin1");
    const collations = await layer.rows("SHOW COLLATION WHERE Charset = 'utf8mb4' AND Collation LIKE '%520%'");
    expect(collations).toMatchObject([{ Collation: "utf8mb4_unicode_520_ci", Default: "Yes" }]);
    expect(await layer.rows("SHOW ENGINES")).toContainEqual(
      expect.objectContaining({ Engine: "InnoDB", Support: "DEFAULT" }),
    );
  });

  test("VARIABLES and STATUS can be searched, and have what the session has set", async () => {
    expect(await layer.rows("SHOW VARIABLES LIKE 'max\\_allowed\\_packet'")).toEqual([
      { Variable_name: "max_allowed_packet", Value: "67108864" },
    ]);
    const set = await layer.rows(
      "SET SESSION wait_timeout = 7",
      "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wait_timeout', 'autocommit')",
    );
    expect(set).toEqual([
      { Variable_name: "autocommit", Value: "ON" },
      { Variable_name: "wait_timeout", Value: "7" },
    ]);
    expect(await layer.rows("SHOW GLOBAL STATUS LIKE 'threads_c%'")).toHaveLength(3);
  });

  test("PROCESSLIST, PLUGINS, ENGINE STATUS, GRANTS and CREATE DATABASE are answered", async () => {
    expect(await layer.rows("SHOW FULL PROCESSLIST")).toMatchObject([
      { Info: "SHOW FULL PROCESSLIST", db: "wordpress" },
    ]);
    expect(await layer.rows("SHOW PLUGINS")).toContainEqual(
      expect.objectContaining({ Name: "InnoDB", Status: "ACTIVE" }),
    );
    expect(await layer.rows("SHOW ENGINE INNODB STATUS")).toHaveLength(1);
    expect(await layer.rows("SHOW GRANTS FOR CURRENT_USER()")).toHaveLength(1);
    expect(await layer.rows("SHOW CREATE DATABASE wordpress")).toEqual([
      {
        Database: "wordpress",
        "Create Database":
          "CREATE DATABASE `wordpress` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci */",
      },
    ]);
  });

  test("WARNINGS has the last statement's error", async () => {
    const answers = await layer.run("SELECT nothing", "SHOW WARNINGS");
    expect(answers.at(-1)).toMatchObject({
      rows: [{ Level: "Error", Code: "1054", Message: "Unknown column 'nothing' in 'field list'" }],
    });
  });

  test("WARNINGS and ERRORS have an error until another statement is sent", async () => {
    const answers = await layer.run(
      "SELECT x",
      "SHOW WARNINGS",
      "SHOW ERRORS",
      "SHOW COUNT(*) ERRORS",
      "SELECT 1",
      "SHOW ERRORS",
    );
    expect(answers.slice(2)).toMatchObject([
      { rows: [{ Code: "1054" }] },
      { rows: [{ "@@session.error_count": "1" }] },
      { rows: [{ 1: "1" }] },
      { rows: [] },
    ]);
  });
});

describe("variables", () => {
  test("have MySQL's values unless the session sets them", async () => {
    const [row] = await layer.rows(
      "SET wait_timeout = 5, @seen = @@wait_timeout, GLOBAL max_connections = 9",
      "SET SESSION sql_mode = 'STRICT_ALL_TABLES', group_concat_max_len = 10",
      `SELECT @@max_allowed_packet > 1000 AS a, @@wait_timeout AS b, @seen AS c, @@GLOBAL.max_connections AS d,
        @@session.autocommit AS e, @@lower_case_table_names AS f, @@sql_mode AS g, @@group_concat_max_len AS h, @@nothing AS i`,
    );
    expect(row).toEqual({ a: "1", b: "5", c: "5", d: "9", e: "1", f: "0", g: "STRICT_ALL_TABLES", h: "10", i: null });
    expect(
      await layer.rows("SET wait_timeout = 5", "SET LOCAL wait_timeout = DEFAULT", "SELECT @@wait_timeout AS w"),
    ).toEqual([{ w: "28800" }]);
  });
});

describe("a session's time zone", () => {
  test("is that of the present time, and of Unix time", async () => {
    const [row] = await layer.rows(
      "SET time_zone = '+02:00'",
      `SELECT FROM_UNIXTIME(0) AS a, UNIX_TIMESTAMP('1970-01-01 02:00:00') AS b, DATE(NOW()) = CURDATE() AS c,
        TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), CURRENT_TIMESTAMP) AS d, TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP, SYSDATE()) AS e`,
    );
    expect(row).toEqual({ a: "1970-01-01 02:00:00", b: "0", c: "1", d: "120", e: "120" });
  });

  test("may be named, and ends with SYSTEM", async () => {
    const from = "SELECT FROM_UNIXTIME(100000) AS t";
    const answers = await layer.run(
      ...["SET time_zone = 'Asia/Tokyo'", from, "SET time_zone = 'SYSTEM'", from, "SET time_zone = 'nowhere'", from],
    );
    expect(answers.filter((_, at) => at % 2 === 1)).toMatchObject([
      { rows: [{ t: "1970-01-02 12:46:40" }] },
      { rows: [{ t: "1970-01-02 03:46:40" }] },
      { rows: [{ t: "1970-01-02 03:46:40" }] },
    ]);
    expect(answers[4]).toEqual({ error: "SQLSTATE[HY000]: 1298 Unknown or incorrect time zone: 'nowhere'" });
  });
});

describe("information_schema", () => {
  test("SHOW TABLE STATUS can be repeated: SQLite gets no more statements for more tables", async () => {
    const few = (await layer.translated("SHOW TABLE STATUS")).length;
    const answers = await layer.run(
      "CREATE TABLE again_1 (a INT)",
      "SHOW TABLE STATUS LIKE 'again\\_%'",
      "INSERT INTO again_1 VALUES (1), (2)",
      "CREATE TABLE again_2 (a INT)",
      "SHOW TABLE STATUS LIKE 'again\\_%'",
    );
    expect(await layer.translated("SHOW TABLE STATUS")).toHaveLength(few);
    await layer.rows("DROP TABLE again_1, again_2");
    expect([answers[1], answers[4]]).toMatchObject([
      { rows: [{ Name: "again_1", Rows: "0" }] },
      { rows: [{ Rows: "2" }, { Name: "again_2", Rows: "0" }] },
    ]);
  });

  test("TABLES and SHOW TABLE STATUS have rows and sizes", async () => {
    const where = "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sized'";
    await layer.rows(
      "CREATE TABLE sized (id int NOT NULL AUTO_INCREMENT, v longtext, PRIMARY KEY (id), KEY v (v(10)))",
      `INSERT INTO sized (v) VALUES ('x'), ('${"y".repeat(100_000)}')`,
    );
    const [row] = await layer.rows(
      `SELECT TABLE_ROWS AS r, DATA_LENGTH >= 100000 AS d, INDEX_LENGTH > 0 AS i, AUTO_INCREMENT AS a FROM information_schema.TABLES ${where}`,
    );
    expect(row).toEqual({ r: "2", d: "1", i: "1", a: "3" });
    expect(await layer.rows("SHOW TABLE STATUS LIKE 'size_'")).toMatchObject([
      { Name: "sized", Rows: "2", Auto_increment: "3" },
    ]);
    expect(await layer.rows("SHOW TABLE STATUS FROM wordpress WHERE Data_length > 100000")).toHaveLength(1);
    const [sum] = await layer.rows(
      "SELECT SUM(t.data_length + t.index_length) / 1024 > 90 AS kb FROM information_schema.tables AS t GROUP BY t.table_schema",
    );
    expect(sum).toEqual({ kb: "1" });
  });

  test("PARTITIONS lists tables without partitions", async () => {
    await layer.rows("CREATE TABLE whole (id int)", "INSERT INTO whole VALUES (1), (2)");
    const of = (table: string) => `FROM information_schema.PARTITIONS p WHERE p.TABLE_NAME = '${table}'`;
    expect(
      await layer.rows(
        `SELECT TABLE_SCHEMA, PARTITION_NAME, PARTITION_METHOD, TABLE_ROWS, PARTITION_COMMENT ${of("whole")}`,
      ),
    ).toEqual([
      {
        TABLE_SCHEMA: "wordpress",
        PARTITION_NAME: null,
        PARTITION_METHOD: null,
        TABLE_ROWS: "2",
        PARTITION_COMMENT: "",
      },
    ]);
    expect(await layer.rows(`SELECT 1 ${of("missing")}`)).toEqual([]);
    expect(await layer.rows(`SELECT COUNT(*) AS n ${of("whole")} AND PARTITION_NAME IS NOT NULL`)).toEqual([
      { n: "0" },
    ]);
  });

  test("has the tables about the server", async () => {
    expect(await layer.rows("SELECT ENGINE FROM information_schema.ENGINES e WHERE e.SUPPORT = 'DEFAULT'")).toEqual([
      { ENGINE: "InnoDB" },
    ]);
    expect(await layer.rows("SELECT * FROM INFORMATION_SCHEMA.TRIGGERS WHERE TRIGGER_SCHEMA = 'wordpress'")).toEqual(
      [],
    );
    expect(await layer.rows("SELECT ROUTINE_NAME FROM information_schema.ROUTINES")).toEqual([]);
  });
});

describe("EXPLAIN", () => {
  test("shows which key is used", async () => {
    await layer.rows("CREATE TABLE plans (id int NOT NULL, v varchar(9), w int, PRIMARY KEY (id), KEY by_v (v))");
    expect(await layer.rows("EXPLAIN SELECT w FROM plans WHERE v = 'x' ORDER BY w")).toMatchObject([
      { table: "plans", type: "ref", key: "by_v", Extra: "Using filesort" },
    ]);
    expect(await layer.rows("DESC SELECT w FROM plans")).toMatchObject([{ table: "plans", type: "ALL", key: null }]);
    expect(await layer.rows("EXPLAIN UPDATE plans SET w = 1")).toHaveLength(1);
    expect((await layer.rows("EXPLAIN FORMAT=JSON SELECT 1"))[0]?.EXPLAIN).toContain("query_block");
    expect(await layer.rows("DESCRIBE plans v")).toMatchObject([{ Field: "v" }]);
  });
});

test("administration is accepted", async () => {
  await layer.rows("CREATE TABLE kept (a int)", "INSERT INTO kept VALUES (1)");
  for (const statement of [
    "FLUSH TABLES",
    "FLUSH PRIVILEGES",
    "DO 1",
    "/* nothing */",
    "/*M!999999\\- enable the sandbox mode */",
  ]) {
    expect(await layer.rows(statement)).toEqual([]);
  }
  const [first] = await layer.rows("CHECKSUM TABLE kept");
  expect(first?.Checksum).toMatch(/^\d+$/);
  expect(await layer.rows("INSERT INTO kept VALUES (2)", "CHECKSUM TABLE kept")).not.toEqual([first]);
  expect(await layer.rows("CHECKSUM TABLE none")).toEqual([{ Table: "wordpress.none", Checksum: null }]);
});
