/**
 * Downloads of real WordPress, moved to another server: the zip is unpacked with `unzip`, and its database is imported
 * into a real MariaDB with the `mysql` client.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { type MariaDb, startMariaDb } from "@sitewright/runtimes/playground/testing/mariadb.ts";
import { siteTables } from "@sitewright/runtimes/sqlite/tables.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { downloadRequest, zipOf } from "../../testing/downloads.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";

const run = promisify(execFile);

let world: World;
let maria: MariaDb;
/** The unpacked download. */
let folder: string;
let site: Site;
beforeAll(async () => {
  [world, maria, folder] = await Promise.all([
    makePlaygroundWorld(),
    startMariaDb(),
    mkdtemp(join(tmpdir(), "taken-")),
  ]);
  site = await liveSite(world);
  await addData();
  await addFiles();
  await moveAway();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await maria?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Site = Awaited<ReturnType<typeof liveSite>>;

async function rootOf({ environment }: Site): Promise<string> {
  const layout = await world.services.runtime.layout(environment);
  if (layout === null) throw new Error("The environment is gone");
  return layout.documentRoot;
}

/** Runs code in the site, and returns its output. */
async function runPhp(site: Site, code: string): Promise<string> {
  await writeFile(join(await rootOf(site), "script.php"), `<?php require 'wp-load.php'; ${code}`);
  const { hostname } = new URL(site.address);
  const options = { host: "127.0.0.1", port: world.facts.edgePort, path: "/script.php", headers: { host: hostname } };
  return new Promise((resolve, reject) => {
    get(options, (response) => resolve(text(response))).on("error", reject);
  });
}

function databaseOf({ environment }: Site): DatabaseSync {
  const file = join("environments", environment.id, "current", "database", "wordpress.sqlite");
  return new DatabaseSync(join(world.facts.dataFolder, file));
}

/** Downloads and unpacks the site, and imports its database under the name `moved`. */
async function moveAway(): Promise<void> {
  const request = await downloadRequest(world, site);
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row.public_error).toBeNull();
  await run("unzip", ["-q", zipOf(world, request.input.id), "-d", folder]);
  await maria.import(join(folder, "database.sql"), "moved");
}

/** Compares all columns with texts or bytes between SQLite and MariaDB, in sorted order. */
async function columnsOf(database: DatabaseSync, name: string, table: string, columns: readonly string[]) {
  const found = [];
  for (const column of columns) {
    const numbers = database.prepare(
      `SELECT count(*) AS count FROM "${table}" WHERE typeof("${column}") NOT IN ('text', 'blob', 'null')`,
    );
    if (numbers.get()?.count !== 0) continue;
    const here = database
      .prepare(`SELECT hex(CAST("${column}" AS BLOB)) AS value FROM "${table}" WHERE "${column}" <> '' ORDER BY 1`)
      .all()
      .map(({ value }) => value);
    const sql = `SELECT HEX(\`${column}\`) FROM \`${table}\` WHERE \`${column}\` IS NOT NULL AND LENGTH(\`${column}\`) > 0`;
    const there = (await maria.query(name, sql)).map(([value]) => value).toSorted();
    found.push({
      column: `${table}.${column}`,
      isSame: JSON.stringify(here) === JSON.stringify(there),
      rows: here.length,
    });
  }
  return found;
}

const content = `
$posts = array( "It's \\"quoted\\" and \\\\ back \\\\' slashed", "🦄 👩‍👩‍👧 𝔘 日本 ünï", "line\\nbreak\\r\\n\\ttab", "'); DROP TABLE wp_posts; --" );
foreach ( $posts as $post ) wp_insert_post( wp_slash( array( 'post_title' => $post, 'post_content' => $post, 'post_status' => 'publish' ) ) );
class Secret { private $hidden = "q\\"';\\\\ 🦄"; protected $kept = array( 1, 1.5, null, true ); }
update_option( 'with_object', array( 'é' => new Secret, 'url' => home_url( '/x' ) ) );
update_option( 'with_nul', "a\\0b" );
$charset = $wpdb->get_charset_collate();
$wpdb->query( "CREATE TABLE {$wpdb->prefix}shop (
  id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  sku varchar(191) NOT NULL DEFAULT '',
  price decimal(12,4) NOT NULL DEFAULT '0.0000',
  kind enum('simple','it''s','ü') NOT NULL DEFAULT 'simple',
  file longblob,
  made datetime NOT NULL DEFAULT '0000-00-00 00:00:00',
  touched timestamp NULL DEFAULT CURRENT_TIMESTAMP,
  flags tinyint(1) NOT NULL DEFAULT '1',
  weight double DEFAULT NULL,
  notes longtext,
  PRIMARY KEY  (id),
  UNIQUE KEY sku (sku),
  KEY notes (notes(191)),
  KEY kind_made (kind,made)
) $charset" );
$wpdb->query( "CREATE TABLE {$wpdb->prefix}pairs (
  one bigint(20) unsigned NOT NULL, two varchar(100) NOT NULL, place int(11) NOT NULL DEFAULT '0',
  PRIMARY KEY  (one,two)
) $charset" );
$wpdb->insert( $wpdb->prefix . 'shop', array( 'sku' => 'a-1', 'price' => '12.3456', 'kind' => "it's", 'file' => "\\x01\\x02abc", 'notes' => null, 'weight' => 0.1 ) );
$wpdb->insert( $wpdb->prefix . 'shop', array( 'sku' => 'é', 'price' => '0.5', 'made' => '2026-02-28 23:59:59', 'notes' => str_repeat( "long'\\\\ ", 200 ) ) );
$wpdb->insert( $wpdb->prefix . 'shop', array( 'sku' => 'e' ) );
$wpdb->query( "INSERT INTO {$wpdb->prefix}shop (id, sku) VALUES (9223372036854775806, 'last')" );
$wpdb->query( "DELETE FROM {$wpdb->prefix}shop WHERE sku = 'last'" );
$wpdb->query( "INSERT INTO {$wpdb->prefix}pairs VALUES (1,'a',1),(1,'b',2),(2,'a',3)" );
echo $wpdb->last_error === '' ? 'written' : $wpdb->last_error;
`;

/** Adds enough rows for several INSERT statements. */
function fillLarge(database: DatabaseSync): void {
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, ?, ?)");
  for (let row = 0; row < 20_000; row += 1) insert.run(row, "_large", `${row} it's "large" 🦄 \\ ${"x".repeat(150)}`);
  database.exec("COMMIT");
}

