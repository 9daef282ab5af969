import { beforeAll, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

const kept = "SELECT name FROM people WHERE id = 1";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer(undefined, { keepsTranslations: true });
  await layer.rows(
    "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20), code VARCHAR(300))",
    "INSERT INTO people VALUES (1, 'Ann', '7'), (2, 'Bob', '08')",
    "CREATE TABLE defaults (three INT DEFAULT (1 + 2))",
  );
});

/** Runs statements on one connection. Returns the values of the last one. */
async function values(...statements: readonly string[]): Promise<readonly (string | null)[]> {
  return (await layer.rows(...statements)).flatMap((row) => Object.values(row));
}

/** Returns the stored translations for the current schema. */
async function stored(): Promise<string> {
  await values("SELECT name FROM people WHERE id > 100");
  return layer.translations.read();
}

test("a repeated SELECT uses its stored translation", async () => {
  expect(await values(kept)).toEqual(["Ann"]);
  layer.translations.write(layer.translations.read().replace("`id` = 1", "`id` = 2"));
  expect(await values(kept)).toEqual(["Bob"]);
  // Another text is another statement.
  expect(await values(`${kept} `)).toEqual(["Ann"]);
});

test("a schema change invalidates all translations", async () => {
  await layer.rows("CREATE TABLE codes (id INT PRIMARY KEY, code INT)", "INSERT INTO codes VALUES (1, 7), (2, 8)");
  const compared = "SELECT id FROM codes WHERE code = 7 ORDER BY id";
  expect(await values(compared)).toEqual(["1"]);
  expect(layer.translations.read()).toContain(compared);
  await layer.rows("ALTER TABLE codes MODIFY code VARCHAR(300)", "UPDATE codes SET code = '07' WHERE id = 2");
  // Numbers are compared with texts in another way than with numbers.
  expect(await values(compared)).toEqual(["1", "2"]);
});

test("a session stops using translations after a CREATE or SET statement", async () => {
  const quoted = `SELECT "name" FROM people WHERE id = 2`;
  expect(await values(quoted)).toEqual(["name"]);
  expect(await values(quoted)).toEqual(["name"]);
  expect(await values("SET SESSION sql_mode = 'ANSI_QUOTES'", quoted)).toEqual(["Bob"]);
  expect(await values(quoted)).toEqual(["name"]);

  const compared = "SELECT id FROM people WHERE code = 8";
  expect(await values(compared)).toEqual(["2"]);
  expect(layer.translations.read()).toContain(compared);
  // The statement comes before its translation.
  layer.translations.write(layer.translations.read().replace(/= 8(?!.*= 8)/s, "= 7"));
  expect(await values(compared)).toEqual(["1"]);
  expect(await values("CREATE TEMPORARY TABLE others (id INT)", compared)).toEqual(["2"]);
});

test("translations made before a SET are stored", async () => {
  const before = "SELECT COUNT(*) FROM people WHERE id < 3";
  await values(before, "SET SESSION sql_big_selects = 1", "SELECT COUNT(*) FROM people WHERE id < 4");
  expect(layer.translations.read()).toContain("id < 3");
  expect(layer.translations.read()).not.toContain("id < 4");
});

test("a known statement about a table that is gone fails as others do", async () => {
  await layer.rows("CREATE TABLE gone (id INT)");
  const statement = "SELECT id FROM gone";
  await values(statement);
  const kept = layer.translations.read();
  await layer.rows("DROP TABLE gone");
  // As if the table had been dropped by another session in the middle of this one.
  const [now] = /state";s:\d+:"\d+/.exec(await stored()) ?? [""];
  layer.translations.write(kept.replace(/state";s:\d+:"\d+/, now));
  const [failed, next] = await layer.run(statement, "SELECT name FROM people WHERE id = 1");
  expect(failed).toEqual({ error: expect.stringContaining("gone' doesn't exist") });
  expect(next).toMatchObject({ rows: [{ name: "Ann" }] });
});

test("known statements are executed within transactions and with locks", async () => {
  const locked = "SELECT name FROM people WHERE id = 2 FOR UPDATE";
  for (let page = 0; page < 2; page += 1) {
    expect(await values(locked)).toEqual(["Bob"]);
    expect(await values("START TRANSACTION", "UPDATE people SET name = 'Zoe' WHERE id = 2", locked)).toEqual(["Zoe"]);
  }
});

test.each([
  "SELECT NOW() > '2020-01-01'",
  "SELECT CURRENT_TIMESTAMP > '2020-01-01'",
  "SELECT FOUND_ROWS()",
  "SELECT `FOUND_ROWS`()",
  "SELECT SQL_CALC_FOUND_ROWS DEFAULT(three) FROM defaults LIMIT 1",
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
