/** Which pages are out of date after a change in WordPress, as reported to the page cache. */
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import { mergeStalePages, noStalePages } from "../pool/stalePages.ts";
import type { PhpRequest, StalePages } from "../serving.ts";
import { runTask } from "../testing/runTask.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
let reports: { readonly environmentId: string; readonly pages: StalePages }[];

beforeAll(async () => {
  reports = [];
  world = await openWorld({ onStalePages: (environmentId, pages) => reports.push({ environmentId, pages }) });
  site = await world.site();
  await wordpress("update_option('permalink_structure', '/%postname%/'); flush_rewrite_rules();");
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  reports = [];
});

const wordpress = (code: string) => runPhp(world.serving, site, `require '/site/wp-load.php'; ${code}`);

/** Adds a plugin that can't be switched off. */
async function installPlugin(name: string, code: string): Promise<void> {
  await wordpress(
    `wp_mkdir_p(WPMU_PLUGIN_DIR); file_put_contents(WPMU_PLUGIN_DIR . '/${name}.php', base64_decode('${Buffer.from(`<?php ${code}`).toString("base64")}'));`,
  );
}

/** Returns the paths and tags that the code puts out of date, sorted. `…` at the end stands for everything below a path. */
async function stalePagesOf(code: string): Promise<readonly string[] | "everything"> {
  reports = [];
  await wordpress(code);
  const all = reports.reduce((sum, { pages }) => mergeStalePages(sum, pages), noStalePages);
  if (all.everything) return "everything";
  const pathOf = (address: string) => address.replace(site.wordpress.address, "");
  return [...all.urls.map(pathOf), ...all.subtrees.map((address) => `${pathOf(address)}…`), ...all.tags].sort();
}

const asAdministrator = "wp_set_current_user(1); $_SERVER['REQUEST_METHOD'] = 'POST';";
const asSubscriber =
  "wp_set_current_user(wp_create_user('member' . wp_rand(), wp_rand())); $_SERVER['REQUEST_METHOD'] = 'POST';";
const asVisitorWhoSends = "$_SERVER['REQUEST_METHOD'] = 'POST';";
const asScheduledTask = "define('DOING_CRON', true);";
const asProgram = "define('REST_REQUEST', true); $_SERVER['REQUEST_METHOD'] = 'POST';";
const asBrowserScript = `${asProgram} $_SERVER['HTTP_ORIGIN'] = home_url();`;
const editing = [
  ["an administrator", asAdministrator],
  ["a scheduled task", asScheduledTask],
  ["a program that uses the REST API", asProgram],
] as const;
const visiting = [
  ["a visitor who reads", ""],
  ["a visitor who sends a form", asVisitorWhoSends],
  ["a visitor's browser that uses the REST API", asBrowserScript],
] as const;

/** Publishes a post. Returns its id and the last part of its address. */
async function publish(title: string): Promise<readonly [id: string, slug: string]> {
  const [id = "", slug = ""] = (
    await wordpress(
      `$id = wp_insert_post(['post_title' => '${title}', 'post_status' => 'publish', 'post_date' => '2026-03-04 05:06:07']);
       echo $id, ' ', get_post($id)->post_name;`,
    )
  ).split(" ");
  return [id, slug];
}

