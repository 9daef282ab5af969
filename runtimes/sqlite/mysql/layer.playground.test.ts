import { beforeAll, describe, expect, test } from "vitest";
import { phpVersions } from "../../playground/php/versions.ts";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
});

test("a function of the layer is available", async () => {
  expect(await layer.value("QUARTER('2024-05-01')")).toBe("2");
  expect(await layer.value("quarter (NULL)")).toBeNull();
});

test("an operator that SQLite lacks is rewritten wherever it occurs, and its column keeps its name", async () => {
  expect(await layer.rows("SELECT 7 DIV 2, -7 DIV 2 AS n, 7 DIV 0 AS z")).toEqual([
    { "7 DIV 2": "3", n: "-3", z: null },
  ]);
  const answers = await layer.rows(
    "CREATE TABLE things (id INT, size INT)",
    "INSERT INTO things VALUES (1, 9 DIV 4), (2, 8)",
    "UPDATE things SET size = size DIV 2 WHERE 9 DIV 4 = id",
    "SELECT size FROM things WHERE id DIV 1 IN (SELECT id FROM things) ORDER BY size DIV 3 DESC",
  );
  expect(answers).toEqual([{ size: "4" }, { size: "2" }]);
});

test("names of functions and operators in other places are left alone", async () => {
  const answers = await layer.rows(
    "CREATE TABLE quarter (`div` INT, quarter TEXT)",
    "INSERT INTO quarter (`div`, quarter) VALUES (3, '7 DIV 2 QUARTER(x)')",
    "SELECT quarter.`div`, quarter /* DIV /* QUARTER( */ FROM quarter -- DIV",
  );
  expect(answers).toEqual([{ div: "3", quarter: "7 DIV 2 QUARTER(x)" }]);
});

test("a statement without anything to rewrite reaches SQLite as the driver translates it", async () => {
  expect(await layer.translated("SELECT 1 AS one")).toEqual(["SELECT 1 AS `one`"]);
});

test("a statement that the driver refuses is answered", async () => {
  expect(await layer.run("SHOW TRIGGERS", "SHOW TRIGGERS LIKE 'wp_posts'")).toEqual([
    { rows: [], affected: 0 },
    { rows: [], affected: 0 },
  ]);
});

test("texts that are no single statement are refused as before", async () => {
  const [none, two] = await layer.run("SHOW NOTHING AT ALL", "SHOW TRIGGERS; SHOW TRIGGERS");
  expect(none).toEqual({ error: "SQLSTATE[42000]: 1064 You have an error in your SQL syntax" });
  expect(two).toMatchObject({ error: expect.stringContaining("there is more than one statement") });
});

test.each(phpVersions)("PHP %s runs the layer without warnings", async (phpVersion) => {
  const own = await openMysqlLayer(phpVersion);
  const rows = await own.rows(
    "CREATE TABLE versions (id INT, t LONGTEXT, s VARCHAR(50) COLLATE utf8mb4_bin)",
    "INSERT INTO versions VALUES (1, 'Ä', 'x'), (2, '10', 'y')",
    "SELECT id, 5 / 2 AS half, @x := 3 AS x, t LIKE '%ä%' AS found FROM versions WHERE t > 9 OR t = 'ä' ORDER BY t",
  );
  expect(rows).toEqual([
    { id: "2", half: "2.5000", x: "3", found: "0" },
    { id: "1", half: "2.5000", x: "3", found: "1" },
  ]);
  expect(
    await own.rows(
      `SELECT CAST('2024-03-05' AS DATETIME) AS casts, MD5('a') AS codes, DATE_FORMAT('2024-03-05', '%M') AS dateFormats,
        'a' REGEXP 'A' AS expressions, '2024-01-31' + INTERVAL 1 MONTH AS intervals, CRC32('MySQL') AS numbers,
        JSON_EXTRACT('{"a": [1, 2]}', '$.a[1]') AS json, GET_LOCK('a', 1) AS locks, USER() AS sessions, VARIANCE(id) AS stats,
        SUBSTRING_INDEX('a.b', '.', -1) AS texts, STR_TO_DATE('5. März', '%e. Mär') AS reader FROM versions`,
    ),
  ).toEqual([
    {
      casts: "2024-03-05 00:00:00",
      codes: "0cc175b9c0f1b6a831c399e269772661",
      dateFormats: "March",
      expressions: "1",
      intervals: "2024-02-29",
      numbers: "3259397556",
      json: "2",
      locks: "1",
      sessions: "root@localhost",
      stats: "0.25",
      texts: "b",
      reader: "0000-00-05",
    },
  ]);
});

test("a CASE may have thousands of negative numbers", async () => {
  const numbers = Array.from({ length: 3000 }, (_, at) => `WHEN ${at} THEN -${at}`);
  expect(await layer.rows(`SELECT CASE 2999 ${numbers.join(" ")} ELSE -1 END AS n`)).toEqual([{ n: "-2999" }]);
});

test("a statement with ROLLUP that is too deep is refused, and PHP goes on", async () => {
  const deep = `SELECT ${"(".repeat(5000)}1${")".repeat(5000)} AS a FROM t GROUP BY a WITH ROLLUP`;
  const [answer] = await layer.run(deep, "SELECT 1");
  expect(answer).toEqual({ error: expect.stringContaining("too many levels of parentheses") });
});

test("functions within functions take no more time for each level than for the one before", async () => {
  const nested = (depth: number) => `${"REPLACE(".repeat(depth)}'a'${", 'a', 'b')".repeat(depth)}`;
  expect(await layer.value(nested(40))).toBe("b");
  expect(await layer.value(`${"UPPER(".repeat(40)}'a'${")".repeat(40)} = 'A'`)).toBe("1");
});

