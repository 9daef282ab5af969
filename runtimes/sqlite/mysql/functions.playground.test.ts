/** Functions in whole statements. What they answer is compared with MariaDB in `differential/`. */
import { beforeAll, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
});

const fresh = (table: string, columns: string) => [
  `DROP TABLE IF EXISTS ${table}`,
  `CREATE TABLE ${table} (${columns})`,
];

test("functions work in every part of a statement, and columns keep their names", async () => {
  const rows = await layer.rows(
    ...fresh("orders", "id INT PRIMARY KEY AUTO_INCREMENT, placed DATETIME, total DECIMAL(10,2), tags VARCHAR(50)"),
    `INSERT INTO orders (placed, total, tags) VALUES (DATE_ADD('2024-01-31', INTERVAL 1 MONTH), ROUND(9.995, 2), LOWER('A,B')),
      ('2024-03-31' - INTERVAL 1 MONTH, 5, CONCAT('b', ',', 'c')), (STR_TO_DATE('01.04.2024', '%d.%m.%Y'), 7.5, NULL)`,
    "UPDATE orders SET placed = placed + INTERVAL 1 HOUR WHERE FIND_IN_SET('b', tags) AND QUARTER(placed) = 1",
    "DELETE FROM orders WHERE TIMESTAMPDIFF(DAY, placed, '2024-04-02') = 1",
    `SELECT DATE_FORMAT(placed, '%Y-%m'), COUNT(*) AS n, GROUP_CONCAT(tags ORDER BY id DESC SEPARATOR '|'), MAX(placed)
      FROM orders GROUP BY DATE_FORMAT(placed, '%Y-%m') HAVING SUM(total) > 1 ORDER BY FIELD(n, 2, 1), DATE(MAX(placed))`,
  );
  expect(rows).toEqual([
    {
      "DATE_FORMAT(placed, '%Y-%m')": "2024-02",
      n: "2",
      "GROUP_CONCAT(tags ORDER BY id DESC SEPARATOR '|')": "b,c|a,b",
      "MAX(placed)": "2024-02-29 01:00:00",
    },
  ]);
});

test("stock is reserved for an hour", async () => {
  const rows = await layer.rows(
    ...fresh("reserved", "product INT PRIMARY KEY, amount DOUBLE NOT NULL DEFAULT 0, expires DATETIME NOT NULL"),
    `INSERT INTO reserved SELECT 2, 3, (NOW() + INTERVAL 60 MINUTE) FROM DUAL
      WHERE (SELECT 5 FOR UPDATE) - (SELECT COALESCE(SUM(amount), 0) FROM reserved WHERE expires > NOW() FOR UPDATE) >= 3
      ON DUPLICATE KEY UPDATE expires = VALUES(expires)`,
    "SELECT amount, expires > NOW() + INTERVAL 59 MINUTE AS kept, expires < NOW() + INTERVAL 61 MINUTE AS freed FROM reserved",
  );
  expect(rows).toEqual([{ amount: "3", kept: "1", freed: "1" }]);
});

test("tables and columns may be named like functions", async () => {
  const rows = await layer.rows(
    ...fresh("`date`", "`left` INT, format VARCHAR(20), quarter INT, `current_date` INT, position INT, `utc_time` INT"),
    "INSERT INTO `date` (`left`, format, quarter, `current_date`, position, `utc_time`) VALUES (1, 'LEFT(x, 1)', 4, 5, 6, 7)",
    "SELECT `left`, format, LEFT(format, 4) AS l, d.quarter, `current_date`, d.position, d.`utc_time` FROM `date` AS d",
  );
  expect(rows).toEqual([
    { left: "1", format: "LEFT(x, 1)", l: "LEFT", quarter: "4", current_date: "5", position: "6", utc_time: "7" },
  ]);
});

test("calls in texts and comments are no calls", async () => {
  const rows = await layer.rows(
    "SELECT 'UPPER(''a'') DATE_ADD(x, INTERVAL 1 DAY)' AS a, /* LPAD( /* IF( */ 'b' AS b, \"TRIM(BOTH 'x' FROM y)\" AS c -- LPAD(",
  );
  expect(rows).toEqual([{ a: "UPPER('a') DATE_ADD(x, INTERVAL 1 DAY)", b: "b", c: "TRIM(BOTH 'x' FROM y)" }]);
});

test("any value of a group, or of all rows, can be selected", async () => {
  const table = [
    ...fresh("grouped", "kind INT, name VARCHAR(9)"),
    "INSERT INTO grouped VALUES (1, 'a'), (1, 'a'), (2, 'b')",
  ];
  const names = "SELECT kind, ANY_VALUE(name) AS name FROM grouped GROUP BY kind ORDER BY kind";
  expect(await layer.rows(...table, names)).toEqual([
    { kind: "1", name: "a" },
    { kind: "2", name: "b" },
  ]);
  expect(await layer.rows("SELECT COUNT(*) AS n, ANY_VALUE(kind) > 0 AS known FROM grouped")).toEqual([
    { n: "3", known: "1" },
  ]);
});

