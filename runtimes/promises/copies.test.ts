/** Clones and pushes of a real WordPress: its pages, its logins and its database. */
import { randomUUID } from "node:crypto";
import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance/conformance.ts";
import { ownerOf } from "../owner.ts";
import { passwordDigest } from "../password.ts";
import type { StageSpec, WordPressInstall } from "../runtime.ts";
import type { ServedEnvironment } from "../serving.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
beforeAll(async () => {
  world = await openWorld({ maxWorkers: 3 });
}, 120_000);
afterAll(() => world.close());

/** Serves only these sites, with their current releases. */
async function serve(...sites: readonly Site[]): Promise<void> {
  const { phpVersion } = world;
  const served = sites.map(async ({ environment }): Promise<ServedEnvironment> => {
    const layout = await world.runtime.layout(environment);
    if (layout === null) throw new Error("The environment has no layout.");
    return { ...environment, ...layout, phpVersion };
  });
  await world.serving.setEnvironments(await Promise.all(served));
}

async function withCurrentRoot(site: Site): Promise<Site> {
  const layout = await world.runtime.layout(site.environment);
  return { ...site, documentRoot: layout?.documentRoot ?? "" };
}

async function newSite(wordpress: Partial<WordPressInstall> = {}): Promise<Site> {
  const spec = exampleSpec(wordpress);
  await world.runtime.provision(spec);
  return withCurrentRoot({ ...spec, documentRoot: "" });
}

async function cloneOf(source: Site): Promise<Site> {
  const spec = exampleSpec({
    ...source.wordpress,
    address: `http://clone-of-${source.environment.number}.localhost:8081`,
  });
  const addresses = [{ from: source.wordpress.address, to: spec.wordpress.address }];
  await world.runtime.clone({ environment: spec.environment, source: source.environment, addresses });
  return withCurrentRoot({ ...spec, documentRoot: "" });
}

function php(site: Site, code: string): Promise<string> {
  return runPhp(world.serving, site, `require __DIR__ . '/wp-load.php'; ${code}`);
}

async function push(source: Site, target: Site, choices: Pick<StageSpec, "files" | "database">): Promise<Site> {
  const addresses = [{ from: source.wordpress.address, to: target.wordpress.address }];
  const environments = { environment: target.environment, source: source.environment };
  const token = randomUUID();
  await world.runtime.stage({ ...environments, token, addresses, ...choices });
  await world.runtime.switchTo(target.environment, token);
  await serve(source, target);
  await world.runtime.prune(target.environment);
  return withCurrentRoot(target);
}

/** Returns the database file of the current release. */
function databaseOf({ environment }: Site): string {
  return path.join(world.environments, environment.id, "current", "database", "wordpress.sqlite");
}

