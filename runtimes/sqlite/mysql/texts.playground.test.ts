import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
  await layer.rows(
    `CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(50), name VARCHAR(50), note LONGTEXT, size INT, made DATETIME,
     code VARCHAR(20) COLLATE utf8mb4_bin, KEY name (name))`,
    `INSERT INTO words VALUES (1, 'Zoo', 'Zoo', '10', 1, '2024-01-01', 'aB'), (2, 'Apfel', 'Apfel', '9', 2, '2024-01-02', 'Ab'),
     (3, 'Ägypten', 'Ägypten', '250', 3, '2024-01-03', 'ab'), (4, 'Привет', 'Привет', 'Café', 4, NULL, 'x'),
     (5, 'straße', 'ёлка', '-1.5 kg', 0, '0000-00-00 00:00:00', NULL)`,
  );
});

async function ids(condition: string): Promise<string> {
  return (await layer.rows(`SELECT id FROM words WHERE ${condition} ORDER BY id`)).map(({ id }) => id).join(" ");
}

async function lines(statement: string): Promise<readonly string[]> {
  return (await layer.rows(statement)).map((row) => Object.values(row).join(" "));
}

describe("texts and numbers are compared as numbers", () => {
  test.each([
    ["note > 9", "1 3"],
    ["9 < note", "1 3"],
    ["note < -1", "5"],
    ["note = 10", "1"],
    ["note = 0", "4"],
    ["note IN (9, 10)", "1 2"],
    ["note NOT IN (9, 10, 250)", "4 5"],
    ["note BETWEEN 9 AND 11", "1 2"],
    ["note NOT BETWEEN 9 AND 300", "4 5"],
    ["size = '3'", "3"],
    ["size = '3 items'", "3"],
    ["size = ''", "5"],
    ["size IN ('1', ' 2', 'x')", "1 2 5"],
    ["SUBSTRING(note, 1, 2) = 25", "3"],
    ["DAY(made) = '2' OR LENGTH(name) = '3'", "1 2"],
    ["IF(id > 4, note, '') < -1", "5"],
    ["id = (SELECT '2')", "2"],
    ["made > 20240101", "2 3"],
    ["made BETWEEN 20240102 AND 20240103000000", "2 3"],
    ["made = 0", "5"],
    ["words.note > 9 AND note + 0 < 100", "1"],
  ])("%s", async (condition, expected) => {
    expect(await ids(condition)).toBe(expected);
  });

  test("also literals", async () => {
    const compared = "'10' > 9, 1 = '1', '1' = 1.0, 'abc' = 0, '1e1' = 10, '' = 0, COUNT(*) > '4', 'a' = 'a'";
    expect(await lines(`SELECT ${compared} FROM words`)).toEqual(["1 1 1 1 1 1 1 1"]);
  });
});