describe("a post", () => {
  test("that is published updates its address, the lists that contain it, and the links of its neighbours", async () => {
    const stale = await stalePagesOf(
      "wp_insert_post(['post_author' => 1, 'post_title' => 'Fresh', 'post_status' => 'publish', 'post_date' => '2026-03-04 05:06:07']);",
    );
    expect(stale).toEqual(
      expect.arrayContaining([
        "/",
        "/fresh/",
        "/fresh/…",
        "/feed/…",
        "/page/…",
        "/category/uncategorized/",
        "/category/uncategorized/page/…",
        "/category/uncategorized/feed/…",
        `/author/${site.wordpress.adminUser}/`,
        "/2026/",
        "/2026/03/",
        "/2026/03/04/",
        "/hello-world/…",
        "/wp-sitemap.xml",
      ]),
    );
    expect(stale).not.toContain("/…");
    expect(stale).not.toContain("/sample-page/");
  });

  test("that gets another address updates both", async () => {
    const [id] = await publish("Moving");
    const stale = await stalePagesOf(`wp_update_post(['ID' => ${id}, 'post_name' => 'moved']);`);
    expect(stale).toEqual(expect.arrayContaining(["/moving/…", "/moved/…"]));
  });

  test("that changes its category updates both lists", async () => {
    const [id] = await publish("Sorted");
    const stale = await stalePagesOf(
      `$term = wp_insert_term('Later', 'category'); wp_set_post_categories(${id}, [$term['term_id']]);`,
    );
    expect(stale).toEqual(expect.arrayContaining(["/category/uncategorized/", "/category/later/", "/sorted/…"]));
  });

  test.each([
    ["is unpublished", (id: string) => `wp_update_post(['ID' => ${id}, 'post_status' => 'draft']);`],
    ["becomes private", (id: string) => `wp_update_post(['ID' => ${id}, 'post_status' => 'private']);`],
    ["is moved to the bin", (id: string) => `wp_trash_post(${id});`],
    ["is deleted", (id: string) => `wp_delete_post(${id}, true);`],
    ["gets a thumbnail", (id: string) => `${asAdministrator} update_post_meta(${id}, '_thumbnail_id', 5);`],
    ["gets a field", (id: string) => `${asAdministrator} add_post_meta(${id}, 'price', 5);`],
    ["gets a field from a visitor", (id: string) => `${asVisitorWhoSends} add_post_meta(${id}, 'likes', 5);`],
    ["loses a field", (id: string) => `${asScheduledTask} add_post_meta(${id}, 'x', 1); delete_post_meta(${id}, 'x');`],
  ])("that %s updates its address and the front page", async (_, change) => {
    const [id, slug] = await publish("Going");
    expect(await stalePagesOf(change(id))).toEqual(expect.arrayContaining([`/${slug}/…`, "/"]));
  });

  test("that was scheduled updates its address and the front page when it is published", async () => {
    const id = await wordpress(
      "echo wp_insert_post(['post_title' => 'Planned', 'post_status' => 'future', 'post_date' => '2099-01-01 00:00:00', 'post_date_gmt' => '2099-01-01 00:00:00']);",
    );
    expect(await stalePagesOf(`wp_publish_post(${id});`)).toEqual(expect.arrayContaining(["/planned/…", "/"]));
  });

  test("is reported during the request, and again at its end", async () => {
    await wordpress("wp_insert_post(['post_title' => 'Twice', 'post_status' => 'publish']);");
    const times = reports.filter(({ pages }) => pages.urls.some((url) => url.endsWith("/twice/")));
    expect(times).toHaveLength(2);
    expect(reports.every(({ environmentId }) => environmentId === site.environment.id)).toBe(true);
  });

  test("is reported even if PHP exits early", async () => {
    await wordpress(
      "wp_insert_post(['post_title' => 'Cut', 'post_status' => 'publish']); while (ob_get_level()) ob_end_flush(); flush(); exit(255);",
    );
    expect(reports.at(-1)?.pages.urls).toContain(`${site.wordpress.address}/cut/`);
  });
});

describe("a comment", () => {
  const comment = (approved: number) =>
    `wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => 'Hello', 'comment_approved' => ${approved}]);`;

  test("that is approved updates its post's page", async () => {
    expect(await stalePagesOf(comment(1))).toEqual(expect.arrayContaining(["/hello-world/…", "/comments/feed/", "/"]));
  });

  test("that awaits moderation updates nothing until it is approved", async () => {
    expect(await stalePagesOf(comment(0))).toEqual([]);
    expect(
      await stalePagesOf("$c = get_comments(['status' => 'hold'])[0]; wp_set_comment_status($c, 'approve');"),
    ).toEqual(expect.arrayContaining(["/hello-world/…"]));
  });

  test("that is marked as spam updates its post's page", async () => {
    expect(await stalePagesOf("$c = get_comments(['status' => 'approve'])[0]; wp_spam_comment($c);")).toEqual(
      expect.arrayContaining(["/hello-world/…"]),
    );
  });
});