test("the last number that was inserted is known", async () => {
  const rows = await layer.rows(
    ...fresh("counted", "id INT PRIMARY KEY AUTO_INCREMENT, parent INT, n INT"),
    "INSERT INTO counted (n) VALUES (5)",
    "INSERT INTO counted (parent, n) VALUES (LAST_INSERT_ID(), 6)",
    "UPDATE counted SET n = LAST_INSERT_ID(n + 10) WHERE id = 1",
    "SELECT LAST_INSERT_ID() AS sequence, parent FROM counted WHERE id = 2",
  );
  expect(rows).toEqual([{ sequence: "15", parent: "1" }]);
});

test("calls within calls do not make statements grow without limit", async () => {
  const nested = (depth: number, call: (inner: string) => string): string =>
    depth === 0 ? "id" : call(nested(depth - 1, call));
  const calls = [
    nested(20, (inner) => `ROUND(${inner} + 1)`),
    nested(20, (inner) => `LPAD(${inner} + 1, 3, '0')`),
    nested(20, (inner) => `CONCAT(${inner} + 0, '')`),
  ];
  const statement = `SELECT ${calls.map((call, at) => `${call} AS c${at}`).join(", ")} FROM (SELECT 1 AS id) AS one`;
  const [row] = await layer.rows(statement);
  expect(row).toEqual({ c0: "21", c1: "021", c2: "1" });
  const translated = await layer.translated(statement);
  expect(translated.join("").length).toBeLessThan(20 * statement.length);
});

test("a statement of a megabyte is answered", async () => {
  const text = "x".repeat(1_000_000);
  expect(await layer.value(`CHAR_LENGTH(CONCAT(UPPER('${text}'), LPAD('1', 3, '0')))`)).toBe("1000003");
  const many = Array.from({ length: 2000 }, (_, at) => `(${at}, LPAD('${at}', 8, '0'))`);
  const rows = await layer.rows(
    ...fresh("many", "id INT PRIMARY KEY, code VARCHAR(8)"),
    `INSERT INTO many VALUES ${many.join(", ")}`,
    "SELECT COUNT(*) AS n, MAX(code) AS last FROM many",
  );
  expect(rows).toEqual([{ n: "2000", last: "00001999" }]);
});

test("calls with too few arguments, and patterns that are no regular expressions, are errors of MySQL", async () => {
  const answers = await layer.run(
    "SELECT LPAD('a')",
    "SELECT HEX()",
    "SELECT DATE_FORMAT('2024-01-01')",
    `SELECT JSON_SET('{}', '$.a')`,
    "SELECT 'a' REGEXP '('",
  );
  const count = expect.stringContaining("1582 Incorrect parameter count in the call to native function");
  expect(answers.map((answer) => ("error" in answer ? answer.error : answer))).toEqual([
    ...[count, count, count, count],
    expect.stringContaining("3685 Illegal argument to a regular expression"),
  ]);
});

test("regular expressions may contain PHP's delimiters and letters beyond ASCII", async () => {
  expect(
    await layer.rows("SELECT '/a~b/' REGEXP '~b/$' AS a, 'Ä' REGEXP 'ä' AS b, 'A' REGEXP BINARY 'a' AS c"),
  ).toEqual([{ a: "1", b: "1", c: "0" }]);
});

test("numbers and texts without end are cut off, or NULL", async () => {
  const rows = await layer.rows(
    `SELECT SPACE(999999999) AS a, LPAD('a', 9223372036854775807, 'b') AS b, DATE_ADD('2024-01-01', INTERVAL 9223372036854775807 DAY) AS c,
      SUBSTRING('abc', 9223372036854775807, 9223372036854775807) AS d, TIME('9999999999:00:00') AS e, SEC_TO_TIME(1e30) AS f,
      TRIM(BOTH 'x' FROM '${"x".repeat(300_000)}') AS g, JSON_DEPTH('${"[".repeat(600)}${"]".repeat(600)}') AS h`,
  );
  expect(rows).toEqual([{ a: null, b: null, c: null, d: "", e: "838:59:59", f: "838:59:59", g: "", h: null }]);
});

test("RAND with a number gives the same numbers, and the same order, as MySQL does", async () => {
  const order = "SELECT id FROM seeds ORDER BY RAND(7)";
  const answers = await layer.run(
    "CREATE TABLE seeds (id INT)",
    "INSERT INTO seeds VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
    "SELECT RAND(5) AS a, RAND(1) AS b, RAND(5) AS c",
    "SELECT RAND(id) AS r FROM seeds WHERE id IN (1, 5) ORDER BY id",
    order,
    `${order} LIMIT 4, 9`,
  );
  const rows = answers.map((answer) => ("rows" in answer ? answer.rows.map((row) => Object.values(row)) : []));
  expect(rows[2]).toEqual([["0.40613597483014", "0.40540353712198", "0.40613597483014"]]);
  expect(rows[3]).toEqual([["0.40540353712198"], ["0.40613597483014"]]);
  expect(rows[5]).toEqual(rows[4]?.slice(4));
});
