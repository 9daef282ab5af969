/** What columns keep of the values that they get, and how columns of dates and bytes are compared. As on MariaDB. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
});

const values = async (...statements: readonly string[]) =>
  (await layer.rows(...statements)).map((row) => Object.values(row));
const ids = async (condition: string) =>
  (await values(`SELECT id FROM t WHERE ${condition} ORDER BY id`)).flat().map(Number);

describe("columns that a statement leaves out", () => {
  beforeEach(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t",
      `CREATE TABLE t (id INT, flag VARCHAR(10) NOT NULL DEFAULT '0', state ENUM('0', '1') NOT NULL DEFAULT '0',
        kind ENUM('it''s', 'y') NOT NULL, letter CHAR(1) NOT NULL DEFAULT '0', maybe VARCHAR(5) DEFAULT '0', note TEXT NOT NULL,
        hash BINARY(4) NOT NULL DEFAULT 'abcd', ip VARBINARY(16) NOT NULL, other VARBINARY(9) DEFAULT 'zz')`,
    );
  });

  test.each([
    ["INSERT INTO t (id) VALUES (1), (1)", 2],
    ["INSERT INTO t SET id = 1", 1],
    ["INSERT INTO t (id) SELECT 1", 1],
    ["INSERT INTO t (id, note) SELECT id, '' FROM (SELECT 1 AS id UNION SELECT 1) AS x", 1],
    ["INSERT IGNORE INTO t (id, letter) VALUES (1, '0') ON DUPLICATE KEY UPDATE id = 2", 1],
    ["REPLACE INTO t (id, state) VALUES (1, '0')", 1],
    ["REPLACE INTO t SET id = 1, kind = 'it''s'", 1],
  ])("get their defaults: %s", async (statement, count) => {
    const row = ["1", "0", "0", "it's", "0", "0", "", "abcd", "", "zz"];
    expect(await values(statement, "SELECT * FROM t")).toEqual(Array.from({ length: count }, () => row));
  });

  test("get their defaults in copies of a table, and when they are added", async () => {
    const rows = await values(
      "INSERT INTO t (id) VALUES (1)",
      "ALTER TABLE t ADD COLUMN salt VARBINARY(4) NOT NULL DEFAULT 'q'",
      "DROP TABLE IF EXISTS t_copy",
      "CREATE TABLE t_copy LIKE t",
      "INSERT INTO t_copy (id) VALUES (2)",
      "SELECT id, flag, kind, hash, salt FROM t UNION ALL SELECT id, flag, kind, hash, salt FROM t_copy",
    );
    expect(rows).toEqual([
      ["1", "0", "it's", "abcd", "q"],
      ["2", "0", "it's", "abcd", "q"],
    ]);
  });

  test("get the bytes of a hexadecimal default", async () => {
    const rows = await values(
      "DROP TABLE IF EXISTS t_bytes",
      "CREATE TABLE t_bytes (id INT, a BINARY(1) NOT NULL DEFAULT 0x00, b VARBINARY(4) NOT NULL DEFAULT x'4142', c BINARY(1) DEFAULT 0x7)",
      "INSERT INTO t_bytes (id) VALUES (1), (2)",
      "SELECT HEX(a), HEX(b), HEX(c) FROM t_bytes",
    );
    expect(rows).toEqual([
      ["00", "4142", "07"],
      ["00", "4142", "07"],
    ]);
  });

  test("are missing in strict mode", async () => {
    const [, answer] = await layer.run("SET sql_mode = 'STRICT_ALL_TABLES'", "INSERT INTO t (id) VALUES (1)");
    expect(answer).toHaveProperty("error");
  });
});

describe("NULL for columns that can't be NULL", () => {
  beforeEach(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t",
      `CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL DEFAULT 7, name VARCHAR(9) NOT NULL, d DATE NOT NULL,
        kind ENUM('x', 'y') NOT NULL DEFAULT 'y', flag BIT(1) NOT NULL, note TEXT)`,
    );
  });
  const empty = ["0", "", "0000-00-00", "x", "0", null];
  const columns = "n, name, d, kind, flag + 0, note";

  test("is their type's own value among several rows", async () => {
    const rows = await values(
      "INSERT INTO t VALUES (NULL, 1, 'a', '2026-01-01', 'y', 1, 'b'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
      "INSERT INTO t (n, name, d, kind, flag) VALUES (1 + NULL, CONCAT('a', NULL), NULL, NULLIF('x', 'x'), 0), (-1, 'c', 20260101, 'y', 1)",
      `SELECT ${columns} FROM t ORDER BY id`,
    );
    expect(rows).toEqual([
      ["1", "a", "2026-01-01", "y", "1", "b"],
      empty,
      empty,
      ["-1", "c", "2026-01-01", "y", "1", null],
    ]);
  });

  test("is that value with IGNORE, and in rows that replace others", async () => {
    const rows = await values(
      "INSERT IGNORE INTO t VALUES (1, NULL, NULL, NULL, NULL, NULL, NULL)",
      "REPLACE INTO t VALUES (1, NULL, NULL, NULL, NULL, NULL, NULL), (2, 3, NULL, NULL, NULL, NULL, NULL)",
      `SELECT ${columns} FROM t ORDER BY id`,
    );
    expect(rows).toEqual([empty, ["3", ...empty.slice(1)]]);
  });

  test("is refused in a single row, and in strict mode", async () => {
    const row = "(NULL, NULL, 'a', '2026-01-01', 'x', 1, '')";
    const [single] = await layer.run(`INSERT INTO t VALUES ${row}`);
    expect(single).toHaveProperty("error", expect.stringContaining("1048"));
    const [, several] = await layer.run(
      "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
      `INSERT INTO t VALUES ${row}, ${row}`,
    );
    expect(several).toHaveProperty("error", expect.stringContaining("1048"));
  });
});

test("decimals are rounded as their columns demand", async () => {
  await layer.rows(
    "DROP TABLE IF EXISTS t",
    "CREATE TABLE t (id INT, price DECIMAL(10,2), rate DECIMAL(12,4) NOT NULL DEFAULT 0, share DOUBLE)",
    "INSERT INTO t VALUES (1, 3.339, '1.23456', 3.339), (2, '-4.455', 2.5, 1.005), (3, NULL, 1/3, 10/4), (4, 1e3, '1e-2', 1)",
    "INSERT INTO t SET id = 5, price = 19.999, rate = 0.00005, share = '0.125'",
  );
  expect(await values("SELECT id, price, rate, share FROM t ORDER BY id")).toEqual([
    ["1", "3.34", "1.2346", "3.339"],
    ["2", "-4.46", "2.5000", "1.005"],
    ["3", null, "0.3333", "2.5"],
    ["4", "1000.00", "0.0100", "1"],
    ["5", "20.00", "0.0001", "0.125"],
  ]);
  const changed = [
    "UPDATE t SET price = price / 3, rate = price WHERE id = 5",
    "UPDATE t SET price = '9.999' WHERE id = 4",
  ];
  expect(await values(...changed, "SELECT price FROM t WHERE id > 3 ORDER BY id")).toEqual([["10.00"], ["6.67"]]);
});

test("days beyond the end of a month are no dates", async () => {
  await layer.rows("CREATE TABLE short_months (id INT, day DATE, moment DATETIME)");
  await layer.rows(
    "INSERT INTO short_months VALUES (1, '2024-02-30', '2023-02-29 10:00:00'), (2, '2024-02-29', '2024-12-31')",
    "UPDATE short_months SET day = '2024-04-31' WHERE id = 2",
  );
  expect(await values("SELECT day, moment FROM short_months ORDER BY id")).toEqual([
    ["0000-00-00", "0000-00-00 00:00:00"],
    ["0000-00-00", "2024-12-31 00:00:00"],
  ]);
  const [, refused] = await layer.run(
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
    "INSERT INTO short_months VALUES (3, '2024-02-30', NULL)",
  );
  expect(refused).toHaveProperty("error", expect.stringContaining("1292"));
});

describe("dates", () => {
  beforeAll(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t",
      "CREATE TABLE t (id INT, moment DATETIME, day DATE, KEY moment (moment))",
      "INSERT INTO t VALUES (1, '2024-03-05', '2024/3/5'), (2, '2024-3-5 10:00', '20240306'), (3, 20240307, 20240307)",
      "INSERT INTO t VALUES (4, '20240308101112', '2024-03-08 10:11:12'), (5, '0000-00-00', NULL)",
      "INSERT INTO t SET id = 6, moment = '2024/3/9', day = '2024.3.9'",
      "UPDATE t SET day = '20240310' WHERE id = 6",
    );
  });

  test("are kept in one form", async () => {
    expect(await values("SELECT moment, day FROM t ORDER BY id")).toEqual([
      ["2024-03-05 00:00:00", "2024-03-05"],
      ["2024-03-05 10:00:00", "2024-03-06"],
      ["2024-03-07 00:00:00", "2024-03-07"],
      ["2024-03-08 10:11:12", "2024-03-08"],
      ["0000-00-00 00:00:00", null],
      ["2024-03-09 00:00:00", "2024-03-10"],
    ]);
  });

  test.each([
    ["moment = '2024-03-05'", [1]],
    ["'2024-03-05' = moment", [1]],
    ["moment > '2024-03-07'", [4, 6]],
    ["moment <= '2024-03-05'", [1, 5]],
    ["moment BETWEEN '2024-03-05' AND '2024-03-07'", [1, 2, 3]],
    ["moment IN ('2024-03-05', '2024-3-7')", [1, 3]],
    ["moment != '0000-00-00'", [1, 2, 3, 4, 6]],
    ["moment != ''", [1, 2, 3, 4, 6]],
    ["moment = ''", [5]],
    ["'0' = moment", [5]],
    ["moment NOT IN ('0', '2024-03-05')", [2, 3, 4, 6]],
    ["moment > '' AND day > ''", [1, 2, 3, 4, 6]],
    ["day = '2024-03-05 00:00:00'", [1]],
    ["day >= '2024-03-07 00:00:00'", [3, 4, 6]],
    ["day < '2024-03-07 12:00:00'", [1, 2, 3]],
    ["day = 20240308 OR day = '20240306'", [2, 4]],
    ["moment LIKE '2024-03-05%'", [1, 2]],
  ])("are compared as dates: %s", async (condition, expected) => {
    expect(await ids(condition)).toEqual(expected);
  });

  test.each([
    "SELECT id FROM (SELECT id, DATE(moment) AS moment FROM t) AS x WHERE x.moment = '2024-03-06' OR moment = '2024-03-08'",
    "SELECT MAX(id) FROM (SELECT id, DATE(moment) AS moment FROM t) AS x GROUP BY moment HAVING moment IN ('2024-03-08')",
  ])("are compared with results in their own form: %s", async (statement) => {
    expect((await values(statement)).map(([id]) => id)).toEqual(["4"]);
  });

  test("are found by an index", async () => {
    const statements = await layer.translated("SELECT id FROM t WHERE moment > '2024-03-07'");
    expect(statements.at(-1)).toContain("`moment` >  '2024-03-07 00:00:00'");
  });
});

describe("times without a date", () => {
  beforeEach(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t, t_copy",
      "CREATE TABLE t (id INT, day DATE, starts TIME, ends TIME NOT NULL DEFAULT '9:00', KEY starts (starts))",
      "INSERT INTO t VALUES (1, '2026-12-01', '09:00', '10:30:00'), (2, '2026-12-01', '9:5', '24:00:00')",
      "INSERT INTO t (id, day, starts, ends) VALUES (3, '2026-12-02', 233000, CONCAT('47', ':00')), (4, NULL, 'noon', '')",
      "INSERT INTO t SET id = 5, starts = NULL",
    );
  });

  test("are kept in one form, also durations of days", async () => {
    const kept = [
      ["09:00:00", "10:30:00"],
      ["09:05:00", "24:00:00"],
      ["23:30:00", "47:00:00"],
      ["00:00:00", "00:00:00"],
      [null, "09:00:00"],
    ];
    expect(await values("SELECT starts, ends FROM t ORDER BY id")).toEqual(kept);
    const copied = ["CREATE TABLE t_copy LIKE t", "INSERT INTO t_copy SELECT * FROM t"];
    expect(await values(...copied, "SELECT starts, ends FROM t_copy ORDER BY id")).toEqual(kept);
  });

  test("are kept when they are updated", async () => {
    const rows = await values(
      "UPDATE t SET ends = ends + INTERVAL 15 MINUTE, starts = '8:00' WHERE id = 1",
      "UPDATE t SET ends = SEC_TO_TIME(360000 - 1) WHERE id = 2",
      "UPDATE t SET ends = '12:00', starts = NULL WHERE id = 3",
      "SELECT starts, ends FROM t WHERE id < 4 ORDER BY id",
    );
    expect(rows).toEqual([
      ["08:00:00", "10:45:00"],
      ["09:05:00", "99:59:59"],
      [null, "12:00:00"],
    ]);
  });

  test.each([
    ["starts = '09:00'", [1]],
    ["starts = '9:00:00'", [1]],
    ["'9:05' = starts", [2]],
    ["starts IN ('9:00', '23:30')", [1, 3]],
    ["starts < '10:30' AND ends > '9:00'", [1, 2]],
    ["'9:30' BETWEEN starts AND ends", [1, 2]],
    ["starts BETWEEN '9:00' AND '9:30'", [1, 2]],
    ["DATE_ADD(starts, INTERVAL 30 MINUTE) <= '9:30'", [1, 4]],
    ["starts + INTERVAL 30 MINUTE > '23:59'", [3]],
    ["ends > 100000", [1, 2, 3]],
  ])("are compared: %s", async (condition, found) => {
    expect(await ids(condition)).toEqual(found);
  });

  test("are found by an index", async () => {
    expect((await layer.translated("SELECT id FROM t WHERE starts = '9:00'")).join()).toContain("'09:00:00'");
  });

  test.each([
    ["starts + INTERVAL 90 MINUTE", ["10:30:00", "10:35:00", "25:00:00", "01:30:00", null]],
    ["INTERVAL 1 HOUR + starts - INTERVAL 1 SECOND", ["09:59:59", "10:04:59", "24:29:59", "00:59:59", null]],
    ["DATE_SUB(starts, INTERVAL '1:30' HOUR_MINUTE)", ["07:30:00", "07:35:00", "22:00:00", "-01:30:00", null]],
    ["TIMESTAMPADD(MINUTE, 5, starts)", ["09:05:00", "09:10:00", "23:35:00", "00:05:00", null]],
    ["MAX(ends) + INTERVAL 1 DAY", ["34:30:00", "48:00:00", "71:00:00", "24:00:00", "33:00:00"]],
    ["starts + INTERVAL 1 MONTH", [null, null, null, null, null]],
    ["DATE_FORMAT(starts, '%H:%i')", ["09:00", "09:05", "23:30", "00:00", null]],
    ["DATE_FORMAT(SUBTIME(ends, '0:30'), '%l:%i %p')", ["10:00 AM", "11:30 PM", "10:30 PM", "11:30 PM", "8:30 AM"]],
    ["TIMESTAMPDIFF(MINUTE, starts, ends)", ["90", "895", "1410", "0", null]],
    ["ADDTIME(day, starts)", ["2026-12-01 09:00:00", "2026-12-01 09:05:00", "2026-12-02 23:30:00", null, null]],
    ["TIMESTAMP(day, starts)", ["2026-12-01 09:00:00", "2026-12-01 09:05:00", "2026-12-02 23:30:00", null, null]],
  ])("are moved and written: %s", async (expression, expected) => {
    expect((await values(`SELECT ${expression} FROM t GROUP BY id ORDER BY id`)).flat()).toEqual(expected);
  });

  test("also those of functions, and the present one", async () => {
    const [row] = await values(
      `SELECT SEC_TO_TIME(90) + INTERVAL 1 MINUTE, CAST('9:30' AS TIME) - INTERVAL 1 HOUR, MAKETIME(1, 2, 3) + INTERVAL 1 SECOND,
        CURRENT_TIME + INTERVAL 0 SECOND = CURTIME(), TIME('2026-01-01 10:00:00') + INTERVAL 1 HOUR,
        TIMEDIFF('12:00', '10:00') + INTERVAL 1 MINUTE, '2026-01-01' + INTERVAL 1 HOUR`,
    );
    expect(row).toEqual(["00:02:30", "08:30:00", "01:02:04", "1", "11:00:00", "02:01:00", "2026-01-01 01:00:00"]);
  });

  test("have defaults that are times", async () => {
    await layer.rows("ALTER TABLE t ALTER COLUMN ends SET DEFAULT '25:00:00'");
    expect(await values("INSERT INTO t (id) VALUES (9)", "SELECT ends FROM t WHERE id = 9")).toEqual([["25:00:00"]]);
    const answers = await layer.run("ALTER TABLE t ALTER COLUMN ends SET DEFAULT 'noon'");
    expect(answers[0]).toHaveProperty("error");
  });
});

describe("bytes", () => {
  beforeAll(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t",
      "CREATE TABLE t (id INT, ip VARBINARY(16), name BLOB, text VARCHAR(20), KEY ip (ip))",
      "INSERT INTO t VALUES (1, INET6_ATON('1.2.3.4'), 'q', 'q'), (2, UNHEX('00ff'), 'Q', 'x'), (3, 0x6162, NULL, NULL)",
    );
  });

  test.each([
    ["name = 'q'", [1]],
    ["name <> 'q'", [2]],
    ["name = text", [1]],
    ["name IN ('q', 'z')", [1]],
    ["name NOT IN ('q', 'z')", [2]],
    ["name LIKE 'q%'", [1]],
    ["name BETWEEN 'a' AND 'z'", [1]],
    ["name > 'R'", [1]],
    ["name = CONCAT('', 'Q')", [2]],
    ["name = (SELECT text FROM t WHERE id = 1)", [1]],
    ["name IS NULL", [3]],
    ["ip = INET6_ATON('1.2.3.4')", [1]],
    ["ip = UNHEX('00FF')", [2]],
    ["ip = 0x6162 OR ip = x'00ff'", [2, 3]],
    ["ip BETWEEN INET6_ATON('1.2.3.0') AND INET6_ATON('1.2.3.255')", [1]],
  ])("are compared with texts: %s", async (condition, expected) => {
    expect(await ids(condition)).toEqual(expected);
  });

  test("are found by an index, also if an earlier driver has kept them as texts", async () => {
    const statements = await layer.translated("SELECT id FROM t WHERE ip = 'old'");
    expect(statements.at(-1)).toMatch(/`ip`\s+IN \(\s*x'6f6c64'\s*,\s*'old'\s*\)/);
  });
});

describe("members of ENUM and SET", () => {
  beforeEach(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t, t_copy",
      `CREATE TABLE t (id INT, level ENUM('low', 'high', 'it''s', 'Ärger') DEFAULT 'low', flag ENUM('0', '1') NOT NULL DEFAULT '1',
        roles SET('admin', 'editor', 'author') NOT NULL DEFAULT 'author', KEY level (level))`,
      "INSERT INTO t VALUES (1, 'HIGH', 1, 'editor,Admin'), (2, 3, '1', 5), (3, 'none', 0, 'author,none,author')",
      "INSERT INTO t (id, level, flag, roles) VALUES (4, NULL, '0', ''), (5, CONCAT('ärg', 'er '), TRUE, CONCAT('auth', 'or'))",
      "INSERT INTO t SET id = 6, level = '1', flag = '2', roles = '3'",
    );
  });

  test("are kept as they are defined", async () => {
    expect(await values("SELECT level, flag, roles FROM t ORDER BY id")).toEqual([
      ["high", "0", "admin,editor"],
      ["it's", "1", "admin,author"],
      ["", "", "author"],
      [null, "0", ""],
      ["Ärger", "0", "author"],
      ["low", "1", "admin,editor"],
    ]);
  });

  test("are kept when they are updated", async () => {
    const rows = await values(
      "UPDATE t SET level = 'LOW', flag = flag, roles = 'author,admin' WHERE id = 1",
      "UPDATE t SET level = id, flag = 3, roles = REPLACE(roles, 'author', 'editor') WHERE id = 2",
      "UPDATE t SET level = NULL, roles = NULL WHERE id = 3",
      "SELECT level, flag, roles FROM t WHERE id < 4 ORDER BY id",
    );
    expect(rows).toEqual([
      ["low", "0", "admin,author"],
      ["high", "", "admin,editor"],
      [null, "", ""],
    ]);
  });

  test("are refused in strict mode if they are others", async () => {
    const strict = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES'";
    const others = ["(7, 'none', '0', '')", "(7, 'low', 5, '')", "(7, 'low', '0', 'admin,none')"];
    const answers = await layer.run(strict, ...others.map((row) => `INSERT INTO t VALUES ${row}`));
    expect(answers.slice(1).map((answer) => "error" in answer && answer.error.includes("1265"))).toEqual([
      true,
      true,
      true,
    ]);
    await layer.rows(strict, "INSERT INTO t VALUES (7, 'Low', 1, '')");
  });

  test.each([
    ["level", ["4", "3", "6", "1", "2", "5"]],
    ["t.level DESC, id", ["5", "2", "1", "6", "3", "4"]],
    ["roles, flag DESC, id", ["4", "6", "1", "5", "3", "2"]],
  ])("are sorted in the order of their definition: %s", async (order, sorted) => {
    expect((await values(`SELECT id FROM t ORDER BY ${order}`)).flat()).toEqual(sorted);
    const numbered = `SELECT id, ROW_NUMBER() OVER (ORDER BY ${order}) AS place FROM t AS t`;
    expect((await values(`SELECT id FROM (${numbered}) AS n ORDER BY place`)).flat()).toEqual(sorted);
  });

  test("are sorted so also under other names, and by themselves if this is the order of the alphabet", async () => {
    expect((await values("SELECT level AS name FROM t WHERE id < 4 ORDER BY name")).flat()).toEqual([
      "",
      "high",
      "it's",
    ]);
    expect((await values("SELECT GROUP_CONCAT(level ORDER BY level DESC) FROM t")).flat()).toEqual([
      "Ärger,it's,high,low,",
    ]);
    expect((await layer.translated("SELECT id FROM t ORDER BY flag")).join()).not.toContain("WHEN");
  });

  test.each([
    ["level > 1", [1, 2, 5]],
    ["2 = level", [1]],
    ["level = 0", [3]],
    ["level IN (1, 4)", [5, 6]],
    ["level BETWEEN 2 AND 3", [1, 2]],
    ["level + 0 >= 3", [2, 5]],
    ["flag = 1", [1, 4, 5]],
    ["flag = '1'", [2, 6]],
    ["roles & 2", [1, 6]],
    ["roles = 5", [2]],
    ["roles = 'admin,editor'", [1, 6]],
    ["FIND_IN_SET('author', roles)", [2, 3, 5]],
    ["CAST(level AS UNSIGNED) = 3", [2]],
  ])("are numbers where a number is needed: %s", async (condition, found) => {
    expect(await ids(condition)).toEqual(found);
  });

  test("are those of a changed definition, for the same connection, too", async () => {
    const rows = await values(
      "CREATE TABLE t_copy (id INT, state VARCHAR(10))",
      "INSERT INTO t_copy VALUES (1, 'old'), (2, 'new')",
      "ALTER TABLE t_copy MODIFY state ENUM('old', 'new') NOT NULL, ADD COLUMN kind ENUM('z', 'a') NOT NULL",
      "INSERT INTO t_copy (id, state) VALUES (3, 2)",
      "SELECT id, state, kind FROM t_copy ORDER BY state, id",
    );
    expect(rows).toEqual([
      ["1", "old", "z"],
      ["2", "new", "z"],
      ["3", "new", "z"],
    ]);
  });

  test("have a sum", async () => {
    expect(await values("SELECT SUM(level), MAX(roles + 0), -level, level * 2 + 0 FROM t WHERE id = 2")).toEqual([
      ["3", "5", "-3", "6"],
    ]);
  });
});

test("a decimal that is too large for a float is not taken for a column name", async () => {
  const answers = await layer.run("CREATE TABLE t_large (d DECIMAL(10,2))", "INSERT INTO t_large VALUES ('1e400')");
  expect(JSON.stringify(answers)).not.toContain("no such column");
});

test("a random sequence goes on from row to row in UPDATE, and any seed begins one", async () => {
  await layer.rows("CREATE TABLE t_rand (id INT, x DOUBLE)", "INSERT INTO t_rand VALUES (1, 0), (2, 0), (3, 0)");
  const shown = await values("SELECT RAND(5) FROM t_rand ORDER BY id");
  expect(await values("UPDATE t_rand SET x = RAND(5)", "SELECT x FROM t_rand ORDER BY id")).toEqual(shown);
  expect(Number((await values("SELECT RAND(9223372036854775807)"))[0]?.[0])).toBeLessThan(1);
});

describe("dates in arithmetic are numbers of their digits", () => {
  beforeEach(async () => {
    await layer.rows(
      "DROP TABLE IF EXISTS t",
      "CREATE TABLE t (id INT, day DATE, seen DATETIME, clock TIME, n INT, text VARCHAR(30), KEY seen (seen))",
      "INSERT INTO t VALUES (1, '2024-03-05', '2024-03-05 10:11:12', '10:11:12', 5, '2024-03-05')",
      "INSERT INTO t VALUES (2, '2023-12-31', '0000-00-00 00:00:00', '00:00:09', 7, '7 apples'), (3, NULL, NULL, NULL, NULL, NULL)",
    );
  });

  test.each([
    ["day + 0", ["20240305", "20231231", null]],
    ["seen + 0", ["20240305101112", "0", null]],
    ["clock + 0", ["101112", "9", null]],
    ["1 + day", ["20240306", "20231232", null]],
    ["-day", ["-20240305", "-20231231", null]],
    ["seen DIV 1000000", ["20240305", "0", null]],
    ["day % 100", ["5", "31", null]],
    ["day & 255", ["177", "63", null]],
    ["seen - day", ["20240284860807", "-20231231", null]],
    ["CAST(seen AS UNSIGNED)", ["20240305101112", "0", null]],
    ["MAX(day) + 0", ["20240305", "20231231", null]],
    ["SUM(seen)", ["20240305101112", "0", null]],
    ["DATE(seen) + 0", ["20240305", "0", null]],
    ["DATE_ADD(day, INTERVAL 1 DAY) + 0", ["20240306", "20240101", null]],
    ["(seen - INTERVAL 1 SECOND) + 0", ["20240305101111", null, null]],
    ["text + 0", ["2024", "7", null]],
    ["CONCAT(day, '') + 0", ["2024", "2023", null]],
    ["'day + 0'", ["day + 0", "day + 0", "day + 0"]],
    ["day + INTERVAL 1 DAY", ["2024-03-06", "2024-01-01", null]],
  ])("%s", async (expression, expected) => {
    expect((await values(`SELECT ${expression} FROM t GROUP BY id ORDER BY id`)).flat()).toEqual(expected);
  });

  test("also the present moment, and the results of functions", async () => {
    const [row] = await values(
      `SELECT NOW() + 0 > 20200101000000, CURDATE() - 1 > 20200101, CURRENT_TIMESTAMP - NOW(), CURTIME() + 0 < 240000,
        FROM_UNIXTIME(86400) + 0, LAST_DAY('2024-02-01') + 0, FROM_UNIXTIME(86400, '%d') + 0, NULL + NOW()`,
    );
    expect(row).toEqual(["1", "1", "0", "1", "19700102000000", "20240229", "2", null]);
  });

  test("and are compared with sums as numbers", async () => {
    expect(await ids("seen < CURRENT_TIMESTAMP - 300")).toEqual([1, 2]);
    expect(await ids("seen > NOW() - 300")).toEqual([]);
    expect(await ids("seen > 20240305101112 - 1")).toEqual([1]);
    expect(await ids("seen > n * 2")).toEqual([1]);
    expect(await ids("day > 20240304.5")).toEqual([1]);
    expect(await ids("day BETWEEN n + 1 AND 20240101 - 1")).toEqual([2]);
    expect(await ids("seen >= NOW() - INTERVAL 900 YEAR")).toEqual([1]);
  });

  test("and are stored as the dates that the numbers mean", async () => {
    const stored = await values(
      "UPDATE t SET n = day + 0, day = day + 1, seen = seen - 12 WHERE id = 1",
      "UPDATE t SET n = 5, day = day + NULL WHERE id = 2",
      "SELECT day, seen, n FROM t WHERE id < 3 ORDER BY id",
    );
    expect(stored).toEqual([
      ["2024-03-06", "2024-03-05 10:11:00", "20240305"],
      [null, "0000-00-00 00:00:00", "5"],
    ]);
    expect(
      await values(
        "INSERT INTO t (id, day, seen) VALUES (4, 20240305 + 1, 20240305101112 + 1)",
        "SELECT day, seen FROM t WHERE id = 4",
      ),
    ).toEqual([["2024-03-06", "2024-03-05 10:11:13"]]);
  });
});