describe("nothing is out of date if", () => {
  test.each([
    ["a draft is written", "wp_insert_post(['post_title' => 'Draft', 'post_status' => 'draft']);"],
    [
      "an editor opens a post",
      `${asAdministrator} require_once ABSPATH . 'wp-admin/includes/post.php'; wp_set_post_lock(1);`,
    ],
    [
      "WordPress autosaves a post",
      `${asAdministrator} require_once ABSPATH . 'wp-admin/includes/post.php'; wp_create_post_autosave(['post_ID' => 1, 'post_title' => 'Typed', 'post_content' => 'x', 'post_excerpt' => '', 'post_type' => 'post']);`,
    ],
    ["a page counts how often its post was seen", "update_post_meta(1, 'seen', wp_rand());"],
    ["a transient is stored", "set_transient('a', wp_rand(), 60); set_site_transient('b', wp_rand(), 60);"],
    ["events are scheduled", "wp_schedule_single_event(time() + 3600, 'something');"],
    ["a plugin counts its visitors", "update_option('visits', wp_rand());"],
    ["a user gets a setting", "update_user_meta(1, 'wp_user-settings', 'x=' . wp_rand());"],
    [
      "a shop gets an order",
      `${asAdministrator} register_post_type('shop_order', ['public' => false]); wp_insert_post(['post_type' => 'shop_order', 'post_title' => 'Order', 'post_status' => 'publish']);`,
    ],
    [
      "a visitor's form is stored as a post",
      `${asVisitorWhoSends} register_post_type('any', ['public' => false]); wp_insert_post(['post_type' => 'any', 'post_title' => 'Sent', 'post_status' => 'publish']);`,
    ],
    [
      "an administrator's browser shows that it is alive",
      `${asAdministrator} define('DOING_AJAX', true); $_POST['action'] = 'heartbeat'; update_option('my_plugin', wp_rand());`,
    ],
    [
      "an administrator moves a box of the dashboard",
      `${asAdministrator} update_user_meta(1, 'meta-box-order_post', [wp_rand()]);`,
    ],
    ["an administrator looks at a page of the site", "wp_set_current_user(1); update_option('my_plugin', wp_rand());"],
    [
      "a comment is spam",
      `${asVisitorWhoSends} $id = wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => 'Buy', 'comment_approved' => 'spam']); update_comment_meta($id, 'akismet_result', 'true');`,
    ],
    [
      "WordPress removes old spam",
      `${asScheduledTask} global $wpdb; $wpdb->query("DELETE FROM $wpdb->comments WHERE comment_approved = 'spam'");`,
    ],
    [
      "a plugin removes old transients",
      `${asScheduledTask} global $wpdb; $wpdb->query("DELETE FROM $wpdb->options WHERE option_name LIKE '\\\\_transient\\\\_%'");`,
    ],
  ])("%s", async (_, code) => {
    expect(await stalePagesOf(code)).toEqual([]);
  });

  test("visitors look at pages, log in and look at the dashboard", async () => {
    const visitor = visitorOf(world.serving, site);
    await visitor.get("/");
    await visitor.get("/hello-world/");
    await visitor.get("/nothing-here/");
    const { adminUser } = site.wordpress;
    await wordpress("wp_set_password('a long password', 1);");
    reports = [];
    expect(await visitor.logIn(adminUser, "a long password")).toBe(true);
    expect(reports.filter(({ pages }) => pages.everything)).toEqual([]);
  });
});

