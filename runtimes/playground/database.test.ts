/** What WordPress and its plugins see of the database: errors, collations, and other requests' transactions. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runPhp, type Site } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
let lines: string[] = [];
beforeAll(async () => {
  world = await openPlayground({ onErrorLine: (_, line) => lines.push(line) });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  lines = [];
});

const run = (code: string) => runPhp(world.serving, site, `require __DIR__ . '/wp-load.php'; ${code}`);

describe("a database error", () => {
  test("is one line in the log, with MySQL's message and the statement", async () => {
    await run(String.raw`$wpdb->query("SELECT *\n\tFROM   nonsense_77\r\nWHERE a = 1"); echo $wpdb->last_error;`);
    expect(lines).toEqual([
      expect.stringMatching(
        /WordPress database error Table '\w+\.nonsense_77' doesn't exist for query SELECT \* FROM nonsense_77 WHERE a = 1( made by \w+\('\S+'\))*$/,
      ),
    ]);
  });

  test("with a huge statement is a line of a few kilobytes", async () => {
    await run(`$wpdb->query("SELECT '" . str_repeat('x', 1000000) . "' FROM");`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^.{3900,4300}$/);
  });

  test.each([
    ["SELECT nothing", "Unknown column 'nothing' in 'field list'"],
    ["SELEC 1", "You have an error in your SQL syntax"],
    ["INSERT INTO $wpdb->options (option_name, option_value) VALUES ('siteurl', '')", "Duplicate entry"],
    ["INSERT INTO $wpdb->options (option_name) VALUES (1, 2)", "Column count doesn't match value count at row 1"],
    ["CREATE VIEW v AS SELECT 1", "Not supported on SQLite: This database has no views"],
  ])("is told to plugins as by MySQL: %s", async (statement, message) => {
    const code = `$wpdb->suppress_errors(true); var_dump($wpdb->query("${statement}")); echo $wpdb->last_error;`;
    const [result, error] = (await run(code)).split("\n");
    expect(result).toBe("bool(false)");
    expect(error).toContain(message);
    expect(lines).toEqual([]);
  });

  test("is shown as on MySQL to those who want to see errors", async () => {
    const shown = await run("$wpdb->show_errors(); $wpdb->query('SELECT <b>');");
    expect(shown).toContain('<p class="wpdberror"><strong>WordPress database error:</strong>');
    expect(shown).toContain("<code>SELECT &lt;b&gt;</code>");
    expect(shown).not.toContain("Backtrace");
  });
});

test("tables name a collation that MySQL and MariaDB both have", async () => {
  const code = `echo $wpdb->get_charset_collate(), '|';
    foreach ($wpdb->get_col('SHOW TABLES') as $table) {
      preg_match_all('/COLLATE[= ](\\S+)/', $wpdb->get_row("SHOW CREATE TABLE $table", ARRAY_N)[1], $found);
      echo implode(' ', array_unique($found[1])), ' ';
    }
    foreach ($wpdb->get_results("SHOW FULL COLUMNS FROM $wpdb->posts") as $column) echo $column->Collation ?? '', ' ';`;
  const [charset, found = ""] = (await run(code)).split("|");
  expect(charset).toBe("DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci");
  expect([...new Set(found.split(" ").filter((name) => name !== ""))]).toEqual(["utf8mb4_unicode_520_ci"]);
});

describe("a transaction", () => {
  const file = (name: string) => path.join(site.documentRoot, name);
  const untilExists = (name: string) =>
    vi.waitFor(() => expect(existsSync(file(name))).toBe(true), { timeout: 30_000 });

  /** Runs statements in a transaction, which ends when \`end()\` is called. */
  async function openTransaction(name: string, statement: string) {
    const wait = `touch('${name}.begun'); while (!file_exists('${name}.end')) { usleep(20000); clearstatcache(); }`;
    const finished = run(
      `$wpdb->query('START TRANSACTION'); $wpdb->query("${statement}"); ${wait} $wpdb->query('COMMIT'); echo 'end';`,
    );
    await untilExists(`${name}.begun`);
    return { end: () => writeFile(file(`${name}.end`), ""), finished };
  }

  test("lets others wait as long as MySQL does before they fail", async () => {
    const held = await openTransaction(
      "writing",
      "UPDATE $wpdb->options SET option_value = 'x' WHERE option_name = 'blogname'",
    );
    const name = "$wpdb->get_var(\"SELECT option_value FROM $wpdb->options WHERE option_name = 'blogname'\")";
    const other = run(`touch('writing.other'); var_dump(update_option('beside', uniqid())); echo ${name};`);
    await untilExists("writing.other");
    await held.end();
    expect(await other).toBe("bool(true)\nx");
    expect(await held.finished).toBe("end");
    expect(await run("echo $wpdb->dbh->get_sqlite_pdo()->query('PRAGMA busy_timeout')->fetchColumn();")).toBe("50000");
  }, 90_000);

  test("that only reads holds nobody up", async () => {
    const held = await openTransaction("reading", "SELECT option_value FROM $wpdb->options");
    expect(await run("var_dump(update_option('meanwhile', uniqid()));")).toBe("bool(true)\n");
    await held.end();
    expect(await held.finished).toBe("end");
  }, 90_000);
});
