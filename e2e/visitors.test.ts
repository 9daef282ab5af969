/**
 * End-to-end tests of what people see: administrators log in with links, visitors get cached pages that are up to date,
 * and private pages stay private.
 */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { send } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { kill } from "./processes.ts";
import { type CreatedSite, createSite, succeed } from "./sites.ts";
import { until } from "./until.ts";

let home: TestFolder;
let installation: Installation;
let browser: Browser;
let site: CreatedSite;
/** A browser in which the administrator Grace is logged in. */
let grace: Page;
/** Headers with which the owner is logged in. */
let owner: { readonly cookie: string; readonly "x-wp-nonce": string };

/**
 * A typical shop: a cart stored in cookies and shown on every page, a page that must not be cached, a form without an address
 * of its own, and a log of missing pages.
 */
const shop = `<?php
add_action('init', function () {
  register_post_type('shop_form', ['public' => false, 'show_in_rest' => true]);
  add_shortcode('shop_form', fn ($given) => get_post((int) $given['id'])->post_content);
});
add_action('template_redirect', function () {
  if (is_404()) error_log('MISSING ' . ($_SERVER['HTTP_REFERER'] ?? '') . ' ' . $_SERVER['HTTP_USER_AGENT']);
});
add_action('init', function () {
  if (isset($_GET['add-to-cart'])) {
    setcookie('woocommerce_items_in_cart', '1', 0, '/');
    setcookie('wp_woocommerce_session_1', $_GET['add-to-cart'], 0, '/');
  }
});
add_action('wp_footer', function () {
  $cart = $_GET['add-to-cart'] ?? $_COOKIE['wp_woocommerce_session_1'] ?? 'nothing';
  echo '<p class="cart">Cart: ' . esc_html($cart) . '</p>';
});
add_action('template_redirect', function () {
  if (str_starts_with($_SERVER['REQUEST_URI'], '/secret-page')) define('DONOTCACHEPAGE', true);
});
`;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder);
  browser = await launchBrowser();
  grace = await browser.newPage();
  grace.setDefaultTimeout(60_000);
  site = await createSite(installation, { display_name: "Harbour" });
  const release = await realpath(join(installation.data, "environments", site.environmentId, "current"));
  const folder = join(release, "public/wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "shop.php"), shop);
  await wp("eval", "$GLOBALS['wp_rewrite']->set_permalink_structure('/%postname%/'); flush_rewrite_rules();");
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await home?.remove();
});

const wp = (...argv: readonly string[]) =>
  succeed(installation, "POST", `/sites/environments/${site.environmentId}/run-wp-cli-command`, { argv });