describe("everything is out of date if", () => {
  test.each([
    ["the site's title changes", "update_option('blogname', 'Another ' . wp_rand());"],
    ["a widget changes", "update_option('widget_text', [wp_rand()]);"],
    ["a block widget changes", "update_option('widget_block', [wp_rand()]);"],
    ["the theme's settings change", "set_theme_mod('header', wp_rand());"],
    ["the theme is switched", "switch_theme('twentytwentyfour');"],
    ["a plugin is activated", "do_action('activated_plugin', 'a/a.php', false);"],
    ["a plugin, theme or WordPress is updated", "do_action('upgrader_process_complete', null, []);"],
    [
      "a menu changes",
      "$m = wp_create_nav_menu('Main ' . wp_rand()); wp_update_nav_menu_item($m, 0, ['menu-item-title' => 'X', 'menu-item-url' => '/x', 'menu-item-status' => 'publish']);",
    ],
    ["a category is renamed", "wp_update_term(1, 'category', ['name' => 'Renamed ' . wp_rand()]);"],
    ["a user is renamed", "wp_update_user(['ID' => 1, 'display_name' => 'Ada ' . wp_rand()]);"],
    [
      "a template is edited",
      "wp_insert_post(['post_type' => 'wp_template', 'post_title' => 'T', 'post_status' => 'publish']);",
    ],
    ["an administrator changes a plugin's setting", `${asAdministrator} update_option('my_plugin', wp_rand());`],
    ["a plugin requests it", "do_action('sitewright_purge_all');"],
    [
      "many pages change at once, such as the archives of twelve years",
      "for ($i = 2000; $i < 2012; $i++) wp_insert_post(['post_title' => 'Many', 'post_status' => 'publish', 'post_date' => \"$i-01-01 00:00:00\"]);",
    ],
  ])("%s", async (_, code) => {
    expect(await stalePagesOf(code)).toBe("everything");
  });
});

test("a plugin can report an address as out of date", async () => {
  expect(await stalePagesOf("do_action('sitewright_purge_url', home_url('/shop/'));")).toEqual(["/shop/", "/shop/…"]);
});