async function addData(): Promise<void> {
  expect(await runPhp(site, content)).toBe("written");
  const database = databaseOf(site);
  fillLarge(database);
  const broken = Buffer.from([0x62, 0xff, 0xfe, 0x00, 0x27, 0xc3]);
  database
    .prepare("INSERT INTO wp_options (option_name, option_value) VALUES ('with_bytes', CAST(? AS TEXT))")
    .run(broken);
  database.prepare("UPDATE wp_shop SET file = ? WHERE sku = 'e'").run(broken);
  database.close();
}

async function addFiles(): Promise<void> {
  const root = await rootOf(site);
  await writeFile(join(root, "wp-content", "ünï 🦄.txt"), "kept");
  await mkdir(join(root, "wp-content", "mu-plugins", "own"));
  await writeFile(join(root, "wp-content", "mu-plugins", "own.php"), "<?php");
  await writeFile(join(root, "wp-admin", "nobody-sees.txt"), "x");
}

test("MariaDB gets all data, byte by byte, in tables with MySQL's types", async () => {
  const database = databaseOf(site);
  const tables = siteTables(database);
  const theirs = await maria.query("moved", "SHOW TABLES");
  expect(theirs.map(([name]) => name)).toEqual(tables.map(({ name }) => name));
  const rows = [];
  const columns = [];
  for (const { name, columns: all } of tables) {
    const here = database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.count;
    const [there] = await maria.query("moved", `SELECT COUNT(*) FROM \`${name}\``);
    rows.push({ name, here: String(here), there: there?.[0] });
    columns.push(...(await columnsOf(database, "moved", name, all)));
  }
  expect(rows.filter(({ here, there }) => here !== there)).toEqual([]);
  expect(rows.find(({ name }) => name === "wp_postmeta")?.there).toMatch(/^200\d\d$/);
  expect(columns.filter(({ isSame }) => !isSame)).toEqual([]);
  expect(columns.filter((column) => column.rows > 0).length).toBeGreaterThan(40);

  const shop = (await maria.query("moved", "SHOW CREATE TABLE wp_shop"))[0]?.[1]?.replaceAll("\\n", "\n");
  for (const line of [
    "`id` bigint(20) unsigned NOT NULL AUTO_INCREMENT",
    "`price` decimal(12,4) NOT NULL DEFAULT 0.0000",
    "`kind` enum('simple','it''s','ü') NOT NULL DEFAULT 'simple'",
    "`file` longblob DEFAULT NULL",
    "`made` datetime NOT NULL DEFAULT '0000-00-00 00:00:00'",
    "`touched` timestamp NULL DEFAULT current_timestamp()",
    "`flags` tinyint(1) NOT NULL DEFAULT 1",
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `sku` (`sku`)",
    "KEY `notes` (`notes`(191))",
    "KEY `kind_made` (`kind`,`made`)",
    "AUTO_INCREMENT=9223372036854775807",
  ]) {
    expect(shop).toContain(line);
  }
  expect(await maria.query("moved", "SELECT sku, price, kind, made, weight FROM wp_shop ORDER BY id")).toEqual([
    ["a-1", "12.3456", "it's", "0000-00-00 00:00:00", "0.1"],
    ["é", "0.5000", "simple", "2026-02-28 23:59:59", null],
    ["e", "0.0000", "simple", "0000-00-00 00:00:00", null],
  ]);
  expect((await maria.query("moved", "SHOW CREATE TABLE wp_pairs"))[0]?.[1]).toContain("PRIMARY KEY (`one`,`two`)");
  const posts = (await maria.query("moved", "SHOW CREATE TABLE wp_posts"))[0]?.[1];
  expect(posts).toContain("KEY `post_name` (`post_name`(191))");
  // Ids continue where they were.
  await maria.query("moved", "INSERT INTO wp_postmeta (post_id, meta_key) VALUES (1, 'next')");
  const [next] = await maria.query("moved", "SELECT MAX(meta_id) FROM wp_postmeta");
  const last = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'wp_postmeta'").get()?.seq;
  expect(next?.[0]).toBe(String(Number(last) + 1));
  expect(await readFile(join(folder, "README.txt"), "utf8")).toContain(
    "`wp_options`.`option_value` is longblob instead of longtext, because it contains bytes that are not UTF-8.",
  );
  database.close();
}, 300_000);

