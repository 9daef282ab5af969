import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tablePrefixOf } from "../../site/tablePrefix.ts";
import { readCronEvents, readEventList } from "./cronEvents.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "planned-"));
});
afterAll(() => rm(folder, { recursive: true }));

const list = `a:3:{i:1700000060;a:1:{s:4:"late";a:1:{s:32:"40cd750bba9870f18aada2478b24840a";a:2:{s:8:"schedule";b:0;s:4:"args";a:0:{}}}}i:1700000000;a:1:{s:5:"müde";a:1:{s:1:"x";a:3:{s:8:"schedule";s:6:"hourly";s:4:"args";a:2:{i:0;s:4:"a;}"";i:1;a:1:{s:1:"k";i:7;}}s:8:"interval";i:3600;}}}s:7:"version";i:2;}`;

function events(text: string) {
  return readEventList(Buffer.from(text));
}

test("reads WordPress's list, soonest first, with recurrence and arguments", () => {
  expect(events(list)).toEqual([
    {
      hook: "müde",
      dueAt: 1_700_000_000_000,
      recurrence: "hourly",
      intervalSeconds: 3_600,
      args: ['a;}"', { k: 7 }],
    },
    { hook: "late", dueAt: 1_700_000_060_000, recurrence: null, intervalSeconds: null, args: [] },
  ]);
});

test.each([
  ["an empty list", 'a:1:{s:7:"version";i:2;}'],
  ["a value that is not a list", "b:0;"],
  ["a text", 's:1:"x";'],
  ["invalid hooks", 'a:1:{i:1700000000;s:1:"x";}'],
  ["invalid events", 'a:1:{i:1700000000;a:1:{s:1:"x";i:5;}}'],
  ["invalid times", 'a:2:{i:-5;a:0:{}s:20:"17000000000000000000";a:0:{}}'],
])("%s: there are no events", (_, text) => {
  expect(events(text)).toEqual([]);
});

test("an event may lack all optional fields", () => {
  const [event] = events('a:1:{i:5;a:1:{s:1:"x";a:1:{s:1:"k";N;}}}');
  expect(event).toEqual({ hook: "x", dueAt: 5_000, recurrence: null, intervalSeconds: null, args: [] });
});

test("arguments may contain every kind of serialised value", () => {
  const object = 'O:3:"Foo":2:{s:9:"__proto__";i:1;s:6:"\0Foo\0a";s:1:"b";}';
  const values = [
    object,
    "i:123456789012345678901;",
    "d:INF;",
    "d:1.5;",
    "N;",
    "b:1;",
    'C:3:"Bar":2:{:}}',
    'E:7:"Day:Mon";',
    "R:3;",
  ];
  const args = `a:${values.length}:{${values.map((value, index) => `i:${index};${value}`).join("")}}`;
  const [event] = events(`a:1:{i:5;a:1:{s:1:"x";a:1:{s:1:"k";a:2:{s:8:"schedule";b:0;s:4:"args";${args}}}}}`);
  const [first, ...rest] = event?.args ?? [];
  expect(Object.entries(Object(first))).toEqual([
    ["__proto__", 1],
    ["a", "b"],
  ]);
  expect(rest).toEqual(["123456789012345678901", "INF", 1.5, null, true, null, "Day:Mon", null]);
});

describe("reports a damaged list", () => {
  test.each([
    "",
    "nonsense",
    list.slice(0, 100),
    list.replace("s:4:", "s:999:"),
    "a:999999999:{",
    "a:1:{".repeat(50_000),
  ])("%.30s", (text) => {
    expect(() => events(text)).toThrow("damaged");
  });
});

let made = 0;
function database(sql: string): string {
  made += 1;
  const file = path.join(folder, `${made}.sqlite`);
  const opened = new DatabaseSync(file);
  opened.exec(sql);
  opened.close();
  return file;
}

function options(table: string, cron: string | null): string {
  const row = cron === null ? "" : `INSERT INTO ${table} VALUES ('cron', '${cron.replaceAll("'", "''")}');`;
  return `CREATE TABLE ${table} (option_name TEXT, option_value TEXT); ${row}`;
}