describe("a change past WordPress's functions", () => {
  const table = "slides";
  const create = `global $wpdb; $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}${table} (id INT, label TEXT)"); $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}wfhits (id INT, label TEXT)");`;
  beforeAll(async () => {
    await wordpress(`${create} $wpdb->insert("{$wpdb->prefix}${table}", ['id' => 1, 'label' => 'first']);`);
  });

  test.each([
    ["inserts a row", `$wpdb->insert("{$wpdb->prefix}${table}", ['label' => 'x']);`],
    ["changes a row", `$wpdb->update("{$wpdb->prefix}${table}", ['label' => 'y'], ['id' => 1]);`],
    ["replaces a row", `$wpdb->replace("{$wpdb->prefix}${table}", ['id' => 1, 'label' => 'y']);`],
    ["removes rows", `$wpdb->delete("{$wpdb->prefix}${table}", ['id' => 9]);`],
    ["removes all rows", `$wpdb->query("TRUNCATE TABLE {$wpdb->prefix}${table}");`],
    ["adds a column", `$wpdb->query("ALTER TABLE {$wpdb->prefix}${table} ADD COLUMN c" . wp_rand() . " INT");`],
    ["begins with a comment", `$wpdb->query("/* SELECT */ -- x\n UPDATE {$wpdb->prefix}${table} SET label = 'z'");`],
    ["ignores errors", `$wpdb->query("insert ignore into \`{$wpdb->prefix}${table}\` (label) values ('wp_wfhits')");`],
    ["is sent past $wpdb", `$wpdb->dbh->query("UPDATE {$wpdb->prefix}${table} SET label = 'direct'");`],
    ["is sent by mysqli", `mysqli_query($wpdb->dbh, "UPDATE {$wpdb->prefix}${table} SET label = 'direct'");`],
    [
      "is prepared by mysqli",
      `$s = mysqli_prepare($wpdb->dbh, "UPDATE {$wpdb->prefix}${table} SET label = ?"); $s->bind_param('s', $text); $text = 'x'; $s->execute();`,
    ],
    ["changes a post", "$wpdb->update($wpdb->posts, ['post_title' => 'Past'], ['ID' => 1]);"],
    ["changes an option", "$wpdb->update($wpdb->options, ['option_value' => 'x'], ['option_name' => 'none']);"],
    ["changes a term", "$wpdb->query(\"UPDATE $wpdb->terms SET name = 'Past' WHERE term_id = 1\");"],
    [
      "has no prefix",
      "$wpdb->query('CREATE TABLE IF NOT EXISTS bare (id INT)'); $wpdb->query('INSERT INTO bare VALUES (1)');",
    ],
  ])("that %s puts everything out of date, if an editor makes it", async (_, code) => {
    expect(await stalePagesOf(`global $wpdb; ${asAdministrator} ${code}`)).toBe("everything");
  });

  test.each(editing)("by %s puts everything out of date", async (_, as) => {
    expect(await stalePagesOf(`global $wpdb; ${as} $wpdb->insert("{$wpdb->prefix}${table}", ['label' => 'x']);`)).toBe(
      "everything",
    );
  });

  test("by a member puts everything out of date if it is to a plugin's table", async () => {
    const insert = `$wpdb->insert("{$wpdb->prefix}${table}", ['label' => 'x']);`;
    expect(await stalePagesOf(`global $wpdb; ${asSubscriber} ${insert}`)).toBe("everything");
    const past = "$wpdb->update($wpdb->postmeta, ['meta_value' => 1], ['meta_key' => '_stock']);";
    expect(await stalePagesOf(`global $wpdb; ${asSubscriber} ${past}`)).toEqual([]);
  });

  test.each(visiting)("by %s changes nothing", async (_, as) => {
    expect(
      await stalePagesOf(`global $wpdb; ${as} $wpdb->insert("{$wpdb->prefix}${table}", ['label' => 'x']);`),
    ).toEqual([]);
  });

  test.each([
    ["counts visits", `$wpdb->query("INSERT INTO {$wpdb->prefix}wfhits (id) VALUES (1)");`],
    [
      "mentions a table",
      `$wpdb->query("INSERT INTO {$wpdb->prefix}wfhits (label) VALUES ('INSERT INTO {$wpdb->prefix}${table}')");`,
    ],
    [
      "only reads",
      `$wpdb->query("(SELECT * FROM {$wpdb->prefix}${table})"); $wpdb->query("SHOW TABLES"); $wpdb->query("DESCRIBE {$wpdb->prefix}${table}"); $wpdb->query("SELECT 'INSERT INTO {$wpdb->prefix}${table}'");`,
    ],
    ["sets a variable", `$wpdb->query("SET SESSION sql_mode = ''");`],
    ["makes sure that a table exists", create],
  ])("that %s changes nothing, even by an editor", async (_, code) => {
    expect(await stalePagesOf(`global $wpdb; ${asAdministrator} ${code}`)).toEqual([]);
  });
});

describe.each(editing)("%s puts everything out of date with", (_, as) => {
  test.each([
    [
      "a form",
      "register_post_type('form', ['public' => false]); $id = wp_insert_post(['post_type' => 'form', 'post_title' => 'F', 'post_status' => 'publish']);",
    ],
    ["a plugin's setting", "update_option('my_plugin', wp_rand());"],
    ["a new category", "wp_insert_term('New ' . wp_rand(), 'category');"],
    ["a category's picture", "update_term_meta(1, 'picture', wp_rand());"],
    ["an author's biography", "update_user_meta(1, 'description', wp_rand());"],
    ["an author's picture", "update_user_meta(1, 'my_picture', wp_rand());"],
    ["a new user", "wp_create_user('new' . wp_rand(), 'x');"],
  ])("%s", async (__, code) => {
    expect(await stalePagesOf(`${as} ${code}`)).toBe("everything");
  });
});

describe.each(visiting)("%s puts nothing out of date with", (_, as) => {
  test.each([
    ["a plugin's setting", "update_option('my_plugin', wp_rand());"],
    ["a registration", "wp_create_user('new' . wp_rand(), 'x');"],
    ["a user's data", "update_user_meta(1, 'my_field', wp_rand());"],
  ])("%s", async (__, code) => {
    expect(await stalePagesOf(`${as} ${code}`)).toEqual([]);
  });
});

