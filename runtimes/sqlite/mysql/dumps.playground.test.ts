/** Dumps as mariadb-dump, MySQL 8 and phpMyAdmin write them, statement by statement, as plugins restore them. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAssetStore } from "../../assets/store.ts";
import { createTemplateStore } from "../../playground/templates/template.ts";
import { type MariaDb, startMariaDb } from "../../playground/testing/mariadb.ts";
import { type MysqlLayer, openMysqlLayer } from "../../playground/testing/mysqlLayer.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import { databaseFile } from "../databaseFiles.ts";
import { dump } from "../dump/dump.ts";

let maria: MariaDb;
let folder: string;
const source = "source";

/** Tables of plugins, with what WordPress's own lack. */
const odd = String.raw`
CREATE TABLE wp_odd (
  id bigint(20) unsigned NOT NULL AUTO_INCREMENT, v varbinary(64) DEFAULT NULL, b blob, f bit(1) NOT NULL DEFAULT b'0',
  e enum('a','it''s') NOT NULL DEFAULT 'a', s set('x','y') DEFAULT NULL, d decimal(10,2) NOT NULL DEFAULT 9.50,
  t time DEFAULT NULL, y year(4) DEFAULT NULL, made datetime DEFAULT NULL,
  seen timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  j longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(j)),
  l varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'x',
  u char(36) COLLATE utf8mb4_bin DEFAULT NULL COMMENT 'it''s; a "comment"', n double DEFAULT NULL,
  PRIMARY KEY (id), UNIQUE KEY u (u), KEY e (e,d), FULLTEXT KEY ft (j)
) ENGINE=InnoDB AUTO_INCREMENT=50 COMMENT='odd; -- table';
INSERT INTO wp_odd (id,v,b,f,e,s,d,t,y,made,seen,j,l,u,n) VALUES
  (1,x'004110',x'000142',b'1','it''s','x,y',-12.34,'10:11:12',2024,'2024-02-29 23:59:59','2020-01-01 00:00:00','{"a":"ü"}','ä','Abc',1.5),
  (2,NULL,'',b'0','a','',3.25,NULL,0,NULL,'2020-01-01 00:00:00',NULL,NULL,'abd',-0.25),
  (7,'text','quote '' " \\ back \n newline \0 nul',b'1','a',NULL,1.5,NULL,NULL,'0000-00-00 00:00:00','2020-01-01 00:00:00','[]','','z 🦄',0);
CREATE TABLE wp_a_first (id int(11) NOT NULL, odd bigint(20) unsigned DEFAULT NULL, PRIMARY KEY (id), KEY odd (odd),
  CONSTRAINT of_odd FOREIGN KEY (odd) REFERENCES wp_odd (id) ON DELETE CASCADE) ENGINE=InnoDB;
INSERT INTO wp_a_first VALUES (1,7),(2,NULL);
INSERT INTO wp_posts (post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered) VALUES
  ('Привет; -- мир', 'line\nbreak; \r\n '' " \\ /* x */ 🦄', '', '', '', ''), ('_binary ''x''', 'DELIMITER ;;', '', '', '', '');
`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "dumps-"));
  const template = await createTemplateStore(createAssetStore({ folder: sharedAssets })).get({
    locale: "en_US",
    multisite: null,
  });
  const file = path.join(folder, "wordpress.sql");
  await dump(path.join(template.folder, "database", databaseFile), file);
  maria = await startMariaDb();
  await maria.import(file, source);
  await maria.query(source, `SET SESSION sql_mode = ''; ${odd}`);
}, 120_000);
afterAll(async () => {
  await maria[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** The statements of a dump: lines end with a semicolon only at the end of one. */
function statementsOf(text: string): readonly string[] {
  return text
    .replace(/^--.*$/gm, "")
    .split(/;$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** All rows of a table, as hexadecimal digits of their texts. */
async function contentOf(layer: MysqlLayer, table: string) {
  const columns = await maria.query(
    source,
    `SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = '${source}' AND TABLE_NAME = '${table}' ORDER BY ORDINAL_POSITION`,
  );
  const listed = columns.map(([name, type]) => {
    if (type !== undefined && type !== null && /int|bit|decimal|double|year/.test(type))
      return `CAST(${name} * 100 AS SIGNED)`;
    return type?.endsWith("blob") || type === "varbinary" ? `HEX(${name})` : `HEX(CONVERT(${name} USING utf8mb4))`;
  });
  const sql = `SELECT CONCAT_WS('|', ${listed.map((value) => `IFNULL(${value}, '-')`).join()}) AS r FROM ${table} ORDER BY r`;
  const theirs = (await maria.query(source, sql)).map(([row]) => row);
  return { theirs, ours: (await layer.rows(sql)).map(({ r }) => r ?? null) };
}

describe("mariadb-dump", () => {
  test.each([
    ["by default", []],
    ["with a statement for each row", ["--skip-extended-insert", "--complete-insert"]],
    ["with bytes in hexadecimal digits", ["--hex-blob", "--order-by-primary"]],
    ["replacing rows, and without commits", ["--replace", "--no-autocommit", "--single-transaction"]],
    ["for other servers", ["--compatible=no_key_options"]],
  ])(
    "%s is restored without an error, and has the same rows",
    async (_, options) => {
      const layer = await openMysqlLayer();
      const statements = statementsOf(await maria.dump(source, options));
      const answers = await layer.run(...statements);
      expect(
        answers.flatMap((answer, at) => ("error" in answer ? [`${answer.error}: ${statements[at]}`] : [])),
      ).toEqual([]);
      const tables = (await maria.query(source, "SHOW TABLES")).map(([name]) => name ?? "");
      expect((await layer.rows("SHOW TABLES")).flatMap((row) => Object.values(row))).toEqual(tables);
      for (const table of tables) {
        const { ours, theirs } = await contentOf(layer, table);
        expect(ours, table).toEqual(theirs);
      }
      const [created] = await layer.rows("SHOW CREATE TABLE wp_odd");
      expect(created?.["Create Table"]).toContain(
        "`u` char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL COMMENT",
      );
      expect(created?.["Create Table"]).toContain("AUTO_INCREMENT=50");
    },
    60_000,
  );
});

test("what MySQL 8 and phpMyAdmin write is restored", async () => {
  const layer = await openMysqlLayer();
  const answers = await layer.run(
    "/*!50503 SET NAMES utf8mb4 */",
    'SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO,NO_AUTO_CREATE_USER"',
    "SET AUTOCOMMIT = 0",
    "START TRANSACTION",
    "/*!40000 DROP DATABASE IF EXISTS `other`*/",
    "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `wordpress` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */",
    "USE `wordpress`",
    "/*!50503 SET character_set_client = utf8mb4 */",
    `CREATE TABLE \`p\` (
      \`id\` int UNSIGNED NOT NULL, \`v\` varbinary(16) DEFAULT NULL, \`t\` varchar(20) COLLATE utf8mb4_0900_ai_ci DEFAULT (_utf8mb4'it'),
      \`k\` varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs NOT NULL DEFAULT 'x'
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci`,
    "LOCK TABLES `p` WRITE",
    "/*!40000 ALTER TABLE `p` DISABLE KEYS */",
    "INSERT INTO `p` VALUES (1,_binary 'a\\0b',_utf8mb4'ä','y'),(2,NULL,DEFAULT,DEFAULT)",
    "INSERT INTO `p` (`id`, `v`) VALUES (3, 0x00ff), (4, _binary 0x41)",
    "/*!40000 ALTER TABLE `p` ENABLE KEYS */",
    "UNLOCK TABLES",
    "ALTER TABLE `p` ADD PRIMARY KEY (`id`), ADD KEY `k` (`k`)",
    "ALTER TABLE `p` MODIFY `id` int UNSIGNED NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=12",
    "COMMIT",
    "INSERT INTO `p` (`k`) VALUES ('z')",
    "COMMIT",
  );
  expect(answers.filter((answer) => "error" in answer)).toEqual([]);
  expect(await layer.rows("SELECT id, HEX(v) AS v, t, k FROM p ORDER BY id")).toEqual([
    { id: "1", v: "610062", t: "ä", k: "y" },
    { id: "2", v: null, t: "it", k: "x" },
    { id: "3", v: "00FF", t: "it", k: "x" },
    { id: "4", v: "41", t: "it", k: "x" },
    { id: "12", v: null, t: "it", k: "z" },
  ]);
  const [created] = await layer.rows("SHOW CREATE TABLE p");
  expect(created?.["Create Table"]).toMatch(/`k` varchar\(20\) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL/);
  expect(created?.["Create Table"]).toContain("COLLATE=utf8mb4_unicode_520_ci");
}, 60_000);

test("statements that dumps compose are run", async () => {
  const layer = await openMysqlLayer();
  const answers = await layer.run(
    "SELECT COUNT(*) INTO @has_it FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'performance_schema'",
    "SET @text = IF (@has_it, 'SELECT 1', 'SELECT ? + @has_it AS n')",
    "PREPARE s FROM @text",
    "SET @two = 2",
    "EXECUTE s USING @two",
    "PREPARE T FROM 'CREATE TABLE made (a int)'",
    "EXECUTE t",
    "DEALLOCATE PREPARE s",
    "EXECUTE s",
    "SELECT 1, 'x' INTO @a, @b",
    "SELECT @a AS a, @b AS b, (SELECT COUNT(*) FROM made) AS made",
    "SELECT 1 UNION SELECT 2 INTO @a",
  );
  expect(answers[4]).toMatchObject({ rows: [{ n: "2" }] });
  expect(answers[8]).toMatchObject({ error: expect.stringContaining("Unknown prepared statement handler (s)") });
  expect(answers[10]).toMatchObject({ rows: [{ a: "1", b: "x", made: "0" }] });
  expect(answers.filter((answer) => "error" in answer)).toHaveLength(2);
});

test("tens of thousands of short rows are inserted by one statement, all of them or none", async () => {
  const layer = await openMysqlLayer();
  const rows = Array.from({ length: 30_000 }, (_, at) => `(${at + 1},'(;\\'${at},', ${at % 7})`);
  const insert = `INSERT INTO many (n, t, z) VALUES ${rows.join(",")}`;
  const [, inserted, state] = await layer.run(
    "CREATE TABLE many (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT, t VARCHAR(20), z INT, UNIQUE KEY n (n))",
    `${insert} ON DUPLICATE KEY UPDATE z = VALUES(z)`,
    "SELECT COUNT(*) AS count, MIN(n) AS first, MAX(n) AS last, MAX(t) AS text FROM many",
  );
  expect(inserted).toEqual({ rows: [], affected: 30_000 });
  expect(state).toMatchObject({ rows: [{ count: "30000", first: "1", last: "30000", text: "(;'9999," }] });
  const [, failed, left, doubled, after] = await layer.run(
    "DELETE FROM many WHERE n < 29000",
    insert,
    "SELECT COUNT(*) AS count FROM many",
    `${insert}; DROP TABLE many`,
    "SELECT COUNT(*) AS count FROM many",
  );
  expect(failed).toMatchObject({ error: expect.stringContaining("Duplicate entry") });
  expect([left, after]).toMatchObject([{ rows: [{ count: "1001" }] }, { rows: [{ count: "1001" }] }]);
  expect(doubled).toMatchObject({ error: expect.stringContaining("more than one statement") });
}, 120_000);