test.each([
  ["parentheses", `SELECT ${"(".repeat(5000)}1${")".repeat(5000)}`],
  ["calls", `SELECT ${"UPPER(".repeat(2000)}'a'${")".repeat(2000)}`],
  ["signs", `SELECT ${"- ".repeat(3000)}1`],
  ["summands", `SELECT ${"1+".repeat(50_000)}1`],
  ["conditions", `SELECT 1 ${"OR 1 ".repeat(20_000)}`],
  ["CASE", `SELECT ${"CASE WHEN 1 THEN ".repeat(40)}1${" END".repeat(40)}`],
  ["CAST", `SELECT ${"CAST(".repeat(40)}1${" AS SIGNED)".repeat(40)}`],
  ["CONVERT", `SELECT ${"CONVERT(".repeat(30)}'a'${" USING utf8mb4)".repeat(30)}`],
  ["BINARY", `SELECT ${"BINARY ".repeat(100_000)}'a'`],
  ["bits", `SELECT 1${" | 1".repeat(1100)}`],
  ["INTERVAL", `SELECT NOW()${" + INTERVAL 1 DAY".repeat(900)}`],
  ["numbers", `SELECT 1 IN (${"1,".repeat(250_000)}1)`],
])("a statement with too many %s is refused, and PHP goes on", async (_, statement) => {
  const [refused, next] = await layer.run(statement, "SELECT 1 AS one");
  expect(refused).toMatchObject({ error: expect.stringMatching(/Not supported on SQLite: (?:The|A) statement/) });
  expect(next).toMatchObject({ rows: [{ one: "1" }] });
});

test.each([
  ["CREATE", `CREATE TABLE wide (${Array.from({ length: 5000 }, (_, at) => `c${at} INT`).join(", ")})`],
  ["ALTER", `ALTER TABLE wide ${Array.from({ length: 5000 }, (_, at) => `ADD COLUMN c${at} INT`).join(", ")}`],
])("%s with more columns than InnoDB has is refused as by MySQL", async (_, statement) => {
  expect(await layer.run(statement)).toMatchObject([{ error: expect.stringContaining("1117 Too many columns") }]);
});

test("more conditions than SQLite has levels are answered", async () => {
  const [some, all] = [["=", " OR "] as const, ["<>", " AND "] as const].map(([operator, between]) =>
    Array.from({ length: 1900 }, (_, at) => `t.n ${operator} ${at + 2}`).join(between),
  );
  const rows = await layer.rows(
    `SELECT ${some} AS some, NOT (${some}) AS none, ${all} AS every FROM (SELECT 1901 AS n) AS t`,
  );
  expect(rows).toEqual([{ some: "1", none: "0", every: "0" }]);
});

describe("a megabyte is answered, however many parts of it are compared with each other", () => {
  const list = (from: number, to: number) => JSON.stringify(Array.from({ length: to - from }, (_, at) => from + at));
  const words = (count: number, word: (at: number) => string) => Array.from({ length: count }, (_, at) => word(at));

  test.each([
    ["lists with nothing in common", `JSON_OVERLAPS('${list(0, 80_000)}', '${list(80_000, 160_000)}')`, "0"],
    ["lists in lists", `JSON_CONTAINS('${list(0, 80_000)}', '${list(0, 80_000)}')`, "1"],
    ["a path", `JSON_EXTRACT('{"a": {"a": 1}}', '$${".a".repeat(500_000)}')`, null],
    ["a path with wildcards", `JSON_EXTRACT('{"a": {"b": 1}}', '$${"**".repeat(400_000)}.b')`, "[1]"],
  ])("%s", async (_, expression, value) => {
    expect(await layer.value(expression)).toBe(value);
  });

  test("words and beginnings of words", async () => {
    const text = words(80_000, (at) => `text${at}`).join(" ");
    const searches = [
      words(80_000, (at) => `word${at}`).join(" "),
      [...words(80_000, (at) => `word${at}*`), "text79999*"].join(" "),
      [...words(40_000, (at) => `"word${at} word"`), '"text5 text6"'].join(" "),
    ];
    const found = searches.map((search) => `MATCH (t) AGAINST ('${search}' IN BOOLEAN MODE) AS found`);
    const answers = await layer.run(
      "CREATE TABLE megabytes (t LONGTEXT, FULLTEXT KEY t (t))",
      `INSERT INTO megabytes VALUES ('${text}')`,
      ...found.map((match) => `SELECT ${match} FROM megabytes`),
      "DROP TABLE megabytes",
    );
    expect(answers.slice(2, 5)).toMatchObject(["0", "1", "1"].map((found) => ({ rows: [{ found }] })));
  });
});

test("texts, names and comments without an end are errors without a warning", async () => {
  for (const statement of ["SELECT 'a", 'SELECT "a', "SELECT `a", "SELECT /* a", "SELECT \0 1"]) {
    expect(await layer.run(statement)).toMatchObject([{ error: expect.stringContaining("1064") }]);
  }
});

test("results may have names with letters beyond ASCII, and tables are refused with a sentence", async () => {
  const rows = await layer.rows(
    "SELECT x.größe AS `имя`, COUNT(*) AS `🦄` FROM (SELECT 3 / 2 AS größe) AS x WHERE x.größe > 1 GROUP BY x.größe ORDER BY `имя`",
  );
  expect(rows).toEqual([{ имя: "1.5", "🦄": "1" }]);
  const [created] = await layer.run("CREATE TABLE names (`имя` INT)");
  expect(created).toMatchObject({ error: expect.stringContaining("Not supported on SQLite: names") });
});