test("a form that was edited through the REST API, by a person or a scheduled task puts everything out of date", async () => {
  await installPlugin(
    "forms",
    `add_action('init', function () { register_post_type('form', ['public' => false, 'show_in_rest' => true]); });
     add_action('edit_form', function () { wp_update_post(['ID' => get_option('form_id'), 'post_content' => wp_rand()]); });
     add_action('wp_ajax_edit_form', function () { do_action('edit_form'); wp_die('done'); });`,
  );
  await wordpress(
    "wp_set_password('a long password', 1); update_option('form_id', wp_insert_post(['post_type' => 'form', 'post_title' => 'F', 'post_status' => 'publish']));",
  );
  const editor = visitorOf(world.serving, site);
  expect(await editor.logIn(site.wordpress.adminUser, "a long password")).toBe(true);
  reports = [];
  expect((await editor.get("/wp-admin/admin-ajax.php?action=edit_form")).text).toBe("done");
  expect(reports.some(({ pages }) => pages.everything)).toBe(true);

  const nonce = (await editor.get("/wp-admin/admin-ajax.php?action=rest-nonce")).text;
  const id = await wordpress("echo get_option('form_id');");
  reports = [];
  const edited = await editor.get(`/wp-json/wp/v2/form/${id}?title=New`, {
    method: "POST",
    headers: { "x-wp-nonce": nonce },
  });
  expect([edited.status, reports.some(({ pages }) => pages.everything)]).toEqual([200, true]);

  await wordpress("wp_schedule_single_event(time() - 60, 'edit_form');");
  reports = [];
  await visitorOf(world.serving, site).get("/wp-cron.php");
  expect(reports.some(({ pages }) => pages.everything)).toBe(true);
});

test("a change before WordPress knows who makes it puts everything out of date, if an editor makes it", async () => {
  await installPlugin(
    "early",
    `add_action('plugins_loaded', function () {
       global $wpdb;
       if (isset($_GET['table'])) $wpdb->query("INSERT INTO {$wpdb->prefix}slides (label) VALUES ('x')");
       if (isset($_GET['option'])) update_option('my_plugin', wp_rand());
       if (isset($_GET['end'])) exit;
     });`,
  );
  onTestFinished(() => wordpress("unlink(WPMU_PLUGIN_DIR . '/early.php');").then(() => undefined));
  await wordpress("wp_set_password('a long password', 1);");
  const [editor, visitor] = [visitorOf(world.serving, site), visitorOf(world.serving, site)];
  expect(await editor.logIn(site.wordpress.adminUser, "a long password")).toBe(true);
  // WordPress stores once that the theme has no CSS of its own.
  await visitor.get("/");
  for (const query of ["table=1", "option=1", "option=1&end=1"]) {
    reports = [];
    await visitor.get(`/?${query}`);
    expect(reports).toEqual([]);
    await editor.get(`/wp-admin/?${query}`);
    expect(
      reports.some(({ pages }) => pages.everything),
      query,
    ).toBe(true);
  }
});

test("visits, logins, statistics, spam, carts and scheduled bookkeeping clear no cache", async () => {
  await installPlugin(
    "busy",
    `add_action('shutdown', function () {
       global $wpdb;
       foreach (['statistics_visitor', 'woocommerce_sessions', 'actionscheduler_actions', 'my_plugin_log', 'post_views'] as $table) {
         $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}$table (id INT)");
         $wpdb->query("INSERT INTO {$wpdb->prefix}$table VALUES (1)");
       }
       update_option('my_counter', wp_rand());
       set_transient('my_cache', wp_rand(), 60);
       if (is_user_logged_in()) update_user_meta(get_current_user_id(), 'last_activity', wp_rand());
     });`,
  );
  onTestFinished(() => wordpress("unlink(WPMU_PLUGIN_DIR . '/busy.php');").then(() => undefined));
  await wordpress("wp_set_password('a long password', 1); wp_schedule_event(time() - 60, 'hourly', 'nothing');");
  const [visitor, person] = [visitorOf(world.serving, site), visitorOf(world.serving, site)];
  // WordPress stores once that the theme has no CSS of its own.
  await visitor.get("/");
  reports = [];
  for (const url of ["/", "/hello-world/", "/nothing-here/", "/?s=fish", "/wp-json/wp/v2/posts", "/feed/"])
    await visitor.get(url);
  await visitor.post("/wp-comments-post.php", {
    comment: "Buy",
    author: "A",
    email: "a@example.com",
    comment_post_ID: "1",
  });
  await visitor.post("/?add=1", { product: "5" });
  await visitor.post("/wp-login.php", { log: "admin", pwd: "wrong" });
  await person.logIn(site.wordpress.adminUser, "a long password");
  for (const url of ["/wp-admin/", "/wp-admin/edit.php", "/wp-admin/plugins.php", "/hello-world/"])
    await person.get(url);
  await person.post("/wp-admin/admin-ajax.php", { action: "heartbeat", _nonce: "x" });
  await visitor.get("/wp-cron.php");
  expect(reports.filter(({ pages }) => pages.everything)).toEqual([]);
});

