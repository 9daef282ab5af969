/** What WordPress and its plugins see of the database: errors, collations, and other requests' transactions. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runPhp, type Site } from "../testing/visitor.ts";
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

test("a page starts with MySQL's default SQL modes, except the ones WordPress does not support", async () => {
  const modes = "array_map('strtoupper', explode(',', $wpdb->get_var('SELECT @@SESSION.sql_mode')))";
  const code = `$first = ${modes};
    $wpdb->query('SET SESSION sql_mode = DEFAULT');
    $wpdb->set_sql_mode();
    echo json_encode([$first, ${modes}]);`;
  const [first, asked] = JSON.parse(await run(code));
  expect(first).toContain("NO_ENGINE_SUBSTITUTION");
  expect(first).not.toContain("STRICT_TRANS_TABLES");
  expect(first).toEqual(asked);
});

test("a page's transactions are lasting when they are committed, wherever the system flushes", async () => {
  const settings =
    "foreach (['journal_mode', 'synchronous'] as $name) echo $GLOBALS['@pdo']->query(\"PRAGMA $name\")->fetchColumn(), ' ';";
  expect((await run(settings)).trim()).toBe("delete 3");
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

  test("that writes many megabytes keeps nobody from reading", async () => {
    const held = await openTransaction(
      "importing",
      `INSERT INTO $wpdb->postmeta (meta_key, meta_value) VALUES ('big', '" . str_repeat('x', 9000000) . "')`,
    );
    expect(await run("echo get_option('home') !== '';")).toBe("1");
    await held.end();
    expect(await held.finished).toBe("end");
    expect(lines).toEqual([]);
  }, 90_000);

  test("that only reads holds nobody up", async () => {
    const held = await openTransaction("reading", "SELECT option_value FROM $wpdb->options");
    expect(await run("var_dump(update_option('meanwhile', uniqid()));")).toBe("bool(true)\n");
    await held.end();
    expect(await held.finished).toBe("end");
  }, 90_000);
});

describe("the connection that plugins get", () => {
  test("works with mysqli's functions", async () => {
    const code = String.raw`$c = $wpdb->dbh;
      var_dump($c instanceof mysqli, is_object($c));
      mysqli_query($c, 'CREATE TEMPORARY TABLE tmp (id int NOT NULL AUTO_INCREMENT, v text, PRIMARY KEY (id))');
      $text = mysqli_real_escape_string($c, "it's \"\\ \n");
      var_dump(mysqli_query($c, "INSERT INTO tmp (v) VALUES ('$text'), ('two')"), mysqli_affected_rows($c), mysqli_insert_id($c));
      $r = mysqli_query($c, 'SELECT id, v FROM tmp ORDER BY id');
      var_dump(mysqli_num_rows($r), mysqli_num_fields($r), mysqli_fetch_assoc($r)['v'] === "it's \"\\ \n", mysqli_fetch_row($r));
      mysqli_data_seek($r, 1);
      var_dump(mysqli_fetch_object($r)->v, mysqli_fetch_array($r), mysqli_fetch_field_direct($r, 1)->name);
      mysqli_free_result($r);
      var_dump(mysqli_query($c, 'SELECT nothing'), mysqli_errno($c), mysqli_error($c), mysqli_sqlstate($c));
      var_dump(mysqli_query($c, 'SELECT 1') !== false, mysqli_error($c), (int) mysqli_get_server_info($c), mysqli_ping($c));`;
    const printed = await run(code);
    expect(lines).toEqual([]);
    expect(printed.replaceAll(/\s+/g, " ").trim()).toBe(
      [
        'bool(true) bool(true) bool(true) int(2) int(1) int(2) int(2) bool(true) array(2) { [0]=> string(1) "2" [1]=> string(3) "two" }',
        'string(3) "two" NULL string(1) "v"',
        `bool(false) int(1054) string(40) "Unknown column 'nothing' in 'field list'" string(5) "42S22"`,
        'bool(true) string(0) "" int(8) bool(true)',
      ].join(" "),
    );
    expect(lines).toEqual([]);
  });

  test("prepares statements as mysqli does, by methods and functions", async () => {
    const code = String.raw`$c = $wpdb->dbh;
      $c->query('CREATE TEMPORARY TABLE tmp (id int, v longblob)');
      $s = $c->prepare("INSERT INTO tmp VALUES (?, ?) /* ? */");
      $id = 1; $none = null;
      $s->bind_param('ib', $id, $none); $s->send_long_data(1, "a\0'"); $s->send_long_data(1, '?');
      var_dump($s->execute(), $s->affected_rows, $s->error);
      $id = 2; var_dump($s->execute());
      $s = mysqli_prepare($c, 'SELECT v, id FROM tmp WHERE id > ? AND \'?\' = \'?\' ORDER BY id');
      $least = 0; mysqli_stmt_bind_param($s, 'i', $least); mysqli_stmt_execute($s);
      mysqli_stmt_bind_result($s, $v, $n);
      while (mysqli_stmt_fetch($s)) echo bin2hex($v ?? 'NULL'), " $n ";
      $s->execute(); var_dump(count($s->get_result()->fetch_all(MYSQLI_ASSOC)), mysqli_stmt_num_rows($s));`;
    expect((await run(code)).replaceAll(/\s+/g, " ").trim()).toBe(
      'bool(true) int(1) string(0) "" bool(true) 6100273f 1 4e554c4c 2 int(2) int(2)',
    );
  });

  test("prepares statements as PDO does", async () => {
    const code = `$c = $wpdb->get_driver();
      $c->query('CREATE TEMPORARY TABLE tmp (id int, v text)');
      $c->beginTransaction();
      $s = $c->prepare("INSERT INTO tmp VALUES (:id, :v)");
      $s->bindValue(':id', 1, PDO::PARAM_INT); $v = 'x'; $s->bindParam('v', $v); $v = "it's"; $s->execute();
      $s->execute(['id' => 2, 'v' => null]); echo $s->rowCount(), $c->inTransaction() ? 'open ' : '';
      $c->commit();
      $s = $c->prepare("SELECT v FROM tmp WHERE id = ? AND v <> ':v'"); $s->setFetchMode(PDO::FETCH_ASSOC);
      $s->execute([1]); foreach ($s as $row) echo $row['v'];
      $s->execute([2]); var_dump($s->fetchAll());`;
    expect((await run(code)).replaceAll(/\s+/g, " ").trim()).toBe("1open it'sarray(0) { }");
  });

  test("tells WooCommerce its version", async () => {
    const asked =
      "echo $wpdb->is_mysql && $wpdb->use_mysqli ? mysqli_get_server_info($wpdb->dbh) : 'none', ' ', $wpdb->db_version();";
    expect(await run(asked)).toMatch(/^8\.0\.\d+\S* 8\.0\.\d+$/);
  });

  test("of another server is mysqli's own", async () => {
    const code =
      "mysqli_report(MYSQLI_REPORT_OFF); var_dump(@mysqli_connect('127.0.0.1', 'u', 'p', 'd', 1), mysqli_connect_errno() > 0);";
    expect(await runPhp(world.serving, site, code)).toBe("bool(false)\nbool(true)\n");
    const functions =
      "echo function_exists('mysqli_query') && get_extension_funcs('mysqli') !== false ? 'all' : 'none';";
    expect(await runPhp(world.serving, site, functions)).toBe("all");
  });
});

test("what the database refuses is in the log with its plugin, and the owner is told when the plugin is activated", async () => {
  const plugin = `mkdir(WP_PLUGIN_DIR . '/needy'); file_put_contents(WP_PLUGIN_DIR . '/needy/needy.php', '<?php
    /* Plugin Name: Needy */ register_activation_hook(__FILE__, function () {
      $GLOBALS["wpdb"]->query("CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET NEW.y = 1"); });');`;
  const activate = "require_once ABSPATH . 'wp-admin/includes/plugin.php'; activate_plugin('needy/needy.php');";
  await run(`${plugin} ${activate}`);
  expect(lines).toEqual([
    expect.stringMatching(
      /Not supported on SQLite: This database has no triggers for query CREATE TRIGGER .* in plugin needy$/,
    ),
  ]);
  const notices = "wp_set_current_user(1); do_action('admin_notices');";
  expect(await run(notices)).toContain("needy/needy.php sent statements that the database of this site cannot run");
  expect(await run(notices)).toBe("");
});