const one = 'a:1:{i:5;a:1:{s:1:"x";a:1:{s:1:"k";a:0:{}}}}';
const blogs = (rows: string) =>
  `CREATE TABLE wp_blogs (blog_id INTEGER, domain TEXT, path TEXT, archived INTEGER, spam INTEGER, deleted INTEGER);
   INSERT INTO wp_blogs VALUES ${rows};`;

function read(sql: string, prefix = "wp_") {
  return readCronEvents({ file: database(sql), prefix });
}

test("reads tables with any prefix", () => {
  expect(read(options("my_options", one), "my_").sites).toMatchObject([{ place: null, events: [{ hook: "x" }] }]);
  expect(read(options("wp_options", null))).toEqual({ sites: [{ place: null, events: [] }], problem: null });
});

test("reads all sites of a network, except closed and incomplete ones", () => {
  const rows =
    "(1,'a.test','/',0,0,0), (2,'a.test','/two/',0,0,0), (3,'a.test','/3/',1,0,0), (4,'a.test','/4/',0,0,0), (5,'b test\r\n','/',0,0,0)";
  const tables = [options("wp_options", null), options("wp_2_options", one), options("wp_3_options", one)].join("");
  expect(read(blogs(rows) + tables).sites.map(({ place, events }) => [place, events.length])).toEqual([
    [{ host: "a.test", path: "/" }, 0],
    [{ host: "a.test", path: "/two/" }, 1],
  ]);
});

test("a site with a damaged list does not hide the other sites' events", () => {
  const rows = "(1,'a.test','/',0,0,0), (2,'a.test','/two/',0,0,0)";
  const found = read(blogs(rows) + options("wp_options", "broken") + options("wp_2_options", one));
  expect(found.sites.map(({ place }) => place?.path)).toEqual(["/two/"]);
  expect(found.problem).toBe("a.test/: WordPress's list of WP-Cron events (the option `cron`) is damaged.");
});

describe("reports unexpected content, without reading endlessly", () => {
  test.each([
    ["no tables", "CREATE TABLE other (x)", "no WordPress table wp_options"],
    [
      "a view that never ends",
      "CREATE VIEW wp_options AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT 'cron' AS option_name, x AS option_value FROM n",
      "no WordPress table wp_options",
    ],
    [
      "a generated column",
      "CREATE TABLE wp_options (option_name TEXT, option_value TEXT AS (hex(zeroblob(9))))",
      "no WordPress table wp_options",
    ],
    [
      "a huge list",
      `${options("wp_options", null)} INSERT INTO wp_options VALUES ('cron', zeroblob(9000000))`,
      "too long",
    ],
    [
      "a value that is not text",
      `${options("wp_options", null)} INSERT INTO wp_options VALUES ('cron', x'ff00')`,
      "damaged",
    ],
  ])("%s", (_, sql, word) => {
    expect(read(sql).problem).toContain(word);
  });
});

test("an empty file is not a WordPress database", async () => {
  const file = path.join(folder, "empty.sqlite");
  await writeFile(file, "");
  expect(readCronEvents({ file, prefix: "wp_" }).problem).toContain("no WordPress table wp_options");
});

test.each([
  ["<?php\n$table_prefix = 'wp_';\n", "wp_"],
  ['<?php\n  $table_prefix  = "shop7_";', "shop7_"],
  ["<?php\n// $table_prefix = 'old_';\n$table_prefix = 'new_';", "new_"],
  ["<?php\n$table_prefix = 'x'' OR 1';", "wp_"],
  ["<?php", "wp_"],
])("the table prefix in %j is %s", async (text, prefix) => {
  await writeFile(path.join(folder, "wp-config.php"), text);
  expect(await tablePrefixOf(folder)).toBe(prefix);
});

test("without a configuration the prefix is wp_", async () => {
  expect(await tablePrefixOf(path.join(folder, "nowhere"))).toBe("wp_");
});
