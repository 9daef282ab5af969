/** The layer on the machine's own PHP, whose SQLite may be years older than the one in WebAssembly. */
import { expect, test } from "vitest";
import { openNativeMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

test("letters beyond ASCII, lengths and subtotals work on the machine's SQLite", async () => {
  const layer = await openNativeMysqlLayer();
  const words = [
    "CREATE TABLE words (id int PRIMARY KEY, word varchar(50), amount int)",
    "INSERT INTO words VALUES (1, 'Ägypten', 2), (2, 'привет', 3), (3, 'zoo', 4)",
  ];
  expect(
    await layer.rows(...words, "SELECT id FROM words WHERE word LIKE '%ПРИВ%' OR word = 'agypten' ORDER BY word"),
  ).toEqual([{ id: "1" }, { id: "2" }]);
  expect(
    await layer.value("CONCAT_WS(' ', LENGTH('ä'), CHAR_LENGTH('ä'), IFNULL(LENGTH(NULL), '-'), LENGTH(12.5))"),
  ).toBe("2 1 - 4");
  expect(await layer.rows("SELECT id, SUM(amount) AS n FROM words WHERE id > 1 GROUP BY id WITH ROLLUP")).toEqual([
    { id: "2", n: "3" },
    { id: "3", n: "4" },
    { id: null, n: "7" },
  ]);
  expect(await layer.value("CONCAT_WS('-', RIGHT('äöü', 2), NULL, 7)")).toBe("öü-7");
  const size = "SELECT DATA_LENGTH > 0 AS used FROM information_schema.TABLES WHERE TABLE_NAME = 'words'";
  expect(await layer.rows(size)).toEqual([{ used: "1" }]);
});
