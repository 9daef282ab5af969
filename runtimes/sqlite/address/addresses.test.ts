import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SQLOutputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serialize } from "../../playground/testing/serialize.ts";
import { addressChanger } from "../../site/values/addressChanger.ts";
import { withDatabase } from "../withDatabase.ts";
import { changeAddresses } from "./addresses.ts";

const from = "http://demo.localhost:8081";
const to = "http://staging-demo.localhost:9090";
const changes = [{ from, to }];

describe("an address in a text", () => {
  test.each([
    ["http://demo.localhost:8081/a", "http://staging-demo.localhost:9090/a"],
    ["https://demo.localhost:8081/a", "http://staging-demo.localhost:9090/a"],
    ["HTTP://Demo.LocalHost:8081", "http://staging-demo.localhost:9090"],
    ["//demo.localhost:8081/a", "//staging-demo.localhost:9090/a"],
    ["demo.localhost:8081", "staging-demo.localhost:9090"],
    ["at demo.localhost:8081.", "at staging-demo.localhost:9090."],
    ["サイトはdemo.localhost:8081です", "サイトはstaging-demo.localhost:9090です"],
    ["http://user:secret@demo.localhost:8081/", "http://user:secret@staging-demo.localhost:9090/"],
    [`http:\\/\\/demo.localhost:8081\\/a`, `http:\\/\\/staging-demo.localhost:9090\\/a`],
    [`http:\\\\/\\\\/demo.localhost:8081`, `http:\\\\/\\\\/staging-demo.localhost:9090`],
    [`https:\\u005c/\\u005c/demo.localhost:8081`, `http:\\u005c/\\u005c/staging-demo.localhost:9090`],
    ["http%3A%2F%2Fdemo.localhost%3A8081%2Fa", "http%3A%2F%2Fstaging-demo.localhost%3A9090%2Fa"],
    ["https%3a%2f%2fdemo.localhost%3a8081%2fa", "http%3a%2f%2fstaging-demo.localhost%3a9090%2fa"],
    ["http%253A%252F%252Fdemo.localhost%253A8081", "http%253A%252F%252Fstaging-demo.localhost%253A9090"],
    ["?host%3Ddemo.localhost%3A8081%26", "?host%3Dstaging-demo.localhost%3A9090%26"],
    [`\\u0022demo.localhost:8081\\u0022`, `\\u0022staging-demo.localhost:9090\\u0022`],
    [`{"a":"\\ndemo.localhost:8081"}`, `{"a":"\\nstaging-demo.localhost:9090"}`],
  ])("%s becomes %s", (before, after) => {
    expect(addressChanger(changes)(before)).toBe(after);
  });

  test.each([
    "xdemo.localhost:8081",
    "my-demo.localhost:8081",
    "http://my-demo.localhost:8081",
    `my\\u002d\\u002ddemo.localhost:8081`,
    "2demo.localhost",
    "demo.localhost.example.com",
    "http://demo.localhost.example.com:8081",
    "demo.localhost-backup",
    "//demo.localhost._x.example.com",
    "demo.localhost:80811",
    "demo.localhost:9999",
    "http://demo.localhost:9999/",
    "demo.local",
    "demo-localhost:8081",
  ])("%s is a different address and stays", (text) => {
    expect(addressChanger(changes)(text)).toBe(text);
  });

  test("changes in subdomains, which a network gives to its sites", () => {
    const change = addressChanger([{ from, to: "https://example.com" }]);
    expect(change("http://one.two.demo.localhost:8081/ and three.demo.localhost:8081")).toBe(
      "https://one.two.example.com/ and three.example.com",
    );
    expect(change("'.demo.localhost'")).toBe("'.example.com'");
  });

  test("without its port keeps its scheme and does not get the new port", () => {
    const change = addressChanger(changes);
    expect(change("https://demo.localhost/a, demo.localhost")).toBe(
      "https://staging-demo.localhost/a, staging-demo.localhost",
    );
  });

  test.each(["admin@demo.localhost", "mailto:a@mail.demo.localhost", "admin%40demo.localhost"])(
    "does not change in the e-mail address %s",
    (text) => {
      expect(addressChanger(changes)(text)).toBe(text);
      expect(addressChanger([{ from: "https://demo.localhost", to }])(text)).toBe(text);
    },
  );

  test("gains or loses a port, with the encoding of the rest", () => {
    const add = addressChanger([{ from: "https://example.com", to }]);
    expect(add("https://example.com/a")).toBe("http://staging-demo.localhost:9090/a");
    expect(add("https%253A%252F%252Fexample.com")).toBe("http%253A%252F%252Fstaging-demo.localhost%253A9090");
    expect(add("%2F%2Fexample.com%2F")).toBe("%2F%2Fstaging-demo.localhost%3A9090%2F");
    expect(add("https://example.com:8443/")).toBe("https://example.com:8443/");
    expect(addressChanger([{ from, to: "https://a.b" }])("http%3A%2F%2Fdemo.localhost%3A8081")).toBe(
      "https%3A%2F%2Fa.b",
    );
  });

  test("with two hyphens is found in block attributes, which escape them", () => {
    const change = addressChanger([{ from: "http://a--b.localhost:8081", to }]);
    expect(change(`"http://a\\u002d\\u002db.localhost:8081/x\\u002d\\u002dy"`)).toBe(
      `"http://staging-demo.localhost:9090/x\\u002d\\u002dy"`,
    );
  });
});