describe("if PHP is killed before it reports a change", () => {
  async function killDuring(name: string, changes: Partial<PhpRequest>): Promise<void> {
    await addScript(site, name, "touch(__FILE__ . '.run'); for (;;);");
    const request = exampleRequest(site.wordpress.address, { url: `/${name}`, script: `/${name}`, ...changes });
    reports = [];
    const outcome = outcomeOf(world.serving.handle(site.environment.id, request));
    await expect.poll(() => existsSync(path.join(site.documentRoot, `${name}.run`))).toBe(true);
    for (const { pid, busy } of world.serving.status().workers) if (busy) process.kill(pid, "SIGKILL");
    expect(await outcome).toBe("crashed");
  }

  test("everything is out of date after a request by someone who is logged in", async () => {
    const { host } = new URL(site.wordpress.address);
    await killDuring("edit.php", { headers: { host, cookie: "wordpress_logged_in_0=x" } });
    expect(reports.map(({ pages }) => pages.everything)).toEqual([true]);
  });

  test("nothing is out of date after a visit, which anyone can cause to be killed", async () => {
    await killDuring("visit.php", {});
    expect(reports).toEqual([]);
  });
});

describe("what a page shows", () => {
  const shownAt = async (url: string) => {
    const request = exampleRequest(site.wordpress.address, { url });
    const answer = await world.serving.handle(site.environment.id, request);
    answer.body.resume();
    return (await answer.tags)?.toSorted() ?? null;
  };
  const publishPage = (name: string, content: string) =>
    wordpress(
      `echo wp_insert_post(['post_type' => 'page', 'post_name' => '${name}', 'post_title' => 'P', 'post_content' => '${content}', 'post_status' => 'publish']);`,
    );

  beforeAll(async () => {
    await installPlugin(
      "shortcodes",
      `add_shortcode('one_post', function ($given) { return get_post((int) $given['id'])->post_title; });
       add_shortcode('latest', function () { return wp_list_pluck(get_posts(['numberposts' => 3]), 'post_title')[0]; });
       add_shortcode('own_query', function () { global $wpdb; return $wpdb->get_var("SELECT post_title FROM $wpdb->posts ORDER BY ID DESC"); });
       add_shortcode('stored', function () { $text = get_transient('my_list'); if (!$text) set_transient('my_list', $text = 'list', 60); return $text; });
       add_shortcode('archives', function () { return wp_get_archives(['echo' => false]); });
       add_shortcode('terms', function () { return wp_list_categories(['echo' => false]); });
       add_shortcode('comments', function () { return count(get_comments(['number' => 3])); });`,
    );
  });

  test("is its own post, if it lists nothing", async () => {
    const id = await publishPage("plain", "Text");
    const tags = await shownAt("/plain/");
    expect(tags).toContain(`#${id}`);
    expect(tags).not.toContain("post");
  });

  test.each([
    ["latest-block", "<!-- wp:latest-posts /-->", "post"],
    [
      "loop",
      '<!-- wp:query {"query":{"postType":"post","inherit":false}} --><!-- wp:post-template --><!-- wp:post-title /--><!-- /wp:post-template --><!-- /wp:query -->',
      "post",
    ],
    ["latest-code", "[latest]", "post"],
    ["archives", "[archives]", "post"],
    ["terms", "[terms]", "post"],
    ["pages", "<!-- wp:page-list /-->", "page"],
    ["comments", "[comments]", "comment"],
    ["comments-block", "<!-- wp:latest-comments /-->", "comment"],
    ["one", "[one_post id=1]", "#1"],
  ])("at /%s/ is a list, or another post", async (name, content, tag) => {
    await publishPage(name, content);
    expect(await shownAt(`/${name}/`)).toContain(tag);
  });

  test.each([
    ["own-query", "[own_query]"],
    ["stored", "[stored]"],
  ])("at /%s/ is not known", async (name, content) => {
    await publishPage(name, content);
    await shownAt(`/${name}/`);
    expect(await shownAt(`/${name}/`)).toBeNull();
  });

  test.each([
    ["is renamed", (id: string) => `wp_update_post(['ID' => ${id}, 'post_title' => 'New']);`],
    [
      "is published by a scheduled task",
      () =>
        "wp_publish_post(wp_insert_post(['post_title' => 'Due', 'post_status' => 'future', 'post_date' => '2099-01-01 00:00:00']));",
    ],
    ["is deleted", (id: string) => `wp_delete_post(${id}, true);`],
  ])("is out of date if a post that it lists %s", async (_, change) => {
    const [id] = await publish("Listed");
    expect(await stalePagesOf(change(id))).toContain("post");
  });

  test("stays up to date if a comment is written, unless it shows comments or the comment's post", async () => {
    const stale = await stalePagesOf(
      "wp_insert_comment(['comment_post_ID' => 1, 'comment_content' => 'Hi', 'comment_approved' => 1]);",
    );
    expect(stale).toEqual(expect.arrayContaining(["comment", "#1"]));
    expect(stale).not.toContain("post");
  });
});

