import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
});

/** Evaluates all expressions in one statement each, on one connection. */
async function values(...expressions: readonly string[]): Promise<readonly (string | null)[]> {
  const answers = await layer.run(...expressions.map((expression) => `SELECT ${expression} AS v`));
  return answers.map((answer) => ("error" in answer ? answer.error : (answer.rows[0]?.v ?? null)));
}

const pairs = (cases: Readonly<Record<string, string | null>>) => async () =>
  expect(Object.fromEntries((await values(...Object.keys(cases))).map((v, i) => [Object.keys(cases)[i], v]))).toEqual(
    cases,
  );

describe("arithmetic", () => {
  test(
    "divides as MySQL does",
    pairs({
      "5/2": "2.5000",
      "1/3 > 0.33": "1",
      "7/0": null,
      "NULL/2": null,
      "8/2/2": "2.00000000",
      "2*5/4": "2.5000",
      "5/(1+1)": "2.5000",
      "'9'/2": "4.5",
      "-5/2": "-2.5000",
      "(SELECT 5)/2": "2.5",
      "7 DIV 2": "3",
      "-7 DIV 2": "-3",
      "5 DIV 2 DIV 2": "1",
      "7.5 DIV 2": "3",
      "'15 apples' DIV 4": "3",
      "1 DIV 0": null,
      "7 MOD 3": "1",
      "-7 % 3": "-1",
      "5.5 % 2": "1.5",
      "5.3 % 0.1": "0.0",
      "7 % 0": null,
      "10 - 7 % 4 * 2": "4",
    }),
  );

  test(
    "follows MySQL's order of operations",
    pairs({
      "1 + 2 * 3": "7",
      "10 - 4 - 3": "3",
      "1 | 2 & 3 << 1": "3",
      "2 + 3 << 1": "10",
      "1 << 2 + 1": "8",
      "12 & 10 | 1": "9",
      "2 * 3 ^ 1": "4",
      "5 ^ 3": "6",
      "100 / 10 * 2": "20.0000",
      "2 * (3 + 4) DIV 5": "2",
    }),
  );
});

describe("logic", () => {
  test(
    "has all of MySQL's operators",
    pairs({
      "1 && 0": "0",
      "0 || 1": "1",
      "!0": "1",
      "!1 + 1": "1",
      "! (1 = 2)": "1",
      "1 XOR 1": "0",
      "1 XOR 0": "1",
      "1 XOR NULL": null,
      "1 OR 1 XOR 1": "1",
      "1 XOR 1 AND 0": "1",
      "NOT 1 XOR 1": "1",
      "1 XOR 1 XOR 1": "1",
      "NOT 0 && 0": "0",
      "NULL <=> NULL": "1",
      "1 <=> NULL": "0",
      "2 <=> 2": "1",
      "NULL IS UNKNOWN": "1",
      "1 IS NOT UNKNOWN": "1",
      "2 IS TRUE && 0 IS FALSE": "1",
    }),
  );

  test("is the same in conditions", async () => {
    const found = await layer.rows(
      "CREATE TABLE logic (id INT, kind VARCHAR(10), other INT)",
      "INSERT INTO logic VALUES (1, 'a', NULL), (2, 'b', 0), (3, 'a', 1)",
      "SELECT id FROM logic WHERE kind = 'a' && (id = 1 || !other) XOR id = 3",
    );
    expect(found).toEqual([{ id: "1" }, { id: "3" }]);
  });
});

test("CASE and NULLIF compare as = does", async () => {
  const [row] = await layer.rows(
    "CREATE TABLE chosen (text LONGTEXT, n INT)",
    "INSERT INTO chosen VALUES ('007', 7)",
    `SELECT CASE text WHEN 8 THEN 'no' WHEN 7 THEN 'seven' ELSE '?' END AS number, CASE 'Ä' WHEN 'ä' THEN 'same' END AS letter,
       CASE n WHEN '7' THEN 'seven' END AS literal, NULLIF(text, 7) AS nothing, NULLIF('a', 'B') AS other,
       CASE WHEN n = 7 THEN 'yes' END AS searched FROM chosen`,
  );
  expect(row).toEqual({
    number: "seven",
    letter: "same",
    literal: "seven",
    nothing: null,
    other: "a",
    searched: "yes",
  });
});

test("a limit beyond SQLite's numbers means all rows", async () => {
  const statements = [
    "CREATE TABLE limits (k INT)",
    "INSERT INTO limits VALUES (1), (2), (3)",
    "SELECT k FROM limits ORDER BY k LIMIT 18446744073709551615 OFFSET 1",
  ];
  expect(await layer.rows(...statements)).toEqual([{ k: "2" }, { k: "3" }]);
  expect(await layer.rows("SELECT k FROM limits ORDER BY k LIMIT 2, 18446744073709551615")).toEqual([{ k: "3" }]);
  expect(await layer.rows("SELECT k FROM limits ORDER BY k LIMIT 1")).toEqual([{ k: "1" }]);
});

test("an expression keeps its name and works in every clause", async () => {
  expect(await layer.rows("SELECT 5 / 2, 7 DIV 2")).toEqual([{ "5 / 2": "2.5000", "7 DIV 2": "3" }]);
  const found = await layer.rows(
    "CREATE TABLE ratings (post INT, stars INT)",
    "INSERT INTO ratings VALUES (1, 5), (1, 4), (2, 1), (2, 1), (3, 3)",
    `SELECT post, SUM(stars) / COUNT(*) AS mean FROM ratings GROUP BY post, post MOD 2 HAVING SUM(stars) / COUNT(*) > 1.5
     ORDER BY SUM(stars) / COUNT(*) DESC`,
  );
  expect(found).toEqual([
    { post: "1", mean: "4.5000" },
    { post: "3", mean: "3.0000" },
  ]);
});

test("fractions are rounded in columns of whole numbers, and stay in others", async () => {
  const rows = await layer.rows(
    "CREATE TABLE whole (id INT, n BIGINT, r DOUBLE)",
    "INSERT INTO whole VALUES (1, 5 / 2, 5 / 2), (2, -2.5, -2.5), (3, NULL, 1.4), (4, '7', 2)",
    "INSERT INTO whole (r, n, id) VALUES (0.5, 9 * 0.5, 5)",
    "UPDATE whole SET r = r / 4, n = n / 2 WHERE id = 1",
    "SELECT n, r FROM whole ORDER BY id",
  );
  expect(rows).toEqual([
    { n: "2", r: "0.625" },
    { n: "-3", r: "-2.5" },
    { n: null, r: "1.4" },
    { n: "7", r: "2" },
    { n: "5", r: "0.5" },
  ]);
});
