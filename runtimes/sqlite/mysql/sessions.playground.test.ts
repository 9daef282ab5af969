import { beforeAll, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
  await layer.rows(
    "CREATE TABLE scores (id INT PRIMARY KEY, name VARCHAR(20), points INT)",
    "INSERT INTO scores VALUES (1, 'Ann', 5), (2, 'Bob', 9), (3, 'Cem', 7)",
  );
});

/** Runs statements on one connection. Returns the rows of the last one, each as its values in a line. */
async function lines(...statements: readonly string[]): Promise<readonly string[]> {
  return (await layer.rows(...statements)).map((row) => Object.values(row).join(" "));
}

describe("a user's variable", () => {
  test("keeps its value for the session, whichever way it was set", async () => {
    expect(
      await lines("SELECT @x := 5", "SET @y = 2, @z := CONCAT('a', 'b')", "SELECT @x + @Y, @z, @`x`, @none"),
    ).toEqual(["7 ab 5 "]);
    expect(await lines("SELECT @x")).toEqual([""]);
  });

  test("is a number in comparisons if it was set to one", async () => {
    expect(await lines("SET @least = 6", "SELECT id FROM scores WHERE points > @least ORDER BY id")).toEqual([
      "2",
      "3",
    ]);
  });

  test("is set anew for each row", async () => {
    const rank =
      "SELECT @rank := @rank + 1 AS place, s.name FROM (SELECT name FROM scores ORDER BY points DESC) s, (SELECT @rank := 0) r";
    expect(await lines(rank)).toEqual(["1 Bob", "2 Cem", "3 Ann"]);
    expect(await lines("SELECT @sum := @sum + points FROM scores JOIN (SELECT @sum := 100) AS start")).toEqual([
      "105",
      "114",
      "121",
    ]);
    await layer.rows("CREATE TABLE ranks (id INT, place INT)", "INSERT INTO ranks VALUES (7, 0), (8, 0)");
    expect(
      await lines("SET @n = 0", "UPDATE ranks SET place = (@n := @n + 1)", "SELECT id, place FROM ranks ORDER BY id"),
    ).toEqual(["7 1", "8 2"]);
  });

  test("is computed once for each row of a query in a table's place", async () => {
    const counted =
      "SELECT name, @n := @n + 1 AS n FROM (SELECT name FROM scores ORDER BY points DESC) s, (SELECT @n := 0) i";
    expect(await lines(`SELECT name, n FROM (${counted}) t WHERE n > 1 AND n < 4`)).toEqual(["Cem 2", "Ann 3"]);
    expect(await lines(`SELECT MIN(name), n > 1 AS rest FROM (${counted}) t GROUP BY rest ORDER BY rest`)).toEqual([
      "Bob 0",
      "Ann 1",
    ]);
  });

  describe("numbers rows in their order", () => {
    beforeAll(async () => {
      await layer.rows(
        "CREATE TABLE steps (id INT PRIMARY KEY, place INT, day DATE, word VARCHAR(9))",
        "INSERT INTO steps VALUES (1, 9, '2024-01-01', 'a'), (2, 9, '2024-03-01', 'c'), (3, 9, '2024-02-01', 'b')",
      );
    });

    test.each([
      ["SELECT @n := @n + 1 AS n, id FROM steps, (SELECT @n := 0) start ORDER BY day DESC", ["1 2", "2 3", "3 1"]],
      [
        "SELECT s.word, @n := @n + 1 AS n FROM steps AS s JOIN (SELECT @n := 5) i WHERE s.id > 1 ORDER BY s.word",
        ["b 6", "c 7"],
      ],
      ["SELECT *, @n := 10 - id AS n FROM steps ORDER BY day DESC LIMIT 1", ["2 9 2024-03-01 c 8"]],
      [
        "SELECT n FROM (SELECT @n := @n + 1 AS n, id FROM steps, (SELECT @n := 0) i ORDER BY day) AS t WHERE id = 2",
        ["3"],
      ],
    ])("%s", async (query, expected) => {
      expect(await lines(query)).toEqual(expected);
    });

    const places = "SELECT place FROM steps ORDER BY id";

    test.each([
      ["UPDATE steps SET place = (@n := @n + 1) ORDER BY day DESC", ["3", "1", "2"]],
      ["UPDATE steps SET place = @n := @n + 10 WHERE id < 3 ORDER BY day DESC LIMIT 1", ["0", "10", "0"]],
      [
        "UPDATE steps AS s JOIN (SELECT id, (@n := @n + 1) AS n FROM steps WHERE word <> '' ORDER BY day) AS t ON s.id = t.id SET s.place = t.n",
        ["1", "3", "2"],
      ],
    ])("in changes: %s", async (update, expected) => {
      expect(await lines("UPDATE steps SET place = 0", "SET @n = 0", update, places)).toEqual(expected);
    });
  });

  test("is compared by =, and only set by := and SET", async () => {
    expect(await lines("SET @n = 2", "SELECT @n = 3, @n = 2, IF(@n = 1, 'one', 'other'), @n")).toEqual(["0 1 other 2"]);
    const numbered = "SELECT CASE WHEN @n = 2 THEN 2 ELSE @n := @n + 1 END AS n FROM scores, (SELECT @n := 0) i";
    expect(await lines(`SELECT n, COUNT(*) FROM (${numbered}) t GROUP BY n ORDER BY n`)).toEqual(["1 1", "2 2"]);
  });

  test("can keep a variable of the server, as dumps do", async () => {
    const [, , , last] = await layer.run(
      "SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO'",
      "SELECT @@SQL_MODE",
      "SET SQL_MODE=@OLD_SQL_MODE",
      "SELECT @@SQL_MODE AS v, @OLD_SQL_MODE AS old",
    );
    expect(last).toMatchObject({ rows: [{ v: "", old: "" }] });
  });

  test("is not what looks like one in texts and names", async () => {
    expect(await lines("SELECT '@x := 1' AS `@y`, \"user@example.com\"")).toEqual(["@x := 1 user@example.com"]);
  });
});