describe("whether a page may be cached", () => {
  const isCacheable = async (code: string) => {
    const name = `page-${Math.random().toString(36).slice(2)}.php`;
    await addScript(site, name, code);
    const answer = await world.serving.handle(
      site.environment.id,
      exampleRequest(site.wordpress.address, { url: `/${name}`, script: `/${name}` }),
    );
    answer.body.resume();
    return answer.isCacheable;
  };

  test("depends on the constant DONOTCACHEPAGE", async () => {
    expect(await isCacheable("require '/site/wp-load.php'; echo 'all';")).toBe(true);
    expect(await isCacheable("require '/site/wp-load.php'; define('DONOTCACHEPAGE', true); echo 'one';")).toBe(false);
    expect(await isCacheable("define('DONOTCACHEPAGE', false); require '/site/wp-load.php'; echo 'all';")).toBe(true);
  });

  test("is false if the response broke off", async () => {
    expect(
      await isCacheable(
        "echo str_repeat('x', 100000); flush(); ini_set('memory_limit', -1); $a = str_repeat('y', 3000000000);",
      ),
    ).toBe(false);
  });
});

test.each(["no JSON", '"text"', "null", '{"sitewright":"other"}'])(
  "other messages of a site are ignored: %s",
  async (message) => {
    expect(await stalePagesOf(`sitewright_send('${message}');`)).toEqual([]);
  },
);

test.each(['{"sitewright":"touched"}', '{"sitewright":"touched","urls":[1],"subtrees":[]}'])(
  "a report of changes without valid addresses puts everything out of date: %s",
  async (message) => {
    expect(await stalePagesOf(`sitewright_send('${message}');`)).toBe("everything");
  },
);

test("scheduled events that change nothing leave all pages as they are", async () => {
  await wordpress("foreach (['first', 'second'] as $hook) wp_schedule_single_event(time() - 60, $hook);");
  reports = [];
  const { answer } = await runTask(world.serving, site, "cron", { path: "/", seconds: 30 });
  expect(answer).toMatchObject({ failed: [], isCutShort: false });
  expect(answer).not.toMatchObject({ ran: 0 });
  expect(reports).toEqual([]);
});
