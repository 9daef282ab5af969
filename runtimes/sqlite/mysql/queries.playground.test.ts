import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
  await layer.rows(
    "CREATE TABLE fruit (id INT PRIMARY KEY, name VARCHAR(20), size INT)",
    "INSERT INTO fruit VALUES (1, 'apple', 3), (2, 'pear', 4), (3, 'plum', 1), (4, 'pear', 2)",
  );
});

/** The rows of a query, each as its values in a line. */
async function lines(statement: string): Promise<readonly string[]> {
  return (await layer.rows(statement)).map((row) => Object.values(row).join(" "));
}

describe("a SELECT in parentheses", () => {
  test.each([
    ["alone", "(SELECT id FROM fruit WHERE id < 3)", ["1", "2"]],
    ["twice in parentheses", "((SELECT id FROM fruit WHERE id = 3))", ["3"]],
    ["with an order outside", "(SELECT fruit.id FROM fruit) ORDER BY id DESC LIMIT 1", ["4"]],
    ["in a union", "(SELECT 1 AS a) UNION ALL (SELECT 2 AS a) ORDER BY a DESC LIMIT 1", ["2"]],
    [
      "with orders and limits of its own",
      "(SELECT size FROM fruit ORDER BY size DESC LIMIT 1) UNION (SELECT size FROM fruit ORDER BY size LIMIT 1) ORDER BY size",
      ["1", "4"],
    ],
    ["beside another without", "SELECT 5 UNION (SELECT id FROM fruit ORDER BY id LIMIT 1) ORDER BY 1", ["1", "5"]],
    ["as a table", "SELECT a FROM ((SELECT 1 AS a) UNION (SELECT 2)) AS both_of_them ORDER BY a", ["1", "2"]],
    ["as a list", "SELECT id FROM fruit WHERE id IN ((SELECT 4) UNION (SELECT 1))", ["1", "4"]],
  ])("works %s", async (_where, statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  test("can be the source of rows", async () => {
    await layer.rows("CREATE TABLE copies (id INT)");
    expect(
      await layer.rows(
        "INSERT INTO copies (id) (SELECT id FROM fruit WHERE id > 2)",
        "SELECT COUNT(*) AS n FROM copies",
      ),
    ).toEqual([{ n: "2" }]);
  });
});

test.each([
  ["SELECT ALL id FROM fruit WHERE id = 1", ["1"]],
  ["SELECT DISTINCTROW name FROM fruit WHERE name = 'pear'", ["pear"]],
  ["SELECT STRAIGHT_JOIN id FROM fruit WHERE id = 1", ["1"]],
  ["SELECT SQL_NO_CACHE HIGH_PRIORITY SQL_BIG_RESULT SQL_BUFFER_RESULT id FROM fruit WHERE id = 1", ["1"]],
  ["SELECT a.id FROM fruit a STRAIGHT_JOIN fruit b ON a.id = b.size WHERE b.id = 3", ["1"]],
  ["SELECT 1 UNION DISTINCT SELECT 1", ["1"]],
  ["SELECT COUNT(ALL size), SUM(ALL size) FROM fruit", ["4 10"]],
  ["SELECT id FROM fruit PARTITION (p0) WHERE id = 1", ["1"]],
  ["SELECT id FROM fruit WHERE ROW(id, name) = ROW(2, 'pear')", ["2"]],
  ["SELECT id FROM fruit WHERE (id, name) IN ((2, 'pear'), (3, 'pear'))", ["2"]],
  ["TABLE copies", ["3", "4"]],
  ["VALUES ROW(1, 2), ROW(3, 4)", ["1 2", "3 4"]],
  ["SELECT id FROM fruit WHERE size = ANY (SELECT 4)", ["2"]],
  ["SELECT id FROM fruit WHERE size > ALL (SELECT size FROM fruit WHERE name <> 'pear')", ["2"]],
  ["SELECT id FROM fruit WHERE id <> ALL (SELECT id FROM fruit WHERE id > 1)", ["1"]],
  ["SELECT id FROM fruit o WHERE size > SOME (SELECT i.size FROM fruit i WHERE i.name = o.name)", ["2"]],
])("%s is understood", async (statement, expected) => {
  expect(await lines(statement)).toEqual(expected);
});

test("EXISTS may have a query in more than one pair of parentheses", async () => {
  const rows = await layer.rows(
    "SELECT EXISTS ((SELECT 1)) AS a, NOT EXISTS (((SELECT 1 FROM DUAL WHERE 1 = 2))) AS b",
  );
  expect(rows).toEqual([{ a: "1", b: "1" }]);
});

describe("LIKE with COLLATE", () => {
  test.each([
    ["SELECT id FROM fruit WHERE name COLLATE utf8mb4_bin LIKE 'P%'", []],
    ["SELECT id FROM fruit WHERE CONVERT(name USING utf8mb4) COLLATE utf8mb4_bin LIKE 'pl_m'", ["3"]],
    ["SELECT id FROM fruit WHERE name LIKE 'A%' COLLATE utf8mb4_bin", []],
    ["SELECT id FROM fruit WHERE name NOT LIKE ('P%' COLLATE utf8mb4_bin) AND id < 3 ORDER BY id", ["1", "2"]],
    ["SELECT id FROM fruit WHERE name COLLATE utf8mb4_general_ci LIKE 'A%'", ["1"]],
    ["SELECT 'ä' COLLATE utf8mb4_bin LIKE 'Ä', 'ä' LIKE 'Ä', 'a_c' COLLATE utf8mb4_bin LIKE 'a\\_c'", ["0 1 1"]],
    ["SELECT 'x COLLATE utf8mb4_bin' LIKE 'X%'", ["1"]],
  ])("%s", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });
});

describe("HAVING without GROUP BY", () => {
  test.each([
    ["SELECT COUNT(*) AS n FROM fruit HAVING n > 1", ["4"]],
    ["SELECT COUNT(*) AS n FROM fruit HAVING COUNT(*) > 9", []],
    ["SELECT name, size * 2 AS twice FROM fruit HAVING twice > 3 ORDER BY twice", ["pear 4", "apple 6", "pear 8"]],
    ["SELECT name FROM fruit WHERE id > 1 OR id = 0 HAVING name = 'pear' OR name = 'plum'", ["pear", "plum", "pear"]],
  ])("%s", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  // Here, HAVING alone makes all rows one.
  test.each([
    ["SELECT 1 FROM fruit HAVING COUNT(*) > 1", ["1"]],
    ["SELECT 1 FROM fruit HAVING COUNT(*) > 9", []],
    ["SELECT 1 HAVING COUNT(*) = 1", ["1"]],
    ["SELECT 'none' FROM fruit WHERE id = 0 HAVING COUNT(*) = 0", ["none"]],
    ["SELECT 'x' AS v, 'y' FROM fruit WHERE id > 1 HAVING MIN(id) = 2 AND v = 'x' ORDER BY v", ["x y"]],
    ["SELECT DISTINCT id IS NULL FROM fruit HAVING AVG(id) > 1", ["0"]],
    ["SELECT 'a' FROM fruit HAVING COUNT(*) > 9 UNION SELECT 'b' FROM fruit HAVING GROUP_CONCAT(id) LIKE '1,%'", ["b"]],
    ["SELECT id FROM fruit WHERE id < 3 AND EXISTS (SELECT 1 FROM fruit HAVING MAX(id) > 3) ORDER BY id", ["1", "2"]],
    ["SELECT * FROM fruit WHERE id = 1 HAVING COUNT(*) = 1", ["1 apple 3"]],
    ["SELECT f.*, 'k' FROM fruit f WHERE id = 1 HAVING COUNT(*) = 1", ["1 apple 3 k"]],
    ["SELECT 'COUNT(*)' AS s FROM fruit WHERE id = 1 HAVING s = 'COUNT(*)'", ["COUNT(*)"]],
  ])("%s", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  test("keeps the names of results", async () => {
    expect(
      await layer.rows("SELECT f.name, 'text', UPPER(f.name) FROM fruit f WHERE id = 1 HAVING COUNT(*) = 1"),
    ).toEqual([{ name: "apple", text: "text", "UPPER(f.name)": "APPLE" }]);
    expect(await layer.rows("SELECT 'text' FROM fruit HAVING COUNT(*) > 1")).toEqual([{ text: "text" }]);
  });
});

describe("bytes and bits", () => {
  test("LENGTH counts bytes, CHAR_LENGTH counts letters", async () => {
    expect(await lines("SELECT LENGTH('äö'), CHAR_LENGTH('äö'), LENGTH(123), LENGTH(NULL)")).toEqual(["4 2 3 "]);
  });

  test("BIT_AND, BIT_OR and BIT_XOR have 64 bits, and are numbers", async () => {
    await layer.rows(
      "CREATE TABLE flags (kind CHAR(1), n BIGINT)",
      "INSERT INTO flags VALUES ('a', 4294967296), ('a', 5), ('b', 5), ('b', 12), ('c', NULL)",
    );
    expect(
      await lines(
        `SELECT kind, BIT_OR(n) AS bits, BIT_XOR(n), BIT_AND(n) FROM flags GROUP BY kind HAVING BIT_OR(n) > 9
        ORDER BY bits`,
      ),
    ).toEqual(["b 13 9 4", "a 4294967301 4294967301 0"]);
    expect(
      await lines("SELECT BIT_OR(n) > 100, BIT_OR(n) = 13, HEX(BIT_OR(n)), BIT_OR(n) + 1 FROM flags WHERE kind = 'b'"),
    ).toEqual(["0 1 D 14"]);
    expect(await lines("SELECT BIT_OR(n), BIT_AND(n) FROM flags WHERE kind = 'c'")).toEqual(["0 18446744073709551615"]);
  });

  test("BIT_OR as a window function is refused with a sentence", async () => {
    const [answer] = await layer.run("SELECT BIT_OR(id) OVER (ORDER BY id) FROM fruit");
    expect(answer).toMatchObject({
      error: expect.stringMatching(/Not supported on SQLite: BIT_OR\(\) as a window function/i),
    });
  });

  test("HEX of bits has two digits for each byte", async () => {
    expect(
      await lines("SELECT HEX(b'1'), HEX((0b101)), HEX(B'100000001'), HEX(b'') = '', HEX(b'1' + 0), HEX('b''1''')"),
    ).toEqual(["01 05 0101 1 1 62273127"]);
  });

  test("literals are numbers for bits and sums, and texts elsewhere", async () => {
    expect(await lines("SELECT b'101' + 0, 0b11 + 1, 0x41, x'41' + 0, X'41' * 2")).toEqual(["5 4 A 65 130"]);
    await layer.rows(
      "CREATE TABLE bits (one BIT(1) NOT NULL DEFAULT b'1', many BIT(8), name VARCHAR(9), raw VARBINARY(9))",
      "INSERT INTO bits (many, name, raw) VALUES (b'10101', 0x6162, 0x00ff)",
    );
    expect(
      await lines("SELECT one, many, many + 0, name, HEX(raw) FROM bits WHERE name = 0x4142 AND one = b'1'"),
    ).toEqual(["1 21 21 ab 00FF"]);
  });
});

describe("WITH ROLLUP", () => {
  beforeAll(async () => {
    await layer.rows(
      "CREATE TABLE sales (region VARCHAR(9), product VARCHAR(9), amount INT, sold DATE)",
      `INSERT INTO sales VALUES ('north', 'a', 3, '2024-01-05'), ('north', 'b', 4, '2024-02-05'),
        ('south', 'a', 5, '2024-01-07'), (NULL, 'b', 7, '2025-03-03')`,
      "CREATE TABLE nothing (a INT)",
    );
  });

  // What MariaDB answers, but for ORDER BY and GROUPING, which MySQL 8 alone allows.
  test.each([
    [
      "SELECT region, product, SUM(amount) FROM sales GROUP BY region, product WITH ROLLUP",
      [" b 7", "  7", "north a 3", "north b 4", "north  7", "south a 5", "south  5", "  19"],
    ],
    ["SELECT YEAR(sold) AS y, COUNT(*) FROM sales GROUP BY y WITH ROLLUP", ["2024 3", "2025 1", " 4"]],
    ["SELECT product, SUM(amount) * 2 AS d FROM sales GROUP BY product WITH ROLLUP HAVING d > 20", ["b 22", " 38"]],
    [
      "SELECT COALESCE(region, 'all') AS region, SUM(amount) FROM sales WHERE amount < 7 GROUP BY region WITH ROLLUP",
      ["north 7", "south 5", "all 12"],
    ],
    ["SELECT s.region AS r FROM sales AS s GROUP BY s.region DESC WITH ROLLUP LIMIT 2", ["south", "north"]],
    ["SELECT product, SUM(amount) AS s FROM sales GROUP BY 1 WITH ROLLUP ORDER BY s DESC LIMIT 2", [" 19", "b 11"]],
    [
      "SELECT GROUPING(region) AS g, GROUPING(region, product) AS gg FROM sales WHERE amount = 3 GROUP BY region, product WITH ROLLUP",
      ["0 0", "0 1", "1 3"],
    ],
    ["SELECT x.s FROM (SELECT SUM(amount) AS s FROM sales GROUP BY region WITH ROLLUP) AS x WHERE x.s > 7", ["19"]],
    ["SELECT product FROM sales GROUP BY product WITH ROLLUP UNION ALL SELECT 'x'", ["a", "b", "", "x"]],
    ["SELECT a, COUNT(*) FROM nothing GROUP BY a WITH ROLLUP", []],
    ["SELECT 'WITH ROLLUP' AS rollup", ["WITH ROLLUP"]],
  ])("%s", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  test("keeps the names of the results, and refuses * with a sentence", async () => {
    const [row] = await layer.rows("SELECT sales.region, SUM(amount) FROM sales GROUP BY region WITH ROLLUP");
    expect(Object.keys(row ?? {})).toEqual(["region", "SUM(amount)"]);
    const [answer] = await layer.run("SELECT *, COUNT(*) FROM sales GROUP BY region WITH ROLLUP");
    expect(answer).toMatchObject({ error: expect.stringContaining("Not supported on SQLite: WITH ROLLUP") });
  });
});