describe("letters are compared without case and accents", () => {
  test.each([
    ["word LIKE '%ПРИВ%'", "4"],
    ["word NOT LIKE '%рив%'", "1 2 3 5"],
    ["note LIKE '%cafe'", "4"],
    ["note LIKE 'CAF_'", "4"],
    ["word LIKE 'a%'", "2 3"],
    ["name LIKE 'Ä%'", "2 3"],
    ["word LIKE CONCAT('%', 'ГИ', '%') OR word LIKE '%gypt%'", "3"],
    ["LOWER(word) LIKE 'прив%'", "4"],
    ["word LIKE 'Z!%' ESCAPE '!'", ""],
    ["word LIKE 'Zo|o' ESCAPE '|'", "1"],
    ["word LIKE '%\\\\%%'", ""],
    ["word = 'привет'", "4"],
    ["word = 'agypten'", "3"],
    ["word = 'STRASSE'", "5"],
    ["word <> 'ПРИВЕТ'", "1 2 3 5"],
    ["NOT word <=> 'привет'", "1 2 3 5"],
    ["name = 'ПРИВЕТ'", "4"],
    ["name IN ('zoo', 'ЕЛКА')", "1 5"],
    ["name NOT IN ('zoo', 'ЕЛКА')", "2 3 4"],
    ["UPPER(word) = 'zoo'", "1"],
    ["SUBSTRING(word, 1, 1) IN ('Ä', 'z')", "1 2 3"],
    ["CONCAT(word, '!') = 'привет!'", "4"],
    ["IFNULL(word, '') = 'apfel'", "2"],
    ["word > 'привез'", "4"],
  ])("%s", async (condition, expected) => {
    expect(await ids(condition)).toBe(expected);
  });

  test("also literals", async () => {
    const compared =
      "'Abc' = 'abc', BINARY 'Abc' = 'abc', 'É' = 'e', 'ё' = 'е', 'и' = 'й', 'Å' IN ('a'), 'Ä' LIKE 'a%', 'a' < 'B'";
    expect(await lines(`SELECT ${compared}`)).toEqual(["1 0 1 1 0 1 1 1"]);
  });

  test("and signs in patterns are only signs", async () => {
    const patterns = ["ä]^-", "[ä", "ä/", "ä^", "ä.*+?{(|$#"];
    const compared = patterns.map((pattern) => `'x${pattern}' LIKE '_${pattern.replace("ä", "Ä")}'`);
    expect(await lines(`SELECT ${compared.join(", ")}, 'äb' LIKE 'Ä^', '\\\\ä' LIKE '%\\\\\\\\Ä'`)).toEqual([
      "1 1 1 1 1 0 1",
    ]);
  });

  test("in marks over letters, too", async () => {
    expect(await lines("SELECT 'e\u0301' = 'é', 'cafe\u0301' LIKE '%café', 'cafe\u0301 x' LIKE 'cafe%'")).toEqual([
      "1 1 1",
    ]);
  });

  test("in sorting, with other names, in other tables, and unless the query is a union", async () => {
    const sorted = ["Ägypten", "Apfel", "straße", "Zoo", "Привет"];
    expect(await lines("SELECT word FROM words ORDER BY word")).toEqual(sorted);
    expect(await lines("SELECT word AS name FROM words ORDER BY name DESC")).toEqual(sorted.toReversed());
    expect(await lines("SELECT w.word FROM words w JOIN words v ON w.id = v.id ORDER BY word")).toEqual(sorted);
    expect(await lines("SELECT CONCAT(word, '') AS w FROM words ORDER BY w LIMIT 2")).toEqual(["Ägypten", "Apfel"]);
    expect(await lines("SELECT size FROM words ORDER BY made DESC, word LIMIT 2")).toEqual(["3", "2"]);
    expect((await lines("SELECT word FROM words UNION SELECT name FROM words ORDER BY word")).length).toBe(6);
  });

  test("in results of queries that are used as tables", async () => {
    const inner = "(SELECT word AS w, id AS i, CONCAT(word, '') AS c FROM words) AS x";
    expect(await lines(`SELECT x.w FROM ${inner} WHERE x.w = 'ÄGYPTEN' OR w LIKE 'ПРИ%' ORDER BY x.w`)).toEqual([
      "Ägypten",
      "Привет",
    ]);
    expect(await lines(`SELECT i FROM ${inner} ORDER BY w LIMIT 1`)).toEqual(["3"]);
    expect(
      await lines(
        "SELECT y.unknown FROM (SELECT z.unknown FROM (SELECT 1 AS unknown) AS z) AS y WHERE y.unknown = 'ä'",
      ),
    ).toEqual([]);
  });

  test("in groups and distinct values", async () => {
    await layer.rows(
      "CREATE TABLE groups_of (w VARCHAR(20), n INT)",
      "INSERT INTO groups_of VALUES ('Ärger', 1), ('arger', 2), ('ÄRGER', 3), ('b', 4), (NULL, 5), (NULL, 6)",
    );
    expect(await lines("SELECT w, SUM(n) FROM groups_of GROUP BY w ORDER BY w")).toEqual([" 11", "Ärger 6", "b 4"]);
    expect(await lines("SELECT DISTINCT w FROM groups_of WHERE n < 5 ORDER BY w")).toEqual(["Ärger", "b"]);
    expect(await lines("SELECT COUNT(DISTINCT w) FROM groups_of")).toEqual(["2"]);
    expect(
      await lines("SELECT COUNT(DISTINCT w, 1), COUNT(DISTINCT w, n), COUNT(DISTINCT BINARY w, 1) FROM groups_of"),
    ).toEqual(["2 4 4"]);
    expect(await lines("SELECT w FROM groups_of GROUP BY w HAVING COUNT(*) > 2")).toEqual(["Ärger"]);
  });

  test("in changes", async () => {
    const [, , left] = await layer.run(
      "UPDATE groups_of SET n = 9 WHERE w = 'ärger'",
      "DELETE FROM groups_of WHERE w LIKE 'ÄR%' OR w IS NULL",
      "SELECT w, n FROM groups_of",
    );
    expect(left).toMatchObject({ rows: [{ w: "b", n: "4" }] });
  });
});