test("the files are a complete WordPress for MySQL, without files of Sitewright", async () => {
  const root = await rootOf(site);
  const target = join(folder, "public");
  const readAll = async (place: string) => (await readdir(place, { recursive: true })).toSorted();
  const own = (await readAll(root)).filter((name) => !/^wp-(admin|includes)(\/|$)/.test(name));
  const there = (await readAll(target)).filter((name) => !/^wp-(admin|includes)(\/|$)/.test(name));
  const removed = /^wp-content\/(db\.php|mu-plugins\/sqlite-database-integration(\/|$))/;
  expect(there).toEqual(own.filter((name) => !removed.test(name)));
  // The driver itself is shared by all sites.
  const place = "wp-content/mu-plugins/sqlite-database-integration";
  expect(own.filter((name) => removed.test(name)).toSorted()).toEqual(["wp-content/db.php", place]);
  expect(await readFile(join(target, "wp-content", "ünï 🦄.txt"), "utf8")).toBe("kept");
  const { overlays = {} } = (await world.services.runtime.layout(site.environment)) ?? {};
  for (const [name, place] of Object.entries(overlays))
    expect(await readAll(join(target, name))).toEqual(await readAll(place));
  const config = await readFile(join(target, "wp-config.php"), "utf8");
  expect(config).toContain("define( 'DB_NAME', 'database_name_here' );");
  expect(config).not.toContain("sqlite");
  expect(await readFile(join(root, "wp-config.php"), "utf8")).toContain("sqlite");
  expect(await readdir(join(root, "wp-content"))).toContain("db.php");
}, 300_000);
