import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance/conformance.ts";
import { openPlayground, type Playground } from "../playground/testing/world.ts";
import { RuntimeFailure } from "../runtime.ts";
import { asStored, fromStored } from "../site/values/serialized.ts";
import { runPhp } from "../testing/visitor.ts";
import { escapeTitle } from "./fillTemplate.ts";
import { readStoredFacts, unescapeTitle } from "./wordpressFacts.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "facts-"));
});
afterAll(() => rm(folder, { recursive: true }));

const administrator = `'a:1:{s:13:"administrator";b:1;}'`;

/** A minimal WordPress database. */
const minimal = `
  CREATE TABLE wp_options (option_name TEXT, option_value TEXT);
  CREATE TABLE wp_users (ID INTEGER PRIMARY KEY, user_login TEXT, user_email TEXT);
  CREATE TABLE wp_usermeta (user_id INTEGER, meta_key TEXT, meta_value TEXT);
  INSERT INTO wp_options VALUES ('blogname', 'Garden'), ('admin_email', 'other@example.com');
  INSERT INTO wp_users VALUES (1, 'ada', 'ada@example.com');
  INSERT INTO wp_usermeta VALUES (1, 'wp_capabilities', ${administrator});`;

let made = 0;
/** Reads the facts from the minimal database after these changes. */
function after(changes: string) {
  made += 1;
  const file = path.join(folder, `${made}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec(minimal);
  database.exec(changes);
  database.close();
  return readStoredFacts(file);
}

test("a stored title is decoded exactly", () => {
  for (const title of [`Tom & "Jerry" <b>`, "&amp;", "&amp;lt;", "it's", "", "🦄", "&#039;", "a &copy b;"]) {
    expect(unescapeTitle(escapeTitle(title))).toBe(title);
  }
  expect(unescapeTitle("&eacute; &#8211; & &#39;")).toBe("&eacute; &#8211; & '");
});

test.each(["b:0;", 'a:1:{i:0;s:1:"x";}', "N;", " i:5; ", 's:1:"x";', "E:3:x;", "usual", "s:9", "ünïcödé 🦄"])(
  "a title that looks like a serialised value is stored as text: %s",
  (title) => {
    expect(fromStored(asStored(title))).toBe(title);
  },
);

test("reads title, administrator and the default language", () => {
  expect(after("")).toEqual({ title: "Garden", adminUser: "ada", adminEmail: "ada@example.com", locale: "en_US" });
});

test.each([
  ["", "en_US"],
  ["INSERT INTO wp_options VALUES ('WPLANG', '')", "en_US"],
  ["INSERT INTO wp_options VALUES ('WPLANG', 'de_DE')", "de_DE"],
  ["CREATE TABLE wp_sitemeta (meta_key, meta_value); INSERT INTO wp_sitemeta VALUES ('WPLANG', 'fr_FR')", "fr_FR"],
  ["CREATE TABLE wp_sitemeta (meta_key, meta_value); INSERT INTO wp_sitemeta VALUES ('WPLANG', '')", "en_US"],
  ["CREATE TABLE wp_sitemeta (something_else)", "en_US"],
])("after %j its language is %s", (changes, locale) => {
  expect(after(changes).locale).toBe(locale);
});

test("the administrator is the user with the lowest id who is an administrator", () => {
  const people = `
    UPDATE wp_usermeta SET meta_value = 'a:1:{s:6:"editor";b:1;}';
    INSERT INTO wp_users VALUES (9, 'late', 'late@example.com'), (4, 'grace', 'grace@example.com'), (3, 'else', 'x@y.zz');
    INSERT INTO wp_usermeta VALUES (9, 'wp_capabilities', ${administrator}), (4, 'wp_capabilities', ${administrator}),
      (3, 'wp_2_capabilities', ${administrator});`;
  expect(after(people)).toMatchObject({ adminUser: "grace", adminEmail: "grace@example.com" });
});

describe("names the missing part of the database", () => {
  test.each([
    ["ALTER TABLE wp_options RENAME TO my_options", "wp_options"],
    ["ALTER TABLE wp_users RENAME COLUMN user_login TO login", "wp_users"],
    ["DROP TABLE wp_usermeta", "wp_usermeta"],
    ["DELETE FROM wp_options", "title"],
    ["UPDATE wp_options SET option_value = x'00ff'", "title"],
    ["UPDATE wp_options SET option_value = NULL", "title"],
    ["UPDATE wp_options SET option_value = hex(zeroblob(2000000))", "title"],
    ["DELETE FROM wp_usermeta", "administrator"],
    ["DELETE FROM wp_users", "administrator"],
    ["UPDATE wp_users SET user_email = x'00'", "administrator"],
  ])("%s", (changes, word) => {
    expect(() => after(changes)).toThrow(RuntimeFailure);
    expect(() => after(changes)).toThrow(word);
  });

  test("a view that never ends is not read", () => {
    const endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS option_name, i AS option_value FROM n";
    expect(() => after(`DROP TABLE wp_options; CREATE VIEW wp_options AS ${endless} ORDER BY i`)).toThrow("wp_options");
  });
});

describe("facts about a WordPress in the playground", () => {
  let world: Playground;
  beforeAll(async () => {
    world = await openPlayground();
  }, 120_000);
  afterAll(() => world.close());

  const title = `Tom & "Jerry" <b>`;

  test("include changes made in WordPress, unescaped", async () => {
    const site = await world.site({ title });
    const known = { adminUser: "admin", adminEmail: "admin@example.com", locale: "en_US", multisite: null };
    expect(await world.runtime.wordpress(site.environment)).toEqual({ title, ...known });
    const change = `require __DIR__ . '/wp-load.php'; update_option('blogname', "Fish & <i>Chips</i> 'n' \\"more\\"");
      wp_insert_user(array('user_login' => 'second', 'user_pass' => 'x', 'role' => 'administrator')); echo 'done';`;
    expect(await runPhp(world.serving, site, change)).toBe("done");
    const changed = { title: `Fish & <i>Chips</i> 'n' "more"`, ...known };
    expect(await world.runtime.wordpress(site.environment)).toEqual(changed);
  }, 60_000);

  test("include the kind of network and the language", async () => {
    for (const choice of [{ multisite: "subdirectory" }, { locale: "de_DE" }] as const) {
      const spec = exampleSpec({ title, ...choice });
      await world.runtime.provision(spec);
      expect(await world.runtime.wordpress(spec.environment)).toMatchObject({ title, adminUser: "admin", ...choice });
    }
  }, 300_000);

  test("a damaged database is reported, and no temporary files are left", async () => {
    const spec = exampleSpec();
    await world.runtime.provision(spec);
    const folderOf = path.join(world.environments, spec.environment.id);
    await writeFile(path.join(folderOf, "current/database/wordpress.sqlite"), "x".repeat(10_000));
    await expect(world.runtime.wordpress(spec.environment)).rejects.toThrow(RuntimeFailure);
    expect(await readdir(path.join(folderOf, "releases"))).toEqual(["1"]);
  }, 60_000);
});