describe("binary collations", () => {
  test.each([
    ["code = 'ab'", "3"],
    ["code LIKE 'a%'", "1 3"],
    ["code NOT LIKE 'a%'", "2 4"],
    ["code LIKE '|ab' ESCAPE '|'", "3"],
    ["code LIKE 'A|%' ESCAPE '|'", ""],
    ["word COLLATE utf8mb4_bin LIKE '|Z%' ESCAPE '|'", "1"],
    ["word LIKE BINARY 'z%' ESCAPE '|' OR 'AB' LIKE code", ""],
    ["word = 'zoo' COLLATE utf8mb4_bin", ""],
    ["word COLLATE utf8mb4_bin = 'Zoo'", "1"],
    ["code COLLATE utf8mb4_unicode_ci = 'AB'", "1 2 3"],
    ["code COLLATE utf8mb4_unicode_ci = 'ÄB'", "1 2 3"],
    ["CONVERT('AGYPTEN' USING utf8mb4) COLLATE utf8mb4_general_ci = word", "3"],
    ["word <> CONVERT('AGYPTEN' USING utf8mb4) COLLATE utf8mb4_general_ci", "1 2 4 5"],
    ["BINARY word = 'zoo'", ""],
  ])("%s", async (condition, expected) => {
    expect(await ids(condition)).toBe(expected);
  });

  test("of columns and tables count for unique keys, also after the table was altered", async () => {
    await layer.rows(
      "CREATE TABLE links (slug VARCHAR(50) COLLATE utf8mb4_bin NOT NULL, note VARCHAR(60) DEFAULT '`slug` TEXT COLLATE NOCASE', PRIMARY KEY (slug))",
      "INSERT INTO links (slug) VALUES ('aB1'), ('Ab1')",
      "ALTER TABLE links ADD COLUMN kind VARCHAR(10) BINARY, ADD n INT",
      "INSERT INTO links (slug, kind) VALUES ('AB1', 'X')",
      "CREATE TABLE letters (k VARCHAR(5), UNIQUE KEY k (k)) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
      "INSERT INTO letters VALUES ('a'), ('A')",
    );
    expect(await lines("SELECT COUNT(*), COUNT(kind), MIN(note) FROM links")).toEqual([
      "3 1 `slug` TEXT COLLATE NOCASE",
    ]);
    expect(await lines("SELECT slug FROM links WHERE kind = 'x'")).toEqual([]);
    const [, answer] = await layer.run(
      "ALTER TABLE links MODIFY kind VARCHAR(10) COLLATE utf8mb4_unicode_ci",
      "SELECT slug FROM links WHERE kind = 'x'",
    );
    expect(answer).toMatchObject({ rows: [{ slug: "AB1" }] });
  });

  test("may have names that end with _cs", async () => {
    await layer.rows(
      "CREATE TABLE addresses (id INT, url TEXT CHARACTER SET latin1 COLLATE latin1_general_cs NOT NULL, KEY url (url(150)))",
      "INSERT INTO addresses VALUES (1, 'http://a.example/'), (2, 'http://A.example/')",
    );
    expect(await lines("SELECT id FROM addresses WHERE url = 'http://A.example/'")).toEqual(["2"]);
  });

  test("do not make other unique keys distinguish case", async () => {
    const [, answer] = await layer.run(
      "CREATE TABLE plain (k VARCHAR(5) PRIMARY KEY)",
      "INSERT INTO plain VALUES ('a'), ('A')",
    );
    expect(answer).toMatchObject({ error: expect.stringContaining("Duplicate entry") });
  });
});