describe("several addresses", () => {
  test("are replaced in one pass, so replacements are not replaced again", () => {
    const swap = addressChanger([
      { from, to },
      { from: to, to: from },
    ]);
    expect(swap(`${from} ${to}`)).toBe(`${to} ${from}`);
    const below = addressChanger([{ from, to: "http://copy.demo.localhost:8081" }]);
    expect(below(`${from} ${from}`)).toBe("http://copy.demo.localhost:8081 http://copy.demo.localhost:8081");
  });

  test("are distinguished by the longest host, the port and the scheme", () => {
    const change = addressChanger([
      { from, to: "http://a" },
      { from: "http://sub.demo.localhost:8081", to: "http://b" },
      { from: "http://demo.localhost:9999", to: "http://c" },
      { from: "https://demo.localhost:8081", to: "https://d" },
    ]);
    const text = `${from} http://sub.demo.localhost:8081 http://other.demo.localhost:8081 demo.localhost:9999 https://demo.localhost:8081`;
    expect(change(text)).toBe("http://a http://b http://other.a c https://d");
  });

  test("may be empty", () => {
    expect(addressChanger([])(from)).toBe(from);
  });
});

describe("in a database", () => {
  let folder: string;
  let files = 0;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "addresses-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function makeDatabase(sql: string): string {
    files += 1;
    const file = path.join(folder, `${files}.sqlite`);
    withDatabase(file, (database) => database.exec(sql));
    return file;
  }

  function column(file: string, sql: string): SQLOutputValue[] {
    return withDatabase(file, (database) => database.prepare(sql).all()).flatMap((row) => Object.values(row));
  }

  test("every text of every table changes, other values don't, and rows are counted", () => {
    const file = makeDatabase(`
      CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, guid TEXT, post_content TEXT, post_date INTEGER) STRICT;
      INSERT INTO wp_posts VALUES (1, '${from}/?p=1', 'see ${from}', 5), (2, 'x', 'nothing', 6);
      CREATE TABLE "odd ""name" ("a ""column", rowid, data BLOB);
      INSERT INTO "odd ""name" VALUES ('demo.localhost:8081', 8081, CAST('${from}' AS BLOB)), (NULL, 1.5, '${from}');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 3 });
    expect(column(file, "SELECT * FROM wp_posts")).toEqual([1, `${to}/?p=1`, `see ${to}`, 5, 2, "x", "nothing", 6]);
    expect(column(file, `SELECT * FROM "odd ""name"`)).toEqual([
      ...["staging-demo.localhost:9090", 8081, new Uint8Array(Buffer.from(from))],
      ...[null, 1.5, to],
    ]);
    expect(column(file, `SELECT typeof(data) FROM "odd ""name"`)).toEqual(["blob", "text"]);
  });

  test("only the named tables change, and never the driver's tables", () => {
    const tables = ["wp_options", "wp_plugin", "_wp_sqlite_global_variables"];
    const file = makeDatabase(
      tables.map((name) => `CREATE TABLE ${name} (a); INSERT INTO ${name} VALUES ('${from}');`).join(""),
    );
    expect(changeAddresses(file, changes, ["wp_plugin", "_wp_sqlite_global_variables", "absent"])).toEqual({ rows: 1 });
    const all = tables.map((name) => `SELECT a FROM ${name}`).join(" UNION ALL ");
    expect(column(file, all)).toEqual([from, to, from]);
    expect(changeAddresses(file, changes)).toEqual({ rows: 1 });
    expect(column(file, all)).toEqual([to, to, from]);
  });

  test("a network's hosts change, with and without port, and so do its sites' subdomains", () => {
    const file = makeDatabase(`
      CREATE TABLE wp_blogs (blog_id INTEGER PRIMARY KEY, domain TEXT, path TEXT);
      INSERT INTO wp_blogs VALUES (1, 'demo.localhost:8081', '/'), (2, 'shop.demo.localhost:8081', '/');
      CREATE TABLE wp_site (id INTEGER PRIMARY KEY, domain TEXT); INSERT INTO wp_site VALUES (1, 'demo.localhost:8081');
      CREATE TABLE wp_sitemeta (meta_key TEXT, meta_value TEXT);
      INSERT INTO wp_sitemeta VALUES ('siteurl', '${from}/'), ('admin_email', 'admin@demo.localhost');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 4 });
    expect(column(file, "SELECT domain FROM wp_blogs UNION ALL SELECT domain FROM wp_site")).toEqual([
      "staging-demo.localhost:9090",
      "shop.staging-demo.localhost:9090",
      "staging-demo.localhost:9090",
    ]);
    expect(column(file, "SELECT meta_value FROM wp_sitemeta")).toEqual([`${to}/`, "admin@demo.localhost"]);
  });

  test("text after a NUL is found, and invalid UTF-8 is preserved", () => {
    const file = makeDatabase("CREATE TABLE wp_options (option_value TEXT COLLATE NOCASE NOT NULL) STRICT");
    const value = (address: string) =>
      Buffer.concat([Buffer.from(serialize({ "\0A\0b": address })), Buffer.from([0xff, 0xfe, 0])]);
    withDatabase(file, (database) =>
      database.prepare("INSERT INTO wp_options VALUES (CAST(? AS TEXT))").run(value("HTTP://DEMO.localhost:8081")),
    );
    expect(changeAddresses(file, changes)).toEqual({ rows: 1 });
    expect(column(file, "SELECT CAST(option_value AS BLOB) FROM wp_options")).toEqual([new Uint8Array(value(to))]);
    expect(column(file, "SELECT typeof(option_value) FROM wp_options")).toEqual(["text"]);
  });

  test("a text that would violate uniqueness stays, and the other texts of its row change", () => {
    const file = makeDatabase(`
      CREATE TABLE wp_options (option_id INTEGER PRIMARY KEY, option_name TEXT UNIQUE, option_value TEXT NOT NULL);
      INSERT INTO wp_options VALUES (1, '${to}', 'a'), (2, '${from}', 'at ${from}'), (3, 'x ${from}', 'b');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 2 });
    expect(column(file, "SELECT option_name, option_value FROM wp_options")).toEqual([
      ...[to, "a", from, `at ${to}`, `x ${to}`, "b"],
    ]);
  });

  test("rows without a rowid are found by their key, which may change itself", () => {
    const file = makeDatabase(`
      CREATE TABLE plugin (host TEXT, n INTEGER, note TEXT, PRIMARY KEY (n, host)) WITHOUT ROWID;
      INSERT INTO plugin VALUES ('demo.localhost:8081', 1, '${from}'), ('${to}', 2, '${from}'), ('${from}', 2, '${from}');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 3 });
    expect(column(file, "SELECT host, note FROM plugin ORDER BY n, host")).toEqual([
      ...["staging-demo.localhost:9090", to, from, to, to, to],
    ]);
  });

  test("a row is changed once, even if its index returns it again", () => {
    const file = makeDatabase(`
      CREATE TABLE a (host TEXT); CREATE INDEX b ON a (host);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO a SELECT 'demo.localhost:8081' FROM n;
    `);
    expect(changeAddresses(file, [{ from, to: "http://zzz.demo.localhost:8081" }])).toEqual({ rows: 500 });
    expect(column(file, "SELECT DISTINCT host FROM a")).toEqual(["zzz.demo.localhost:8081"]);
  });

  test("foreign keys change with the values they refer to", () => {
    const file = makeDatabase(`
      CREATE TABLE hosts (host TEXT PRIMARY KEY); INSERT INTO hosts VALUES ('${from}');
      CREATE TABLE pages (host TEXT REFERENCES hosts ON DELETE CASCADE); INSERT INTO pages VALUES ('${from}');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 2 });
    expect(column(file, "SELECT host FROM pages UNION ALL SELECT host FROM hosts")).toEqual([to, to]);
  });

  test("generated columns and virtual tables are left to SQLite", () => {
    const file = makeDatabase(`
      CREATE TABLE a (host TEXT, twice TEXT AS (host || host) STORED); INSERT INTO a (host) VALUES ('${from} ');
      CREATE VIRTUAL TABLE search USING fts5(body); INSERT INTO search VALUES ('${from}');
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 1 });
    expect(column(file, "SELECT twice FROM a")).toEqual([`${to} ${to} `]);
  });

  test("a failure rolls back all changes", () => {
    const file = makeDatabase(`
      CREATE TABLE a (host TEXT); INSERT INTO a VALUES ('${from}');
      CREATE TABLE b (host TEXT); INSERT INTO b VALUES ('${from}');
      CREATE TRIGGER broken AFTER UPDATE ON b BEGIN SELECT raise(FAIL, 'no'); END;
    `);
    expect(() => changeAddresses(file, changes)).toThrow("no");
    expect(column(file, "SELECT host FROM a")).toEqual([from]);
  });

  test("changes a hundred thousand posts row by row", () => {
    const file = makeDatabase(`
      CREATE TABLE wp_posts (ID INTEGER PRIMARY KEY, post_content TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO wp_posts SELECT i, iif(i % 10 = 0, '${from}/?p=' || i, hex(randomblob(100))) FROM n;
    `);
    expect(changeAddresses(file, changes)).toEqual({ rows: 10_000 });
    expect(column(file, `SELECT count(*) FROM wp_posts WHERE post_content = '${to}/?p=' || ID`)).toEqual([10_000]);
  });
});
