/** Results with the digits after the point that MySQL shows. */
import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
  await layer.rows(
    "CREATE TABLE orders (id INT PRIMARY KEY, Total DECIMAL(10,2), seen DOUBLE(17,6), share DOUBLE, items INT, KEY t (Total))",
    "INSERT INTO orders VALUES (1, 10.5, 1709632800.123456, 1.5, 5), (2, 9, 0, 2, 4), (3, NULL, NULL, NULL, NULL)",
    "CREATE TABLE fees (order_id INT, fee DECIMAL(5,1))",
    "INSERT INTO fees VALUES (1, 2), (2, 12.5)",
  );
});

async function lines(statement: string): Promise<readonly string[]> {
  return (await layer.rows(statement)).map((row) => Object.values(row).join(" "));
}

describe("quotients and averages have MySQL's digits", () => {
  test.each([
    ["SELECT SUM(items) / COUNT(items) FROM orders", ["4.5000"]],
    ["SELECT AVG(items) FROM orders", ["4.5000"]],
    ["SELECT AVG(share) FROM orders WHERE id = 2", ["2"]],
    ["SELECT 1.50 * 2 + items / 4 FROM orders WHERE id = 1", ["4.2500"]],
    ["SELECT Total / 2 FROM orders WHERE id = 1", ["5.250000"]],
    ["SELECT share / 2 FROM orders WHERE id = 1", ["0.75"]],
    ["SELECT 7 / 0", [""]],
    ["SELECT items / 2 AS half FROM orders WHERE id < 3 ORDER BY half", ["2.0000", "2.5000"]],
    ["SELECT items / 2 AS half FROM orders HAVING half > 2.1", ["2.5000"]],
    ["SELECT x.v FROM (SELECT items / 2 AS v FROM orders) x WHERE v > 2.1", ["2.5"]],
  ])("%s, unless a query depends on the number", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });
});

test.each([
  ["SELECT fee * 0.00000000000000000000 * 0.00000000000000000000 FROM fees LIMIT 1", 30],
  ["SELECT fee * 0.0000000000000000000000000001 / 3 FROM fees LIMIT 1", 30],
  ["SELECT AVG(fee * 0.0000000000000000000000000001) FROM fees", 30],
])("MySQL has no more than thirty digits: %s", async (statement, digits) => {
  const [line] = await lines(statement);
  expect(line?.split(".")[1]).toHaveLength(digits);
});

test("quotients that lie half-way are rounded away from zero, although they have no exact binary form", async () => {
  const cents = Array.from({ length: 50 }, (_, at) => 2 * at + 1);
  const [line] = await lines(
    `SELECT ${cents.flatMap((cent) => [`0.01 * ${cent} / 20000`, `-0.01 * ${cent} / 20000`])}`,
  );
  const rounded = cents.map((cent) => `0.0000${String((cent + 1) / 2).padStart(2, "0")}`);
  expect(line).toBe(rounded.flatMap((each) => [each, `-${each}`]).join(" "));
});

test("statements about tables without decimals stay as they are", async () => {
  await layer.rows("CREATE TABLE wp_posts (ID INT PRIMARY KEY, post_title TEXT)");
  const all = "SELECT * FROM `wp_posts` WHERE `ID` = 5";
  expect(await layer.translated("SELECT * FROM wp_posts WHERE ID = 5")).toEqual([all]);
  expect(await layer.translated("SELECT ID FROM wp_posts WHERE post_title = 'total'")).toEqual([expect.any(String)]);
});

