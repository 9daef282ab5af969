import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";

let layer: MysqlLayer;
beforeAll(async () => {
  layer = await openMysqlLayer();
}, 60_000);
beforeEach(() => layer.rows("DROP TABLE IF EXISTS t", "CREATE TABLE t (id int PRIMARY KEY)"));

/** Returns the ids that are left after the statements, by this connection and by the next one. */
async function idsAfter(...statements: readonly string[]): Promise<string> {
  const ids = "SELECT id FROM t ORDER BY id";
  const list = (rows: readonly Readonly<Record<string, string | null>>[]) => rows.map(({ id }) => id).join();
  const last = (await layer.run(...statements, ids)).at(-1);
  const later = list(await layer.rows(ids));
  expect(last !== undefined && "rows" in last ? list(last.rows) : last).toBe(later);
  return later;
}

describe("an error in a transaction", () => {
  test.each([
    ["a duplicate", "INSERT INTO t VALUES (1)"],
    ["the last of several rows", "INSERT INTO t VALUES (5), (6), (1)"],
    ["an unknown column", "SELECT nothing FROM t"],
    ["no statement at all", "SELEC 1"],
    ["an unknown table", "UPDATE none SET id = 1"],
    ["what SQLite can't do", "CREATE VIEW v AS SELECT 1"],
  ])("undoes its statement only: %s", async (_, failing) => {
    const statements = ["START TRANSACTION", "INSERT INTO t VALUES (1)", failing, "INSERT INTO t VALUES (2)", "COMMIT"];
    expect(await idsAfter(...statements)).toBe("1,2");
  });

  test("leaves the transaction to be rolled back", async () => {
    const statements = [
      "INSERT INTO t VALUES (1)",
      "BEGIN",
      "INSERT INTO t VALUES (2)",
      "INSERT INTO t VALUES (2)",
      "ROLLBACK",
    ];
    expect(await idsAfter(...statements)).toBe("1");
  });

  test("keeps savepoints", async () => {
    const before = [
      "BEGIN",
      "INSERT INTO t VALUES (1)",
      "SAVEPOINT s",
      "INSERT INTO t VALUES (2)",
      "INSERT INTO t VALUES (2)",
    ];
    expect(await idsAfter(...before, "ROLLBACK TO s", "INSERT INTO t VALUES (3)", "COMMIT")).toBe("1,3");
  });

  test("outside a transaction undoes its statement", async () => {
    expect(await idsAfter("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (7), (1)")).toBe("1");
  });
});

describe("autocommit", () => {
  test.each(["SET autocommit=0", "SET @@SESSION.autocommit = OFF", "SET @x = 1, autocommit = 0"])(
    "%s begins a transaction with each statement after the last one's end",
    async (off) => {
      const statements = [
        "INSERT INTO t VALUES (1)",
        "ROLLBACK",
        "INSERT INTO t VALUES (2)",
        "COMMIT",
        "INSERT INTO t VALUES (3)",
      ];
      expect(await idsAfter(off, ...statements, "ROLLBACK")).toBe("2");
    },
  );

  test("commits when it is switched on", async () => {
    expect(await idsAfter("SET autocommit=0", "INSERT INTO t VALUES (1)", "SET autocommit=1", "ROLLBACK")).toBe("1");
    expect(await layer.rows("SET autocommit=0", "SET autocommit=DEFAULT", "SELECT @@autocommit AS a")).toEqual([
      { a: "1" },
    ]);
  });
});

describe("a transaction ends", () => {
  test.each([
    "CREATE TABLE IF NOT EXISTS t (id int)",
    "ALTER TABLE t COMMENT 'x'",
    "BEGIN",
    "LOCK TABLES t WRITE",
    "TRUNCATE TABLE u",
  ])("with %s", async (statement) => {
    await layer.rows("CREATE TABLE IF NOT EXISTS u (id int)");
    expect(await idsAfter("BEGIN", "INSERT INTO t VALUES (1)", statement, "ROLLBACK")).toBe("1");
  });

  test("not with temporary tables, and without effect at the connection's end", async () => {
    const statements = [
      "BEGIN",
      "INSERT INTO t VALUES (1)",
      "CREATE TEMPORARY TABLE tmp (id int)",
      "DROP TEMPORARY TABLE tmp",
    ];
    expect(await idsAfter(...statements, "ROLLBACK")).toBe("");
    await layer.rows("BEGIN", "INSERT INTO t VALUES (1)");
    expect(await layer.rows("SELECT * FROM t")).toEqual([]);
  });
});

test("savepoints are rolled back to, released, replaced by others of the same name, and gone after COMMIT", async () => {
  const write = (id: number) => `INSERT INTO t VALUES (${id})`;
  expect(
    await idsAfter(
      "BEGIN",
      write(1),
      "SAVEPOINT a",
      write(2),
      "SAVEPOINT b",
      write(3),
      "ROLLBACK TO SAVEPOINT B",
      "RELEASE SAVEPOINT a",
      "COMMIT",
    ),
  ).toBe("1,2");
  expect(await idsAfter("BEGIN", "SAVEPOINT a", write(4), "SAVEPOINT a", write(5), "ROLLBACK TO a", "COMMIT")).toBe(
    "1,2,4",
  );
  const answers = await layer.run(
    "BEGIN",
    "SAVEPOINT a",
    "COMMIT",
    "ROLLBACK TO a",
    "SAVEPOINT a",
    "RELEASE SAVEPOINT a",
  );
  expect(answers.map((answer) => "error" in answer && answer.error.includes("SAVEPOINT a does not exist"))).toEqual([
    ...[false, false, false, true, false],
    true,
  ]);
});

test("tables that are locked can be changed, and an error undoes its statement only", async () => {
  const statements = ["LOCK TABLES t WRITE", "INSERT INTO t VALUES (1)", "/*!40000 ALTER TABLE t DISABLE KEYS */"];
  expect(await idsAfter(...statements, "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (2)", "UNLOCK TABLES")).toBe(
    "1,2",
  );
});

test("a snapshot, COMMIT AND CHAIN and levels of isolation are accepted", async () => {
  const statements = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
  ];
  await layer.rows(
    ...statements,
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    "SELECT 1",
    "COMMIT",
    "START TRANSACTION READ ONLY",
  );
  expect(
    await idsAfter("BEGIN", "INSERT INTO t VALUES (1)", "COMMIT AND CHAIN", "INSERT INTO t VALUES (2)", "ROLLBACK"),
  ).toBe("1");
});
