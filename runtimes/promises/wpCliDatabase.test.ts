/** WP-CLI's commands for databases, which start mysql programs elsewhere. */
import { chown, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../owner.ts";
import type { Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

const timeout = 240_000;

let world: SiteWorld;
let site: Site;
beforeAll(async () => {
  world = await openWorld();
  site = await world.site({ title: "Garden" });
}, timeout);
afterAll(() => world.close());

/** Runs a command. Returns its output, and its errors after an exclamation mark. */
async function wp(...argv: readonly string[]): Promise<string> {
  const command = { phpVersion: world.phpVersion, argv, seconds: 60 };
  const { signal } = new AbortController();
  const { stdout, stderr } = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  return stdout.text + (stderr.text === "" ? "" : `!${stderr.text}`);
}

const query = (sql: string, ...options: readonly string[]) => wp("db", "query", sql, ...options);

async function putDump(name: string, sql: string): Promise<void> {
  const owner = ownerOf(site.environment.number);
  await writeFile(path.join(site.documentRoot, name), sql);
  if (process.getuid?.() === 0) await chown(path.join(site.documentRoot, name), owner, owner);
}

test("queries print rows as mysql does, separated by tabs", { timeout }, async () => {
  expect(await query("SELECT 'a;b\tc\n\\\\d' AS x, NULL AS y; -- a comment; with a semicolon\nSELECT 'é' AS z;")).toBe(
    "x\ty\na;b\\tc\\n\\\\d\tNULL\nz\né\n",
  );
  expect(await query("SELECT COUNT(*) FROM wp_users", "--skip-column-names")).toBe("1\n");
  expect(await query("UPDATE wp_options SET option_value = 'Meadow' WHERE option_name = 'blogname'")).toBe("");
  expect(await wp("option", "get", "blogname")).toBe("Meadow\n");
  expect(await query("/* nothing */ ;;")).toBe("");
});

test("an error in SQL is one line, and ends the command", { timeout }, async () => {
  const answer = await query("SELECT 1; SELECT * FROM nothing; SELECT 2");
  expect(answer).toMatch(/^1\n1\n!Error: .*nothing.*\n$/);
  expect(await query("SELEC 'unclosed")).toMatch(/^!Error: .+\n$/);
});

test("an export restores tables and values as they were", { timeout }, async () => {
  const odd = "it''s \"odd\" \\\\ line\\nbreak; tab\\t 😀 %s";
  await query(
    `CREATE TABLE wp_odd (id int NOT NULL, word varchar(99), bytes longblob, PRIMARY KEY (id));
     INSERT INTO wp_odd VALUES (1, '${odd}', x'ff00fe'), (2, NULL, NULL), (3, '', '')`,
  );
  const rows = "SELECT id, word, HEX(bytes) AS bytes FROM wp_odd ORDER BY id";
  const before = await query(rows);
  expect(before).toContain("FF00FE");
  expect(await wp("db", "export", "all.sql", "--porcelain")).toBe("all.sql\n");
  await query("DELETE FROM wp_odd; INSERT INTO wp_odd VALUES (9, 'later', NULL); DROP TABLE wp_links");
  expect(await wp("db", "import", "all.sql")).toBe("Success: Imported from 'all.sql'.\n");
  expect(await query(rows)).toBe(before);
  expect(await query("SELECT COUNT(*) FROM wp_links", "--skip-column-names")).toBe("0\n");
  const one = await wp("db", "export", "-", "--tables=wp_odd");
  expect(one).toContain("INSERT INTO `wp_odd`");
  expect(one).not.toContain("wp_posts");
  const text = await readFile(path.join(site.documentRoot, "all.sql"), "utf8");
  expect(text).toMatch(/-- Dump completed on .+\n$/);
});

test("an import reads statements over several lines, and names the one that fails", { timeout }, async () => {
  const lines = "x;\n".repeat(20_000);
  await putDump(
    "dump.sql",
    `-- A dump;\n/*!40101 SET NAMES utf8mb4 */;\nDROP TABLE IF EXISTS wp_lines;\nCREATE TABLE wp_lines (\n  t longtext\n);
     INSERT INTO wp_lines VALUES ('${lines}'); INSERT INTO wp_lines\n VALUES ('a;b')`,
  );
  expect(await wp("db", "import", "dump.sql")).toBe("Success: Imported from 'dump.sql'.\n");
  expect(await query("SELECT LENGTH(t) AS l FROM wp_lines", "--skip-column-names")).toBe("60000\n3\n");
  await putDump("bad.sql", "INSERT INTO wp_lines VALUES ('kept');\nINSERT INTO wp_no VALUES (1);\n");
  expect(await wp("db", "import", "bad.sql")).toMatch(/^!Error: Statement 2: .*wp_no.*\n$/);
  expect(await query("SELECT t FROM wp_lines WHERE t = 'kept'", "--skip-column-names")).toBe("kept\n");
  expect(await wp("db", "import", "none.sql")).toBe("!Error: none.sql can't be read. Name a file of the site.\n");
});