describe("columns of decimals have all their digits", () => {
  test.each([
    ["alone", "SELECT Total FROM orders WHERE id < 3", ["10.50", "9.00"]],
    ["under another name", "SELECT o.Total AS t FROM orders o WHERE t > 0 ORDER BY t", ["9.00", "10.50"]],
    ["with NULL", "SELECT total FROM orders WHERE id = 3", [""]],
    ["as floats with digits", "SELECT seen FROM orders WHERE id < 3", ["1709632800.123456", "0.000000"]],
    ["in a sum", "SELECT SUM(Total), MIN(Total), COALESCE(SUM(Total), 0) FROM orders", ["19.50 9.00 19.50"]],
    [
      "in a choice",
      "SELECT IF(id > 1, Total, 0), CASE id WHEN 1 THEN Total END FROM orders",
      ["0.00 10.50", "9.00 ", " "],
    ],
    ["unless it has a value", "SELECT NULLIF(Total, 9) FROM orders WHERE id < 3", ["10.50", ""]],
    ["in a product", "SELECT Total * items, Total % 2 FROM orders WHERE id = 1", ["52.50 0.50"]],
    ["of a cast", "SELECT CAST('7' AS DECIMAL(5,2)) AS c FROM orders ORDER BY c LIMIT 1", ["7.00"]],
    ["of a query", "SELECT x.fee FROM (SELECT fee FROM fees) x ORDER BY x.fee", ["2.0", "12.5"]],
    ["of all columns", "SELECT * FROM orders WHERE id = 2", ["2 9.00 0.000000 2 4"]],
    [
      "of a table's columns",
      "SELECT f.*, o.id FROM orders o JOIN fees f ON f.order_id = o.id ORDER BY fee",
      ["1 2.0 1", "2 12.5 2"],
    ],
    [
      "of two tables",
      "SELECT * FROM fees f, orders o WHERE order_id = id ORDER BY fee",
      ["1 2.0 1 10.50 1709632800.123456 1.5 5", "2 12.5 2 9.00 0.000000 2 4"],
    ],
    ["different ones", "SELECT DISTINCT Total FROM orders ORDER BY Total DESC", ["10.50", "9.00", ""]],
  ])("%s", async (_where, statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  test("under the names that MySQL gives them", async () => {
    const [row] = await layer.rows("SELECT o.Total, SUM(o.Total), o.* FROM orders o WHERE id = 1");
    expect(Object.keys(row ?? {})).toEqual(["Total", "SUM(o.Total)", "id", "seen", "share", "items"]);
  });
});

describe("numbers with digits are sorted and compared as numbers", () => {
  test.each([
    ["SELECT Total FROM orders ORDER BY Total DESC LIMIT 2", ["10.50", "9.00"]],
    ["SELECT * FROM fees ORDER BY fee", ["1 2.0", "2 12.5"]],
    ["SELECT fee FROM fees ORDER BY 1", ["2", "12.5"]],
    ["SELECT order_id, SUM(fee) AS fee FROM fees GROUP BY order_id ORDER BY fee", ["1 2.0", "2 12.5"]],
    ["SELECT order_id, SUM(fee) AS sum FROM fees GROUP BY order_id HAVING sum > 3", ["2 12.5"]],
    ["SELECT fee + 1 AS more FROM fees HAVING more > 4", ["13.5"]],
    ["SELECT fee * 2 AS twice FROM fees ORDER BY -twice", ["25.0", "4.0"]],
    ["(SELECT fee FROM fees) ORDER BY fee LIMIT 1", ["2"]],
    [
      "SELECT id, SUM(Total) AS sum FROM orders GROUP BY id ORDER BY COALESCE(sum, 0) DESC",
      ["1 10.50", "2 9.00", "3 "],
    ],
    ["SELECT id, SUM(Total) AS sum FROM orders GROUP BY id ORDER BY sum > 9.5, id", ["3 ", "2 9.00", "1 10.50"]],
    ["SELECT id, Total AS t FROM orders ORDER BY CASE WHEN t > 9.5 THEN 1 ELSE 0 END, id", ["2 9.00", "3 ", "1 10.50"]],
    [
      "SELECT order_id, fee * 2 AS d FROM fees ORDER BY d IN (SELECT d FROM (SELECT 25 AS d) x) DESC",
      ["2 25.0", "1 4.0"],
    ],
    ["SELECT id, Total AS items FROM orders WHERE id < 3 ORDER BY items + 0", ["2 9.00", "1 10.50"]],
    ["SELECT SUM(fee) AS s FROM fees GROUP BY order_id HAVING s > (SELECT MIN(s) FROM (SELECT 3 AS s) x)", ["12.5"]],
    ["SELECT fee * 1.0 AS f, COUNT(*) FROM fees GROUP BY f", ["2.00 1", "12.50 1"]],
    ["SELECT fee * 1.0 AS f, COUNT(*) FROM fees GROUP BY f > 3", ["2.00 1", "12.50 1"]],
    ["SELECT 0.1 + 0.2 * (order_id - 1) + 0.2 * (2 - order_id) AS f, COUNT(*) FROM fees GROUP BY f", ["0.3 2"]],
    ["SELECT id FROM orders WHERE Total IN (SELECT Total FROM orders WHERE Total > 9.5)", ["1"]],
  ])("%s", async (statement, expected) => {
    expect(await lines(statement)).toEqual(expected);
  });

  test("and an index serves the order of a column", async () => {
    const [plan] = await layer.rows("EXPLAIN SELECT id, Total FROM orders ORDER BY Total");
    expect(plan).toMatchObject({ key: "t" });
  });
});

test("a table made of a query has numbers, and the types of columns with other names", async () => {
  await layer.rows("CREATE TABLE made AS SELECT Total AS sum, Total * 2 AS twice FROM orders WHERE id = 1");
  expect(await layer.rows("SELECT sum > 9 AS a, twice > 9 AS b, sum FROM made")).toEqual([
    { a: "1", b: "1", sum: "10.50" },
  ]);
});
