/** Which pages are out of date after a change in WordPress, as reported to the page cache. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { StalePages } from "../serving.ts";
import { runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";
import { mergeStalePages, noStalePages } from "./worker/mergeStalePages.ts";

let world: Playground;
let site: Site;
let reports: { readonly environmentId: string; readonly pages: StalePages }[];

beforeAll(async () => {
  reports = [];
  world = await openPlayground({ onStalePages: (environmentId, pages) => reports.push({ environmentId, pages }) });
  site = await world.site();
  await wordpress("update_option('permalink_structure', '/%postname%/'); flush_rewrite_rules();");
}, 120_000);
afterAll(() => world.close());
beforeEach(() => {
  reports = [];
});

const wordpress = (code: string) => runPhp(world.serving, site, `require '/site/wp-load.php'; ${code}`);

/** Returns the paths that the code puts out of date, sorted. `…` at the end stands for everything below a path. */
async function stalePagesOf(code: string): Promise<readonly string[] | "everything"> {
  reports = [];
  await wordpress(code);
  const all = reports.reduce((sum, { pages }) => mergeStalePages(sum, pages), noStalePages);
  if (all.everything) return "everything";
  const pathOf = (address: string) => address.replace(site.wordpress.address, "");
  return [...all.urls.map(pathOf), ...all.subtrees.map((address) => `${pathOf(address)}…`)].sort();
}

const asAdministrator = "wp_set_current_user(1);";

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
    ["gets a thumbnail", (id: string) => `update_post_meta(${id}, '_thumbnail_id', 5);`],
    ["gets a field", (id: string) => `add_post_meta(${id}, 'price', 5);`],
    ["loses a field", (id: string) => `add_post_meta(${id}, 'x', 1); delete_post_meta(${id}, 'x');`],
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
    ["a transient is stored", "set_transient('a', wp_rand(), 60); set_site_transient('b', wp_rand(), 60);"],
    ["events are scheduled", "wp_schedule_single_event(time() + 3600, 'something');"],
    ["a plugin counts its visitors", "update_option('visits', wp_rand());"],
    ["a user gets a setting", "update_user_meta(1, 'wp_user-settings', 'x=' . wp_rand());"],
    [
      "a shop gets an order",
      "register_post_type('shop_order', ['public' => false]); wp_insert_post(['post_type' => 'shop_order', 'post_title' => 'Order', 'post_status' => 'publish']);",
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

describe("whether a page may be cached", () => {
  const isCacheable = async (code: string) => {
    const name = `page-${Math.random().toString(36).slice(2)}.php`;
    const { addScript } = await import("./testing/visitor.ts");
    await addScript(site, name, code);
    const { exampleRequest } = await import("../conformance.ts");
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
    expect(await stalePagesOf(`post_message_to_js('${message}');`)).toEqual([]);
  },
);

test.each(['{"sitewright":"touched"}', '{"sitewright":"touched","urls":[1],"subtrees":[]}'])(
  "a report of changes without valid addresses puts everything out of date: %s",
  async (message) => {
    expect(await stalePagesOf(`post_message_to_js('${message}');`)).toBe("everything");
  },
);
