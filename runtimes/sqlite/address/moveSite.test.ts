import { describe, expect, test } from "vitest";
import { useSqliteFile } from "../../playground/testing/sqliteFile.ts";
import { moveSite } from "./moveSite.ts";

const from = "http://demo.localhost:8081";
const to = "https://shop.example";

const database = useSqliteFile();

const move = (more: { readonly isEverywhere?: boolean; readonly prefix?: string; readonly from?: string } = {}) =>
  moveSite({
    main: database.path,
    all: [database.path],
    prefix: more.prefix ?? "wp_",
    change: { from: more.from ?? from, to },
    isEverywhere: more.isEverywhere ?? false,
  });

const options = (prefix: string, home: string, siteurl = home) => [
  `CREATE TABLE ${prefix}options (option_id INTEGER PRIMARY KEY, option_name TEXT UNIQUE, option_value TEXT)`,
  `INSERT INTO ${prefix}options (option_name, option_value) VALUES
    ('home', '${home}'), ('siteurl', '${siteurl}'), ('blogname', 'At ${home}')`,
];

const network = [
  "CREATE TABLE wp_blogs (blog_id INTEGER PRIMARY KEY, site_id INTEGER, domain TEXT, path TEXT)",
  "CREATE TABLE wp_site (id INTEGER PRIMARY KEY, domain TEXT, path TEXT)",
  "CREATE TABLE wp_sitemeta (meta_id INTEGER PRIMARY KEY, site_id INTEGER, meta_key TEXT, meta_value TEXT)",
  "INSERT INTO wp_site VALUES (1, 'demo.localhost:8081', '/')",
  `INSERT INTO wp_sitemeta VALUES (1, 1, 'siteurl', '${from}/'), (2, 1, 'note', '${from}')`,
];

describe("the address of a site", () => {
  test("changes where WordPress stores it, and nowhere else", () => {
    database.run(...options("wp_", from, `${from}/core`));
    move();
    expect(database.rowsOf("SELECT option_name, option_value FROM wp_options")).toEqual([
      `home | ${to}`,
      `siteurl | ${to}/core`,
      `blogname | At ${from}`,
    ]);
  });

  test("changes in every text if isEverywhere is set", () => {
    database.run(...options("wp_", from));
    move({ isEverywhere: true });
    expect(database.rowsOf("SELECT option_value FROM wp_options")).toEqual([to, to, `At ${to}`]);
  });

  test("is replaced even if WordPress uses a different one than `from`", () => {
    database.run(...options("blog_", "https://www.elsewhere.example:444"));
    move({ prefix: "blog_" });
    expect(database.rowsOf("SELECT option_value FROM blog_options WHERE option_name <> 'blogname'")).toEqual([to, to]);
  });

  test("does not change if it is already the new one", () => {
    database.run(...options("wp_", to));
    move({ from: to });
    expect(database.rowsOf("SELECT option_value FROM wp_options")).toEqual([to, to, `At ${to}`]);
  });

  test("changes from http to https on the same host", () => {
    database.run(...options("wp_", "http://shop.example"));
    move({ from: "http://shop.example" });
    expect(database.rowsOf("SELECT option_value FROM wp_options LIMIT 2")).toEqual([to, to]);
  });
});

describe("the addresses of a network", () => {
  test("with subdomains change together with those of its sites", () => {
    database.run(...options("wp_", from), ...options("wp_2_", "http://two.demo.localhost:8081"), ...network);
    database.run(
      "INSERT INTO wp_blogs VALUES (1, 1, 'demo.localhost:8081', '/'), (2, 1, 'two.demo.localhost:8081', '/')",
    );
    move();
    expect(database.rowsOf("SELECT domain FROM wp_blogs")).toEqual(["shop.example", "two.shop.example"]);
    expect(database.rowsOf("SELECT domain FROM wp_site")).toEqual(["shop.example"]);
    expect(database.rowsOf("SELECT meta_value FROM wp_sitemeta")).toEqual([`${to}/`, from]);
    expect(database.rowsOf("SELECT option_value FROM wp_2_options LIMIT 1")).toEqual(["https://two.shop.example"]);
  });

  test("with subdirectories change, and their paths stay", () => {
    database.run(...options("wp_", from), ...options("wp_2_", `${from}/two`), ...network);
    database.run(
      "INSERT INTO wp_blogs VALUES (1, 1, 'demo.localhost:8081', '/'), (2, 1, 'demo.localhost:8081', '/two/')",
    );
    move();
    expect(database.rowsOf("SELECT domain, path FROM wp_blogs")).toEqual(["shop.example | /", "shop.example | /two/"]);
    expect(database.rowsOf("SELECT option_value FROM wp_2_options LIMIT 1")).toEqual([`${to}/two`]);
  });
});

describe("a database with unexpected content", () => {
  test.each([
    ["no table", ["CREATE TABLE other (a)"]],
    [
      "no text in the address columns",
      [
        "CREATE TABLE wp_options (option_name, option_value)",
        "INSERT INTO wp_options VALUES ('home', 7), ('siteurl', NULL)",
      ],
    ],
    [
      "no address in them",
      [
        "CREATE TABLE wp_options (option_name, option_value)",
        "INSERT INTO wp_options VALUES ('home', 'nonsense'), ('siteurl', 'javascript:1')",
      ],
    ],
    ["a view instead of the table", ["CREATE VIEW wp_options AS SELECT 'home' AS option_name, 'x' AS option_value"]],
  ])("does not break the move: %s", (_, statements) => {
    database.run(...statements);
    for (const isEverywhere of [false, true]) expect(() => move({ isEverywhere })).not.toThrow();
  });

  test("a failure rolls back all changes", () => {
    database.run(...options("wp_", from), ...network);
    database.run("INSERT INTO wp_blogs VALUES (1, 1, 'demo.localhost:8081', '/')");
    database.run("CREATE TRIGGER broken AFTER UPDATE ON wp_options BEGIN SELECT raise(FAIL, 'no'); END");
    expect(() => move()).toThrow("no");
    expect(database.rowsOf("SELECT domain FROM wp_blogs")).toEqual(["demo.localhost:8081"]);
  });
});