function query(file: string, sql: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

const keys = `implode(' ', array(AUTH_KEY, AUTH_SALT, NONCE_KEY, LOGGED_IN_SALT))`;

describe("a clone", () => {
  let source: Site;
  let clone: Site;
  beforeAll(async () => {
    source = await newSite({ title: "Fish & Chips", adminPasswordDigest: passwordDigest("correct horse") });
    await serve(source);
    await php(source, "update_option('theirs', array('url' => home_url('/shop?a=b'), 'list' => array(site_url())));");
    clone = await cloneOf(source);
    await serve(source, clone);
  }, 120_000);

  test("has the source's logins and title, at its own address", async () => {
    const visitor = visitorOf(world.serving, clone);
    expect(await visitor.logIn("admin", "wrong")).toBe(false);
    expect(await visitor.logIn("admin", "correct horse")).toBe(true);
    const { text } = await visitor.get("/");
    expect(text).toContain("<title>Fish &amp; Chips");
    expect(text).toContain(clone.wordpress.address);
    expect(text).not.toContain(source.wordpress.address);
  });

  test("has its own address in all options, even deep inside them, and its own secret keys", async () => {
    const [own, theirs] = [clone.wordpress.address, source.wordpress.address];
    expect(await php(clone, "echo get_option('siteurl'), ' ', home_url();")).toBe(`${own} ${own}`);
    const option = await php(clone, "echo wp_json_encode(get_option('theirs'), JSON_UNESCAPED_SLASHES);");
    expect(JSON.parse(option)).toEqual({ url: `${own}/shop?a=b`, list: [own] });
    const left = `SELECT count(*) FROM wp_options WHERE option_value LIKE '%${theirs}%'`;
    expect(query(databaseOf(clone), left)).toEqual([0]);
    expect(await php(clone, `echo ${keys};`)).not.toBe(await php(source, `echo ${keys};`));
  });

  test("has its own database and files, which belong to its own user", async () => {
    await php(clone, "update_option('blogname', 'Another'); file_put_contents(ABSPATH . 'own.txt', 'x');");
    expect(await php(source, "echo get_option('blogname'), file_exists(ABSPATH . 'own.txt');")).toBe(
      "Fish &amp; Chips",
    );
    expect(query(databaseOf(clone), "PRAGMA journal_mode")).toEqual(["delete"]);
    if (process.getuid?.() !== 0) return;
    for (const file of [clone.documentRoot, databaseOf(clone), path.join(clone.documentRoot, "wp-config.php")]) {
      expect((await stat(file)).uid).toBe(ownerOf(clone.environment.number));
    }
  });

  test("differs from its source only by later changes, even under the same ids", async () => {
    const fresh = await cloneOf(source);
    await symlink("wp-config.php", path.join(fresh.documentRoot, "linked.php"));
    const spec = {
      environment: source.environment,
      source: fresh.environment,
      files: "all",
      database: "all",
      addresses: [{ from: fresh.wordpress.address, to: source.wordpress.address }],
    } as const;
    const empty = { count: 0, bytes: 0, listed: [] };
    expect(await world.runtime.compare(spec)).toEqual({
      files: { added: empty, changed: empty, removed: empty },
      lost: [],
    });
    await serve(source, fresh);
    const write = (title: string) =>
      `global $wpdb; $wpdb->insert($wpdb->posts, array('post_title' => '${title}')); echo $wpdb->insert_id;`;
    expect(await php(source, write("Live"))).toBe(await php(fresh, write("Staging")));
    const { lost } = await world.runtime.compare({ ...spec, files: "none", database: ["wp_posts"] });
    expect(lost).toEqual([{ table: "wp_posts", rows: 1 }]);
  });

  test("is consistent if the site is being written to, and the source loses nothing", async () => {
    const writing = php(
      source,
      `global $wpdb; for ($n = 0; !file_exists('/site/stop'); $n++) {
        $wpdb->query('START TRANSACTION');
        foreach (array('one', 'other') as $side) { $wpdb->insert('wp_options', array('option_name' => "$side-$n", 'option_value' => str_repeat('x', 2000))); }
        $wpdb->query('COMMIT');
        if ($wpdb->last_error) { echo $wpdb->last_error; break; }
      } echo $n;`,
    );
    const count = "SELECT count(*) FROM wp_options WHERE option_name LIKE 'one-%'";
    await expect.poll(() => query(databaseOf(source), count)[0], { interval: 5, timeout: 30_000 }).toBeGreaterThan(5);
    const clones: Site[] = [];
    for (let made = 0; made < 3; made += 1) clones.push(await cloneOf(source));
    const [first] = clones;
    if (first === undefined) throw new Error("There is no clone");
    const inFirst = Number(query(databaseOf(first), count)[0]);
    // Later writes are only in the source.
    const written = () => query(databaseOf(source), count)[0];
    await expect.poll(written, { interval: 5, timeout: 30_000 }).toBeGreaterThan(inFirst);
    await writeFile(path.join(source.documentRoot, "stop"), "");
    const total = Number(await writing);
    expect(written()).toBe(total);
    for (const clone of clones) {
      const file = databaseOf(clone);
      expect(query(file, "PRAGMA integrity_check")).toEqual(["ok"]);
      expect(query(file, count)).toEqual(query(file, count.replace("one-", "other-")));
    }
    expect(query(databaseOf(first), count)).toEqual([inFirst]);
  });
});

test.each(["subdirectory", "subdomain"] as const)(
  "a clone of a %s network is a network at its own address",
  async (multisite) => {
    const source = await newSite({ multisite });
    const clone = await cloneOf(source);
    expect((await world.runtime.layout(clone.environment))?.multisite).toBe(multisite);
    await serve(clone);
    expect(await php(clone, "echo get_network()->domain, ' ', get_site()->domain;")).toBe(
      Array(2).fill(new URL(clone.wordpress.address).host).join(" "),
    );
    expect((await visitorOf(world.serving, clone).get("/")).text).toContain(clone.wordpress.title);
    const config = await readFile(path.join(clone.documentRoot, "wp-config.php"), "utf8");
    expect(config).not.toContain(new URL(source.wordpress.address).hostname);
  },
  120_000,
);

describe("a push", () => {
  let source: Site;
  let target: Site;
  beforeAll(async () => {
    source = await newSite({ title: "Staging", adminPasswordDigest: passwordDigest("staging") });
    target = await newSite({ title: "Live", adminPasswordDigest: passwordDigest("live horse") });
    await serve(source, target);
    await php(
      source,
      "update_option('theirs', array('url' => home_url('/x'), 'object' => (object) array('u' => site_url())));",
    );
  }, 120_000);

  test("would lose rows, which a comparison counts by table in a database in use", async () => {
    await php(target, "wp_insert_post(array('post_title' => 'Only here', 'post_status' => 'publish'));");
    const environments = { environment: target.environment, source: source.environment };
    const { lost } = await world.runtime.compare({ ...environments, files: "none", database: "all", addresses: [] });
    expect(lost.find(({ table }) => table === "wp_posts")?.rows).toBeGreaterThan(0);
    const some = { ...environments, files: "none", database: ["wp_links"], addresses: [] } as const;
    expect((await world.runtime.compare(some)).lost).toEqual([]);
    await expect(world.runtime.compare({ ...some, database: ["wp_nothing"] })).rejects.toThrow("wp_nothing");
  });

  test("of all files keeps logins and changes no table", async () => {
    const visitor = visitorOf(world.serving, target);
    expect(await visitor.logIn("admin", "live horse")).toBe(true);
    await php(
      source,
      "file_put_contents(WP_CONTENT_DIR . '/mu-plugins/pushed.php', '<?php define( \"PUSHED\", 1 );');",
    );
    target = await push(source, target, { files: "all", database: "none" });
    expect(await php(target, "echo get_option('blogname'), PUSHED;")).toBe("Live1");
    expect((await visitor.get("/wp-admin/")).status).toBe(200);
  });

  test("of some tables replaces only those, including a plugin's table with its column types", async () => {
    await php(
      source,
      `global $wpdb;
      $wpdb->query('CREATE TABLE wp_orders (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, note varchar(40) NOT NULL DEFAULT \\'\\',
        changed datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (id), KEY note (note))');
      for ($n = 0; $n < 5; $n++) { $wpdb->insert('wp_orders', array('note' => home_url("/$n"))); }
      wp_insert_post(array('post_title' => 'From staging', 'post_status' => 'publish'));`,
    );
    await php(target, "wp_insert_post(array('post_title' => 'From live', 'post_status' => 'publish'));");
    target = await push(source, target, { files: "none", database: ["wp_orders", "wp_posts"] });
    const output = await php(
      target,
      `global $wpdb;
      $wpdb->insert('wp_orders', array('note' => 'new'));
      $columns = array_map(fn($c) => $c->Field . ' ' . $c->Type, $wpdb->get_results('SHOW COLUMNS FROM wp_orders'));
      echo wp_json_encode(array(
        'orders' => $wpdb->get_col('SELECT note FROM wp_orders ORDER BY id'), 'columns' => $columns, 'id' => $wpdb->insert_id,
        'titles' => $wpdb->get_col("SELECT post_title FROM wp_posts WHERE post_title LIKE 'From%'"),
        'name' => get_option('blogname'), 'create' => $wpdb->get_row('SHOW CREATE TABLE wp_orders', ARRAY_N)[1],
      ), JSON_UNESCAPED_SLASHES);`,
    );
    const { address } = target.wordpress;
    expect(JSON.parse(output)).toEqual({
      orders: [...[0, 1, 2, 3, 4].map((n) => `${address}/${n}`), "new"],
      columns: ["id bigint(20) unsigned", "note varchar(40)", "changed datetime"],
      id: 6,
      titles: ["From staging"],
      name: "Live",
      create: expect.stringContaining("KEY `note` (`note`)"),
    });
    expect(query(databaseOf(target), "PRAGMA integrity_check")).toEqual(["ok"]);
  });

  test("of the whole database adapts addresses and keeps the target's files and keys", async () => {
    const { documentRoot } = target;
    const keysBefore = await php(target, `echo ${keys};`);
    target = await push(source, target, { files: "none", database: "all" });
    expect(target.documentRoot).toBe(documentRoot);
    const { address } = target.wordpress;
    const option = await php(target, "echo wp_json_encode(get_option('theirs'), JSON_UNESCAPED_SLASHES);");
    expect(JSON.parse(option)).toEqual({ url: `${address}/x`, object: { u: address } });
    expect(await php(target, `echo ${keys};`)).toBe(keysBefore);
    const visitor = visitorOf(world.serving, target);
    expect((await visitor.get("/")).text).toContain("<title>Staging");
    expect(await visitor.logIn("admin", "staging")).toBe(true);
  });
});