describe("MATCH … AGAINST", () => {
  beforeAll(async () => {
    await layer.rows(
      "CREATE TABLE notes (id INT PRIMARY KEY, title TEXT, body TEXT, FULLTEXT KEY words (title, body))",
      `INSERT INTO notes VALUES (1, 'green apple pie', 'baked'), (2, 'banana split', 'with apples'),
       (3, 'Äpfel', 'grün und apple apple'), (4, 'the cat', NULL)`,
    );
  });

  test.each([
    ["(title, body) AGAINST ('apple')", "1 3"],
    ["(title, body) AGAINST ('APPLE banana' IN NATURAL LANGUAGE MODE)", "1 2 3"],
    ["(title, body) AGAINST ('+apple* -green' IN BOOLEAN MODE)", "2 3"],
    ["(title, body) AGAINST ('+apple +pie' IN BOOLEAN MODE)", "1"],
    ["notes.title AGAINST ('\"banana split\"' IN BOOLEAN MODE)", "2"],
    ["(title) AGAINST ('apfel')", "3"],
    ["(title) AGAINST (CONCAT('ban', 'ana') WITH QUERY EXPANSION)", "2"],
    ["(title, body) AGAINST ('the')", ""],
    ["(title, body) AGAINST ('(((\"\"+-*' IN BOOLEAN MODE)", ""],
    ["(title) AGAINST ('ca. [t] $1 \\\\Q /e' IN BOOLEAN MODE)", ""],
  ])("%s", async (match, expected) => {
    expect((await lines(`SELECT id FROM notes WHERE MATCH ${match} ORDER BY id`)).join(" ")).toBe(expected);
  });

  test("finds each of many words as it finds it alone", async () => {
    const others = Array.from({ length: 30 }, (_, at) => `other${at}`).join(" ");
    for (const term of ["apple", "app*", '"banana split"', '"split banana"', "apple's", "_apple", "-baked", "+pie"]) {
      const match = (search: string) => `MATCH (title, body) AGAINST ('${search.replace("'", "''")}' IN BOOLEAN MODE)`;
      const [alone, among] = [match(term), match(`${others} ${term}`)];
      const rows = await lines(`SELECT ${alone}, ${among} FROM notes`);
      expect(rows.map((row) => new Set(row.split(" ")).size)).toEqual([1, 1, 1, 1]);
    }
  });

  test("ranks rows by how often words are found", async () => {
    const match = "MATCH (title, body) AGAINST ('apple banana')";
    expect(await lines(`SELECT id FROM notes WHERE ${match} ORDER BY ${match} DESC, id`)).toEqual(["3", "1", "2"]);
  });
});