/** Calls WordPress's REST API as the owner. */
async function rest(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await send("POST", `${site.address}/wp-json/wp/v2/${path}`, { headers: owner, json: body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json();
}

const visit = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  send("GET", `${site.address}${path}`, { headers });

/** Requests the page until it is served from the cache. */
async function warm(path: string): Promise<void> {
  await until(async () => expect((await visit(path)).headers["x-cache"]).toBe("HIT"), {
    deadlineSeconds: 60,
    intervalMilliseconds: 20,
  });
}

describe("an administrator", () => {
  const email = "grace.o'hara+web@example.com";
  const call = (method: string, path: string, body?: object) =>
    installation.api(method, `/sites/environments/${site.environmentId}/${path}`, body);

  async function isAdministrator(): Promise<boolean> {
    const answer = await call("GET", `wpa-user-exists?email=${encodeURIComponent(email.toUpperCase())}`);
    return answer.json<{ has_wp_admin_user: boolean }>().has_wp_admin_user;
  }

  test("can be created while the site sleeps", async () => {
    expect(await isAdministrator()).toBe(false);
    const made = await call("POST", "wpa-create-user", { email, first_name: 'Grace "🦄"', last_name: "O'Hara \\" });
    expect({ status: made.status, text: made.text }).toEqual({ status: 200, text: '{"create_wp_admin_user":true}' });
    expect(await isAdministrator()).toBe(true);
  });

  test("gets to the dashboard with a login link, once, even after a link preview; then the link is invalid", async () => {
    const answer = await call("POST", "wpa-login-url", { email });
    const { login_link: link } = answer.json<{ login_link: string }>();
    expect(link.startsWith(`${site.address}/`)).toBe(true);
    // A program that previews links.
    expect((await installation.visit(link)).status).toBe(200);

    await grace.goto(link);
    await grace.getByRole("button", { name: "Log in" }).click();
    await grace.waitForURL(/\/wp-admin\//);
    // If the browser has no font for the emoji, WordPress's own script replaces it with an image.
    expect(await grace.locator("#wpadminbar").textContent()).toMatch(/Grace "(🦄)?" O'Hara/);
    expect(await grace.evaluate("document.referrer")).toBe("");

    const otherVisitor = await browser.newContext();
    const late = await otherVisitor.newPage();
    const response = await late.goto(link);
    expect(response?.status()).toBe(410);
    expect(await late.locator("h1").textContent()).toBe("This login link is no longer valid");
    await late.goto(`${site.address}/wp-admin/`);
    expect(late.url()).toContain("wp-login.php");
  });

  test("has a login link that is in no log of the installation", () => {
    expect(installation.output()).not.toContain("sitewright-login?token=");
  });

  test("sees that WordPress's Site Health calls a new site good", async () => {
    await grace.goto(`${site.address}/wp-admin/site-health.php`);
    await grace.locator(".site-health-progress-wrapper:not(.loading)").waitFor();
    const critical = grace.locator("#health-check-issues-critical .health-check-accordion-trigger");
    expect(await critical.allInnerTexts()).toEqual([]);
    expect(await grace.locator(".site-health-progress-label").innerText()).toBe("Good");
  });

  test("can log in with WordPress's form and use its REST API", async () => {
    const form = { log: "owner", pwd: "correct horse battery staple" };
    const answer = await send("POST", `${site.address}/wp-login.php`, { form });
    const cookie = (answer.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]).join("; ");
    const nonce = (await visit("/wp-admin/admin-ajax.php?action=rest-nonce", { cookie })).text;
    owner = { cookie, "x-wp-nonce": nonce };
    await rest("pages", { title: "Secret page", status: "publish" });
  });
});

describe("a cached page", () => {
  test("is served without PHP, and shows a new post at once", async () => {
    await warm("/");
    await rest("posts", { title: "Fresh fish today", status: "publish" });
    expect((await visit("/")).text).toContain("Fresh fish today");
    await warm("/");
    expect((await visit("/")).text).toContain("Fresh fish today");
  });

  test("is updated at once when its post is edited or unpublished, and other posts stay cached", async () => {
    const { id } = await rest("posts", { title: "Cod", content: "Two euros", status: "publish" });
    await Promise.all(["/cod/", "/hello-world/", "/sample-page/"].map(warm));
    await rest(`posts/${id}`, { content: "Three euros" });
    expect((await visit("/cod/")).text).toContain("Three euros");
    expect((await visit("/sample-page/")).headers["x-cache"]).toBe("HIT");
    await warm("/cod/");
    await rest(`posts/${id}`, { status: "draft" });
    expect((await visit("/cod/")).status).toBe(404);
  });

  test("follows what it embeds: a form that has no address of its own", async () => {
    const form = await rest("shop_form", { title: "Order", content: "Which fish?", status: "publish" });
    await rest("pages", { title: "Order", content: `[shop_form id="${form.id}"]`, status: "publish" });
    await warm("/order/");
    expect((await visit("/order/")).text).toContain("Which fish?");
    await rest(`shop_form/${form.id}`, { content: "Which crab?" });
    expect((await visit("/order/")).text).toContain("Which crab?");
  });

  test("follows what it lists: the latest posts, with their new titles", async () => {
    await rest("pages", { title: "News", content: '<!-- wp:latest-posts {"postsToShow":20} /-->', status: "publish" });
    const { id } = await rest("posts", { title: "Herring", status: "publish" });
    await Promise.all(["/news/", "/sample-page/"].map(warm));
    await rest(`posts/${id}`, { title: "Mackerel" });
    expect((await visit("/news/")).text).toContain("Mackerel");
    expect((await visit("/sample-page/")).headers["x-cache"]).toBe("HIT");
  });

  test("shows a changed site title on every page", async () => {
    await warm("/sample-page/");
    await rest("settings", { title: "Harbour and Sons" });
    expect((await visit("/sample-page/")).text).toContain("Harbour and Sons");
  });

  test("is cleared by the API: for one address and for all", async () => {
    await Promise.all(["/", "/sample-page/"].map(warm));
    const environment_id = site.environmentId;
    await succeed(installation, "POST", "/sites/edge-caching/clear", {
      environment_id,
      url: `${site.address}/sample-page/`,
    });
    expect((await visit("/sample-page/")).headers["x-cache"]).toBe("MISS");
    expect((await visit("/")).headers["x-cache"]).toBe("HIT");
    await succeed(installation, "POST", "/sites/tools/clear-cache", { environment_id });
    expect((await visit("/")).headers["x-cache"]).toBe("MISS");
  });

  test("is up to date after a WP-CLI command", async () => {
    await warm("/sample-page/");
    await wp("post", "update", "2", "--post_title=Anchors");
    expect((await visit("/sample-page/")).text).toContain("Anchors");
  });

  test("is served again after a kill of the edge, before PHP is ready", async () => {
    const times = { deadlineSeconds: 60, intervalMilliseconds: 20 };
    // If a scheduled task happens to run, its changes may be unknown, and the pages are discarded.
    await until(async () => {
      await warm("/sample-page/");
      await kill(installation.supervisor.pid ?? 0, "edge");
      const back = await until(() => visit("/sample-page/"), times);
      expect([back.status, back.headers["x-cache"]]).toEqual([200, "HIT"]);
    }, times);
  });

  test("is not served while the cache is switched off", async () => {
    const environment_id = site.environmentId;
    await succeed(installation, "PUT", "/sites/edge-caching/status", { environment_id, enabled: false });
    await visit("/");
    expect((await visit("/")).headers["x-cache"]).toBeUndefined();
    await succeed(installation, "PUT", "/sites/edge-caching/status", { environment_id, enabled: true });
    await warm("/");
  });
});

test("a missing page reaches PHP as the visitor asked for it", async () => {
  await visit("/no-such-fish/", { referer: "https://partner.example/", "user-agent": "Googlebot/2.1" });
  const log = `/sites/environments/${site.environmentId}/logs?file_name=error&lines=50`;
  const logged = async () => (await installation.api("GET", log)).text;
  await expect.poll(logged, { timeout: 30_000 }).toContain("MISSING https://partner.example/ Googlebot/2.1");
});

describe("content for one visitor", () => {
  const paths = [
    "/",
    "/hello-world/",
    "/sample-page/",
    "/?p=1",
    "/?utm_source=x",
    "/category/uncategorized/",
    "/feed/",
  ];

  test("is never shown to others: two logged-in users and anonymous visitors take turns", async () => {
    await succeed(installation, "POST", "/sites/tools/clear-cache", { environment_id: site.environmentId });
    const cookies = await grace.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    for (const path of paths) {
      // One user comes before a page for all is cached, and the other one after.
      const mine = await visit(path, { cookie: owner.cookie });
      const anonymous = await visit(path);
      const theirs = await visit(path, { cookie });
      const later = await visit(path);
      const states = [mine, theirs].map(({ headers }) => headers["x-cache"]);
      expect(states, path).toEqual(["BYPASS", "BYPASS"]);
      // `/?p=1` redirects to the page's address, and a feed shows no user name.
      const isPage = mine.status === 200 && path !== "/feed/";
      if (isPage) expect(mine.text).toMatch(/Howdy[\s\S]*owner/);
      if (isPage) expect(theirs.text).toMatch(/Howdy[\s\S]*Grace/);
      expect(theirs.text).not.toMatch(/display-name">owner/);
      for (const { text } of [anonymous, later]) expect(text).not.toMatch(/Howdy|wpadminbar|_wpnonce/);
    }
  });

  test("includes the cart: others don't see it, and a visitor without a cart sees none", async () => {
    await warm("/sample-page/");
    const carts = ["shoes-of-ada", "hat-of-grace"];
    for (const cart of carts) {
      const added = await visit(`/sample-page/?add-to-cart=${cart}`);
      expect(added.text).toContain(`Cart: ${cart}`);
      const cookie = `woocommerce_items_in_cart=1; wp_woocommerce_session_1=${cart}`;
      for (const path of paths.filter((one) => one !== "/feed/")) {
        const [mine, anonymous] = [await visit(path, { cookie }), await visit(path)];
        if (mine.status === 200) expect(mine.text, path).toContain(`Cart: ${cart}`);
        expect(anonymous.text, path).not.toMatch(/Cart: (?:shoes|hat)/);
      }
    }
  });

  test("is not cached if a plugin marks the page as private", async () => {
    await visit("/secret-page/");
    expect((await visit("/secret-page/")).headers["x-cache"]).toBe("MISS");
  });
});