test("what can use an index, and what has only numbers, reaches SQLite as it was", async () => {
  for (const [condition, expected] of [
    ["name = 'zoo'", "`name` = 'zoo'"],
    ["name LIKE 'zo%'", "`name` LIKE 'zo%' ESCAPE '\\'"],
    ["id = 5", "`id` = 5"],
    ["id IN (1, 2) AND size = '3'", "`id` IN ( 1 , 2 ) AND `size` = '3'"],
    ["made > '2024-01-01 00:00:00'", "`made` > '2024-01-01 00:00:00'"],
  ] as const) {
    expect((await layer.translated(`SELECT id FROM words WHERE ${condition}`)).at(-1)).toBe(
      `SELECT \`id\` FROM \`words\` WHERE ${expected}`,
    );
  }
});

test("invalid UTF-8 and long texts are compared without an error", async () => {
  const long = "ä".repeat(100_000);
  await layer.rows(`INSERT INTO words (id, word) VALUES (9, '${long}x')`);
  expect(await ids("word LIKE '%Äx'")).toBe("9");
  expect(await lines("SELECT CONCAT(CHAR(255), 'a') LIKE '%A%' AS v")).toHaveLength(1);
});

test.each([
  ["WITH words AS (SELECT word AS path FROM sorted_words) SELECT path FROM words ORDER BY path"],
  [
    `WITH RECURSIVE words AS (SELECT id, CAST(word AS CHAR(90)) AS path FROM sorted_words WHERE id = 1 UNION ALL
    SELECT s.id, s.word FROM sorted_words AS s JOIN words ON s.id = words.id + 1) SELECT path FROM words ORDER BY path`,
  ],
  ["SELECT path FROM (SELECT CONCAT(word, '') AS path FROM sorted_words) AS words ORDER BY path"],
  ["SELECT path FROM (SELECT word AS path FROM sorted_words UNION SELECT 'Kid') AS words ORDER BY path"],
])("names of queries in the place of tables are sorted without regard to case: %s", async (query) => {
  const rows = await layer.rows(
    "DROP TABLE IF EXISTS sorted_words",
    "CREATE TABLE sorted_words (id INT, word TEXT)",
    "INSERT INTO sorted_words VALUES (1, 'Root'), (2, 'A'), (3, 'kid b'), (4, 'Kid')",
    query,
  );
  expect(rows.map(({ path }) => path)).toEqual(["A", "Kid", "kid b", "Root"]);
});

test("texts that were taken for latin1 are repaired, and letters that a character set lacks become question marks", async () => {
  const [row] = await layer.rows(
    "CREATE TABLE garbled (text LONGTEXT)",
    "INSERT INTO garbled VALUES ('fÃ¼r â€žunsâ€œ')",
    "UPDATE garbled SET text = CONVERT(CAST(CONVERT(text USING latin1) AS BINARY) USING utf8mb4)",
    "SELECT text, text <> CONVERT(text USING ascii) AS has_others, CONVERT('日ä' USING latin1) AS kept FROM garbled",
  );
  expect(row).toEqual({ text: "für „uns“", has_others: "1", kept: "?ä" });
});
