/** Which rows INSERT, UPDATE and DELETE change, and how many they say. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
});
beforeEach(async () => {
  await layer.rows(
    "DROP TABLE IF EXISTS fruit, prices, `count`",
    `CREATE TABLE fruit (
      id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, size INT, note TEXT,
      changed TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, UNIQUE KEY name (name))`,
    "INSERT INTO fruit (name, size) VALUES ('apple', 1), ('pear', 2), ('plum', 3)",
    "CREATE TABLE prices (id INT AUTO_INCREMENT PRIMARY KEY, fruit_id INT, kind VARCHAR(20), price VARCHAR(20))",
    "INSERT INTO prices (fruit_id, kind, price) VALUES (1, 'shop', '5'), (2, 'shop', '7'), (2, 'old', '9')",
  );
});

async function affected(...statements: readonly string[]): Promise<readonly number[]> {
  return (await layer.run(...statements)).map((answer) => {
    if ("error" in answer) throw new Error(answer.error);
    return answer.affected;
  });
}

const sizes = async () => (await layer.rows("SELECT size FROM fruit ORDER BY id")).map(({ size }) => Number(size));
const count = async (table: string) => Number((await layer.rows(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);

describe("UPDATE", () => {
  test.each([
    ["an equal number", "UPDATE fruit SET size = 1 WHERE id = 1", 0],
    ["an equal number as text", "UPDATE fruit SET size = '1' WHERE id = 1", 0],
    ["another number", "UPDATE fruit SET size = 9 WHERE id = 1", 1],
    ["other letter case", "UPDATE fruit SET name = 'APPLE' WHERE id = 1", 1],
    ["one of two columns", "UPDATE fruit SET size = 1, note = 'x' WHERE id = 1", 1],
    ["NULL again", "UPDATE fruit SET note = NULL WHERE id = 1", 0],
    ["some of all rows", "UPDATE fruit SET size = 2", 2],
    ["either condition", "UPDATE fruit SET size = 2 WHERE id = 1 OR id = 2", 1],
    ["an alias", "UPDATE fruit AS f SET f.size = 1 WHERE f.id IN (1, 3)", 1],
    ["the column itself", "UPDATE fruit SET size = size", 0],
    ["values that can't be computed twice", "UPDATE fruit SET size = FLOOR(RAND()) + 1 WHERE id = 1", 1],
  ])("counts the rows that change: %s", async (_what, statement, expected) => {
    expect(await affected(statement)).toEqual([expected]);
  });

  test("sets no timestamp of a row that does not change", async () => {
    await layer.rows("UPDATE fruit SET size = IF(id = 1, 1, 8)");
    const rows = await layer.rows("SELECT changed IS NULL AS is_old FROM fruit ORDER BY id");
    expect(rows.map((row) => row.is_old)).toEqual(["1", "0", "0"]);
  });

  test("a LIMIT chooses rows before it is known whether they change", async () => {
    await layer.rows("UPDATE fruit SET size = 1 ORDER BY id LIMIT 2");
    expect(await sizes()).toEqual([1, 1, 3]);
  });

  test.each([
    [
      "without a row to join",
      "UPDATE fruit LEFT JOIN prices ON fruit_id = fruit.id SET size = 9 WHERE prices.id IS NULL",
      [1, 2, 9],
    ],
    [
      "with either of two conditions",
      "UPDATE fruit f JOIN prices p ON p.fruit_id = f.id SET f.size = f.size + p.price WHERE p.price = '5' OR p.price = '7'",
      [6, 9, 3],
    ],
    [
      "with several outer joins",
      `UPDATE fruit f LEFT JOIN prices a ON a.fruit_id = f.id AND a.kind = 'shop' LEFT JOIN prices b ON b.fruit_id = f.id
       AND b.kind = 'old' SET f.size = COALESCE(a.price, 0) + COALESCE(b.price, 0), f.note = CONCAT(f.name, '!')`,
      [5, 16, 0],
    ],
    ["with itself", "UPDATE fruit a JOIN fruit b ON b.id = a.id + 1 SET a.size = b.size", [2, 3, 3]],
    ["by a comma", "UPDATE fruit, prices SET size = price WHERE fruit_id = fruit.id AND kind = 'shop'", [5, 7, 3]],
    [
      "with a query",
      "UPDATE fruit JOIN (SELECT fruit_id, COUNT(*) AS n FROM prices GROUP BY 1) AS q ON q.fruit_id = fruit.id SET size = n",
      [1, 2, 3],
    ],
    ["with a table in parentheses", "UPDATE (fruit JOIN prices ON fruit_id = fruit.id) SET size = 0", [0, 0, 3]],
  ])("joins rows %s", async (_how, statement, expected) => {
    await layer.rows(statement);
    expect(await sizes()).toEqual(expected);
  });

  test("counts the joined rows that change", async () => {
    expect(await affected("UPDATE fruit JOIN prices ON fruit_id = fruit.id SET size = 2 WHERE kind = 'shop'")).toEqual([
      1,
    ]);
  });

  test("of several joined rows, the first one counts, each time", async () => {
    const statement = "UPDATE fruit JOIN prices ON fruit_id = fruit.id SET size = price";
    await layer.rows(statement);
    expect(await sizes()).toEqual([5, 7, 3]);
    expect(await affected(statement)).toEqual([0]);
    expect(await sizes()).toEqual([5, 7, 3]);
  });

  test("joins tables that have a column rowid", async () => {
    await layer.rows("CREATE TABLE keyed (id INT PRIMARY KEY, rowid VARCHAR(9), size INT)");
    await layer.rows("INSERT INTO keyed VALUES (1, 'k', 0), (2, 'k', 0)");
    await layer.rows("UPDATE keyed JOIN fruit ON fruit.id = keyed.id AND fruit.id = 1 SET keyed.size = 4");
    expect(await layer.rows("SELECT id, size FROM keyed ORDER BY id")).toEqual([
      { id: "1", size: "4" },
      { id: "2", size: "0" },
    ]);
    await layer.rows("DROP TABLE keyed");
  });

  test("a join that changes two tables is refused", async () => {
    const [answer] = await layer.run("UPDATE fruit JOIN prices ON fruit_id = fruit.id SET size = 0, price = 0");
    expect(answer).toEqual({ error: expect.stringContaining("UPDATE statement modifying multiple tables") });
  });
});

describe("INSERT … ON DUPLICATE KEY UPDATE", () => {
  test.each([
    ["a new row", "INSERT INTO fruit (name) VALUES ('fig') ON DUPLICATE KEY UPDATE size = 5", 1],
    ["a changed row", "INSERT INTO fruit (name) VALUES ('pear') ON DUPLICATE KEY UPDATE size = 5", 2],
    ["a row that does not change", "INSERT INTO fruit (name) VALUES ('pear') ON DUPLICATE KEY UPDATE size = 2", 0],
    [
      "a lock that another one has",
      "INSERT INTO fruit (name, size) VALUES ('pear', 9) ON DUPLICATE KEY UPDATE size = IF(size < 1, VALUES(size), size)",
      0,
    ],
    [
      "several rows",
      "INSERT INTO fruit (name, size) VALUES ('fig', 1), ('pear', 7), ('plum', 3) ON DUPLICATE KEY UPDATE size = VALUES(size)",
      3,
    ],
    ["SET", "INSERT INTO fruit SET name = 'pear' ON DUPLICATE KEY UPDATE name = 'PEAR'", 2],
    [
      "a value that can't be computed twice",
      "INSERT INTO fruit (name) VALUES ('pear') ON DUPLICATE KEY UPDATE size = RAND()",
      2,
    ],
  ])("counts %s", async (_what, statement, expected) => {
    expect(await affected(statement)).toEqual([expected]);
  });

  test("does not count for the next statement", async () => {
    const update = "INSERT INTO fruit (name) VALUES ('pear') ON DUPLICATE KEY UPDATE size = 5";
    expect(await affected(update, "UPDATE fruit SET size = 8")).toEqual([2, 3]);
  });

  test.each([
    ["a column", "SELECT f.name, p.price FROM prices p JOIN fruit f ON f.id = p.fruit_id AND kind = 'shop'", "p.price"],
    ["the name of a column", "SELECT 'apple', 5 AS cost UNION SELECT 'pear', 7", "cost"],
  ])("takes a value from the query: %s", async (_what, query, value) => {
    await layer.rows(`INSERT INTO fruit (name, size) ${query} ON DUPLICATE KEY UPDATE size = ${value} * 10`);
    expect(await sizes()).toEqual([50, 70, 3]);
  });

  test("names like its own words are names", async () => {
    const statement =
      "INSERT INTO `count` (`values`, `key`) VALUES (1, 'ON DUPLICATE KEY UPDATE') ON DUPLICATE KEY UPDATE `key` = VALUES(`key`)";
    await layer.rows("CREATE TABLE `count` (`values` INT PRIMARY KEY, `key` VARCHAR(50))");
    expect(await affected(statement, statement)).toEqual([1, 0]);
  });
});

describe("DELETE from several tables", () => {
  test.each([
    ["by names after AS", "DELETE a FROM prices AS a INNER JOIN prices AS b WHERE a.id > b.id AND a.kind = b.kind", 2],
    ["by names without AS", "DELETE a FROM prices a JOIN prices b ON a.id > b.id AND a.kind = b.kind", 2],
    ["by USING", "DELETE FROM a USING prices AS a LEFT JOIN fruit AS f ON f.id = a.fruit_id WHERE f.size > 1", 1],
  ])("finds the rows %s", async (_how, statement, left) => {
    await layer.rows(statement);
    expect(await count("prices")).toBe(left);
  });
});

test("options for MySQL's server have no effect, also next to names that are the same words", async () => {
  const rows = await layer.rows(
    "CREATE TABLE prioritized (id INT PRIMARY KEY, quick VARCHAR(20), KEY quick (quick))",
    "INSERT LOW_PRIORITY INTO prioritized VALUES (1, 'low_priority')",
    "INSERT HIGH_PRIORITY IGNORE prioritized (id, quick) VALUES (1, 'b'), (2, 'b'), (3, 'c')",
    "INSERT DELAYED INTO prioritized SET id = 4, quick = 'd'",
    "INSERT LOW_PRIORITY INTO prioritized (id) VALUES (4) ON DUPLICATE KEY UPDATE quick = 'e'",
    "REPLACE DELAYED INTO prioritized VALUES (2, 'f')",
    "UPDATE LOW_PRIORITY prioritized SET quick = CONCAT(quick, '!') WHERE id = 4",
    "DELETE LOW_PRIORITY QUICK IGNORE FROM prioritized WHERE quick = 'c'",
    "DELETE QUICK a FROM prioritized AS a JOIN prioritized AS other USING (id) WHERE a.id = 2",
    "SELECT id, quick FROM prioritized ORDER BY id",
  );
  expect(rows).toEqual([
    { id: "1", quick: "low_priority" },
    { id: "4", quick: "e!" },
  ]);
});
