import { beforeAll, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../testing/mysqlLayer.ts";

const kept = "SELECT name FROM people WHERE id = 1";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer(undefined, { keepsTranslations: true });
  await layer.rows(
    "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20), code VARCHAR(300))",
    "INSERT INTO people VALUES (1, 'Ann', '7'), (2, 'Bob', '08')",
  );
});

/** Runs statements on one connection. Returns the values of the last one. */
async function values(...statements: readonly string[]): Promise<readonly (string | null)[]> {
  return (await layer.rows(...statements)).flatMap((row) => Object.values(row));
}

test("a SELECT is translated once, and then executed as it was translated", async () => {
  expect(await values(kept)).toEqual(["Ann"]);
  layer.translations.write(layer.translations.read().replace("`id` = 1", "`id` = 2"));
  expect(await values(kept)).toEqual(["Bob"]);
  // Another text is another statement.
  expect(await values(`${kept} `)).toEqual(["Ann"]);
});

test("a change of the database's tables makes all translations invalid", async () => {
  const compared = "SELECT name FROM people WHERE code = 7 ORDER BY id";
  expect(await values(compared)).toEqual(["Ann"]);
  expect(await values(compared)).toEqual(["Ann"]);
  await layer.rows("ALTER TABLE people MODIFY code INT");
  expect(await values(kept)).toEqual(["Ann"]);
  expect(await values(compared)).toEqual(["Ann"]);
  await layer.rows("ALTER TABLE people MODIFY code VARCHAR(300)", "UPDATE people SET code = '07' WHERE id = 2");
  expect(await values(compared)).toEqual(["Ann", "Bob"]);
});

test("a session that changes tables or settings uses none from then on", async () => {
  const all = "SELECT * FROM people WHERE id = 2";
  const [, , code] = await values(all);
  expect(
    await values("CREATE TEMPORARY TABLE people (id INT, age INT)", "INSERT INTO people VALUES (2, 40)", all),
  ).toEqual(["2", "40"]);
  expect(await values(all)).toEqual(["2", "Bob", code]);
  const quoted = `SELECT "name" FROM people WHERE id = 2`;
  expect(await values(quoted)).toEqual(["name"]);
  expect(await values("SET SESSION sql_mode = 'ANSI_QUOTES'", kept)).toEqual(["Ann"]);
});

test.each([
  "SELECT NOW() > '2020-01-01'",
  "SELECT CURRENT_TIMESTAMP > '2020-01-01'",
  "SELECT FOUND_ROWS()",
  "SELECT SQL_CALC_FOUND_ROWS name FROM people LIMIT 1",
  "SELECT RAND() < 2",
  "SELECT COUNT(*) FROM information_schema.TABLES",
  "SELECT @none",
])("a statement whose translation depends on more is not kept: %s", async (statement) => {
  await values(kept, statement);
  const stored = layer.translations.read();
  expect(stored).toContain(kept);
  expect(stored).not.toContain(statement);
});

test("known statements count for FOUND_ROWS, and call the layer's functions", async () => {
  const folded = "SELECT name FROM people WHERE LOWER(name) LIKE 'ann' AND LENGTH(code) > 0";
  await values(folded);
  expect(await values(folded)).toEqual(["Ann"]);
  const two = "SELECT name FROM people ORDER BY id";
  await values(two);
  expect(await values(two, "SELECT FOUND_ROWS()")).toEqual(["2"]);
  expect(layer.translations.read()).toContain(two);
});

test("the statements used last are kept when there are too many", async () => {
  const long = (number: number) => `SELECT name FROM people WHERE name <> '${"x".repeat(4_000)}' AND id = ${number}`;
  await values(...Array.from({ length: 40 }, (_, number) => long(number)));
  await values(kept, "SELECT 1 AS new");
  const stored = layer.translations.read();
  expect(stored).toContain(kept);
  expect(stored.length).toBeLessThan(150_000);
  const tooLong = `SELECT '${"y".repeat(9_000)}'`;
  await values(tooLong);
  expect(layer.translations.read()).not.toContain("yyy");
});

test("a damaged file is ignored", async () => {
  layer.translations.write("a:1:{");
  expect(await values(kept)).toEqual(["Ann"]);
  expect(await values(kept)).toEqual(["Ann"]);
});
